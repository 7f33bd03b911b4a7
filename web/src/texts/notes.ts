// Texts of the page of notes. The English text is the key.

import { words } from '../services/locale.svelte'

const notes = {
  'All notes': '所有笔记', 'Below': '展开', 'Find in the notes': '在笔记中查找', 'One match': '1 处匹配', 'matches': '处匹配', 'More matches': '更多匹配',
  'Choose a document. You see what your tools see; nothing is changed here.': '请选择一个文档。你看到的就是工具所看到的；这里不会改动任何内容。',
  'What tools may do in each notebook': '工具在每个笔记本里可以做什么', 'It is empty.': '内容为空。', 'Read on': '继续阅读',
  'This is what models keep for later about these notes. They read it before they work, and write it; you can correct it on this page:': '这是模型为以后记下的、关于这些笔记的内容。它们在工作前读取，也会写入；你可以在此页面更正：', 'These are your rules for models that work with these notes. They read them, and only you change them, on this page:': '这是你给使用这些笔记的模型定的规则。模型会读取，只有你能更改，在此页面：',
} as const

export const t = words(notes)
export type Text = Parameters<typeof t>[0]
