// Texts of the page of usage. The English text is the key.

import { words } from '../services/locale.svelte'

const usage = {
  'Period': '时段', 'days': '天', 'No model has answered in this time.': '这段时间没有模型作过回答。', 'Tokens in': '输入词元', 'Tokens out': '输出词元',
  'Cost': '费用', 'the prices of these models are not known': '不知道这些模型的价格', 'Cost by day': '每日费用', 'Tokens by day': '每日词元', 'Day': '日期',
} as const

export const t = words(usage)
export type Text = Parameters<typeof t>[0]
