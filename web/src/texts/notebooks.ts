// Texts of the page of notebooks. The English text is the key.

import { words } from '../services/locale.svelte'

const notebooks = {
  'What tools may do in each notebook. A hidden one does not exist for them.': '工具在每个笔记本里可以做什么。隐藏的笔记本对工具来说不存在。', 'There is no notebook yet.': '还没有笔记本。',
  'To allow more, type the name of the notebook:': '要允许更多，请输入笔记本的名称：', 'Allow': '允许',
  'Nothing was written.': '没有写过。', 'written': '已写入', 'taken back': '已撤销', 'nobody knows whether it was written': '不知道是否写入',
  'Where the notes are': '笔记在哪里', 'The built-in vault': '内置笔记库', 'This variable takes precedence over all of them:': '此变量优先于所有连接：', 'They are in the file of another program:': '它们在另一个程序的文件中：',
  'token:': '令牌：', 'configured': '已设置', 'Asking …': '正在询问…', 'reachable': '可连接', 'notebooks:': '笔记本：', 'read-only': '只读', 'Test': '测试', 'Change': '更改', 'Really remove it, and its token': '确实移除它及其令牌', 'Connect a SiYuan': '连接思源',
  'Address of SiYuan': '思源的地址', 'Keep the token': '保留令牌', 'API token (in SiYuan: Settings - About)': 'API 令牌（思源：设置 - 关于）', 'Save it without asking SiYuan': '不询问思源直接保存',
  'is being written': '正在写入', 'What did it change?': '改了什么？', 'Lines with - were there before, lines with + are there now.': '- 行是以前的内容，+ 行是现在的内容。', 'It cannot be taken back:': '无法撤销：', 'By this call:': '通过这个调用：',
  'Changed since by somebody; that would be lost:': '此后又被改动，这些改动会丢失：', 'Take it back': '撤销', 'It added this note. Removing it can be taken back in this list.': '它新增了这篇笔记。删除后可以在此列表中撤销。', 'Changed since by somebody; that is removed with it.': '此后又被改动，这些改动会一并删除。', 'Remove this note': '删除这篇笔记', 'It added this. Removing it can be taken back in this list.': '它新增了这些内容。删除后可以在此列表中撤销。', 'Remove it': '删除这些内容',
} as const

export const t = words(notebooks)
export type Text = Parameters<typeof t>[0]
