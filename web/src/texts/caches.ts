// Texts of the page of caches. The English text is the key.

import { words } from '../services/locale.svelte'

const caches = {
  'Lists of servers are kept, so that clients have them before a server runs. What is cleared is asked for again.': '服务器的列表会保留，客户端不必等服务器启动就能得到。清除后会重新获取。',
  'Asked': '查询', 'Found, but old': '命中（较旧）', 'Not found': '未命中', 'Hit rate': '命中率', 'Lists of servers': '服务器的列表', 'Nothing is kept.': '没有保留任何内容。',
  'confirmed': '上次确认', 'not in the settings': '不在设置中', 'in use': '使用中', 'without tools': '没有工具', 'not usable': '不可用', 'Lists of models': '模型列表', 'Prepared requests': '已编译的请求转换', 'Clear': '清除', 'Clear all lists': '清除所有列表',
} as const

export const t = words(caches)
export type Text = Parameters<typeof t>[0]
