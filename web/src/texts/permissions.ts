// Texts of the page of permissions. The English text is the key.
export const permissions = {
  'Permissions': '许可', 'Allowed for more than one call': '不止允许一次的操作',
  'Nothing is. Where Collie asks, you may allow more than the one call; that stands here then.': '还没有。Collie 询问时，你可以允许不止这一次调用；这样的许可会列在这里。',
  'Where': '范围', 'How long': '期限', 'For': '对象', 'Used': '已用', 'Take back': '收回', 'Signed-in browsers': '已登录的浏览器', 'signed in': '登录于', 'last seen': '最近使用',
  'Another browser': '另一个浏览器', 'Open this address there. It works once, until': '在那里打开这个地址。它只能用一次，有效期至', 'Make a link': '生成链接',
} as const
