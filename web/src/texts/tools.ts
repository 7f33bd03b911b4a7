// Texts of the page of tools. The English text is the key.

import { words } from '../services/locale.svelte'

const tools = {
  'What the list costs a model at each turn': '列表每一轮占用模型的', 'List': '列表',
  'as it is': '现状', 'each action a tool (flat)': '每个操作一个工具（flat）', 'each server a tool (grouped)': '每个服务器一个工具（grouped）', 'found by searching (search)': '按需搜索（search）',
  'Search tools': '搜索工具', 'No tool has this text.': '没有包含此文字的工具。', 'no risk': '无风险', 'low risk': '低风险', 'medium risk': '中等风险', 'high risk': '高风险', 'critical risk': '严重风险',
  'Edit name and description': '编辑名称和描述', 'shown as': '显示为', 'Name that clients see, behind the prefix of the server': '客户端看到的名称（在服务器前缀之后）', 'Description that models read': '模型读到的描述',
  'The server itself says:': '服务器自己的描述：', 'As the server says': '恢复服务器自己的',
  'Your rules for the notes': '你为笔记定的规则', 'One rule a line. Models are told of them with the help of the tools; they change no permission.': '每行一条规则。模型在工具的帮助中读到它们；它们不改变权限。',
  'Only dangerous actions (⚠)': '只看危险操作（⚠）', 'dangerous actions that are on': '个危险操作已打开', 'notes as files and folders': '把笔记当作文件和目录', 'paragraphs and other blocks': '段落和其他块', 'databases': '数据库', 'attachments, templates and exports': '附件、模板与导出',
  'find in the notes': '在笔记中查找', 'the program of the notes': '笔记程序', 'the puppy': '小狗', 'what happened when': '何时发生了什么',
  'asks before each call': '每次调用前询问', 'To switch it on, type:': '要打开，请输入：',
  'Models see each action as a tool of its own.': '模型把每个操作看作一个单独的工具。', 'Models see one tool, and name the action as an argument.': '模型只看到一个工具，操作作为参数给出。', 'Models see three tools, which find, describe and call the actions.': '模型只看到三个工具，用来查找、描述和调用操作。',
  'Models write here what they want to know next time, and read it as /AGENTS.md. You can correct it.': '模型把下次需要知道的内容写在这里，以 /AGENTS.md 读取。你可以更正。',
  'What models remember of the notes': '模型对笔记的记忆',
} as const

export const t = words(tools)
export type Text = Parameters<typeof t>[0]
