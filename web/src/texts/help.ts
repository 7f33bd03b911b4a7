// Texts of the page of help. The English text is the key.

import { words } from '../services/locale.svelte'

const help = {
  'Guides': '指南', 'Reference': '参考', 'Find in the guides': '在指南中查找', 'Nothing was found.': '没有找到。', 'All guides': '所有指南', 'There is no such guide:': '没有这篇指南：',
  'Ask Collie, who answers from the guides with your model': '问 Collie：它用你的模型，根据指南回答', 'Ask': '提问', 'With a model, Collie answers questions from the guides.': '设置模型后，Collie 会根据指南回答问题。',
  'Connect a program with a model to Collie': '把带模型的程序连接到 Collie', 'Add a server with tools': '添加带工具的服务器', 'Say what may be done in each notebook': '决定每个笔记本里可以做什么', 'Talk to a model here': '在这里与模型对话', 'See what was done, and take it back': '查看做过的事，并撤销', 'Use these pages on a phone': '在手机上使用这些页面', 'how': '说明', 'All guides stand beside this; search finds words in them.': '所有指南都在旁边，可以搜索其中的文字。',
  'The API of a gateway': '网关的 API', 'What becomes of a call': '一次调用的结果如何决定', 'SiYuan tools': '思源工具', 'The vault against the kernel': '笔记库与内核的对比', 'This page is in English.': '这一页只有英文。',
} as const

export const t = words(help)
export type Text = Parameters<typeof t>[0]
