// Texts of the page of notes. The English text is the key.
export const notes = {
  'Notes': '笔记', 'All notes': '所有笔记', 'Below': '展开', 'Find in the notes': '在笔记中查找', 'One match': '1 处匹配', 'matches': '处匹配', 'More matches': '更多匹配',
  'Choose a document. You see what your tools see; nothing is changed here.': '请选择一个文档。你看到的就是工具所看到的；这里不会改动任何内容。',
  'What tools may do in each notebook': '工具在每个笔记本里可以做什么', 'It is empty.': '内容为空。', 'Read on': '继续阅读',
} as const
