// Texts of the page of help. The English text is the key.
export const help = {
  'Help': '帮助', 'Guides': '指南', 'Reference': '参考', 'Find in the guides': '在指南中查找', 'Nothing was found.': '没有找到。', 'All guides': '所有指南', 'There is no such guide:': '没有这篇指南：',
} as const
