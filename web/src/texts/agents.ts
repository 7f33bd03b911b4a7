// Texts of the page of agents. The English text is the key.

import { words } from '../services/locale.svelte'

const agents = {
  'An agent is a way to answer: instructions, and if you like a model and the tools it may use.': '智能体是一种回答方式：指令，以及可选的模型和可用工具。', 'Agents, context and skills': '智能体、上下文与技能', 'None yet. Create one that answers briefly, say, or one that may only read your notes.': '还没有。可以新建一个，比如回答简短的，或只能读取笔记的。', 'None yet. Create one for a name or a word that your models cannot know.': '还没有。可以为模型不可能知道的名称或词语新建一个。', 'None yet. Create one for a task that you explain again and again.': '还没有。可以为你反复解释的任务新建一个。', 'New agent': '新建智能体', 'New context entry': '新建上下文条目', 'New skill': '新建技能',
  'Context entries': '上下文条目', 'An entry is given to the model when one of its keywords occurs in the last messages.': '最近的消息中出现条目的某个关键词时，模型就会得到该条目。',
  'Skills': '技能', 'A skill is a manual for one kind of task; models see its description and read the rest when they need it.': '技能是某类任务的手册；模型先看到说明，需要时再读其余部分。',
  'of the project': '项目中的', 'a program on this machine': '本机上的程序', 'Delete this file?': '删除这个文件？', 'Which entries would this text bring in?': '这段文字会引入哪些条目？', 'Text': '文字',
  'Try it': '试一试', 'None.': '没有。', 'line': '行',
  'Rules and memory': '规则与记忆', 'What models remember of the notes': '模型对笔记的记忆', 'Models write here what they want to know next time, and read it as /AGENTS.md. You can correct it.': '模型把下次需要知道的内容写在这里，以 /AGENTS.md 读取。你可以更正。',
} as const

export const t = words(agents)
export type Text = Parameters<typeof t>[0]
