// Texts of the page of the doctor. The English text is the key.

import { words } from '../services/locale.svelte'

const doctor = {
  'What could keep Collie from working. Nothing is started, and nobody on the network is asked.': '检查可能妨碍 Collie 运行的问题。不会启动任何程序，也不会访问网络。',
  'Check again': '重新检查', 'Examining …': '正在检查……', 'Everything works.': '一切正常。', 'to repair': '项需要修复', 'to look at': '项需要留意', 'in order': '项正常', 'Repair': '需修复', 'Look at': '需留意', 'In order': '正常',
} as const

export const t = words(doctor)
export type Text = Parameters<typeof t>[0]
