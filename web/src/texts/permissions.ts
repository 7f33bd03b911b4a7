// Texts of the page of permissions. The English text is the key.

import { words } from '../services/locale.svelte'

const permissions = {
  'Allowed for more than one call': '不止允许一次的操作',
  'Nothing yet. When Collie asks, you can allow more than one call; what you allowed is listed here.': '还没有。Collie 询问时，你可以允许不止这一次调用；这样的许可会列在这里。',
  'Where': '范围', 'How long': '期限', 'For': '对象', 'Used': '已用', 'Take back': '收回', 'Signed-in browsers': '已登录的浏览器', 'this browser': '此浏览器', 'first seen': '首次登录', 'from': '来自', 'last seen': '最近使用',
  'Another browser, or a phone': '另一个浏览器或手机', 'The address as a QR code': '地址的二维码', 'Pages in the browser': '浏览器中的页面', 'Open this address there. It works once, until': '在那里打开这个地址。它只能用一次，有效期至', 'Make a link': '生成链接',
  'A phone cannot sign in yet: this gateway can be reached from this machine alone. Choose one of two ways:': '手机现在还不能登录：只有这台机器能访问此网关。有两种办法：', 'It listens on the network itself, with a certificate (TLS):': '让它自己在网络上监听，并使用证书（TLS）：', 'set address and certificate': '设置地址和证书', 'A proxy with a certificate stands in front, such as Tailscale or Caddy:': '在前面放一个有证书的代理，例如 Tailscale 或 Caddy：', 'set the address of the proxy': '设置代理的地址', 'How both are done, step by step': '两种办法的具体步骤',
} as const

export const t = words(permissions)
export type Text = Parameters<typeof t>[0]
