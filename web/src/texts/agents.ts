// Texts of the page of agents. The English text is the key.
export const agents = {
  'Agents': '智能体', 'An agent is a way to answer: instructions, and if you like a model and the tools it may use.': '智能体是一种回答方式：指令，以及可选的模型和可用工具。', 'There is none.': '还没有。',
  'Context entries': '上下文条目', 'An entry is told to the model when one of its keywords occurs in the last messages.': '最近的消息中出现条目的某个关键词时，模型就会得到该条目。',
  'Skills': '技能', 'A skill is a manual for one kind of task; models see its description and read the rest when they need it.': '技能是某类任务的手册；模型先看到说明，需要时再读其余部分。',
  'of the project': '项目中的', 'a program on this machine': '本机上的程序', 'Delete this file?': '删除这个文件？', 'New': '新建', 'Which entries would this text bring in?': '这段文字会引入哪些条目？', 'Text': '文字',
  'Try it': '试一试', 'None.': '没有。', 'line': '行',
} as const
