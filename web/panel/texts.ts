// Texts of the panel. The English text is the key, as in the pages; SiYuan says which language its window has.

import { puppy } from '../src/texts/puppy'

const chinese = {
  ...puppy,
  'Puppy': '小狗', 'Show the puppy': '显示小狗', 'Follow what is called': '跟随实际调用', 'Show': '查看', 'Open in a browser ↗': '在浏览器中打开 ↗', 'Connecting …': '正在连接……',
  'Collie does not answer at {}. Start it with collie serve.': 'Collie 在 {} 没有响应。请用 collie serve 启动。',
  'This window is {}, and Collie shows its pages in frames of {} alone. Open SiYuan there, or add this origin to web.frameOrigins.': '此窗口是 {}，而 Collie 只允许 {} 用框架显示它的页面。请在那里打开思源，或把此来源加入 web.frameOrigins。',
  'The file of the panel cannot be read. Run collie siyuan panel install again.': '无法读取面板的文件。请再次运行 collie siyuan panel install。',
} as const

export type Text = keyof typeof chinese

/** language returns the language of SiYuan's window: zh for every Chinese, else en. */
export function language(): 'zh' | 'en' {
  const said = window.siyuan?.config?.lang ?? document.documentElement.lang
  return /^zh/i.test(said) ? 'zh' : 'en'
}

/** t returns a text in the language of the window, with the values in place of each {}. */
export function t(text: Text, ...values: string[]): string {
  const found: string = language() === 'zh' ? chinese[text] : text
  return found.replace(/\{\}/g, () => values.shift() ?? '')
}

/** colon stands between a name and what it names. */
export const colon = () => (language() === 'zh' ? '：' : ': ')
