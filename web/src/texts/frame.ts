// Texts of the frame. The English text is the key.
export const frame = {
  'Open questions': '待回答的问题', 'Nothing waits for you.': '没有等待你回答的问题。', 'Questions': '问题',
  'Allow once': '允许一次', 'Refuse': '拒绝', 'Effect': '作用', 'Targets': '目标', 'Arguments': '参数', 'Risk': '风险',
  'Why it asks': '询问原因', 'To allow it, type:': '要允许，请输入：', 'Asked by': '询问者', 'Name': '名称',
  'After you allow it, the client has to make the same call again.': '允许后，客户端需要再次发出相同的调用。',
  'Collie asks before this runs.': '运行前，Collie 先征求你的同意。',
  'Collie waits for your answer': 'Collie 在等你回答', 'Tell me of questions': '有问题时通知我',
  'Sign out': '退出登录', 'This browser is not signed in.': '此浏览器尚未登录。',
  'Run this in a terminal on the machine of the gateway, and open the link it gives:': '请在网关所在机器的终端运行以下命令，并打开得到的链接：',
  'This link has been used, or is over. Run the command again for a new one.': '此链接已被使用或已过期。请再次运行命令获取新链接。',
  'The gateway cannot be reached; trying again …': '无法连接网关，正在重试……', 'Connecting …': '正在连接……',
  'Theme': '主题', 'System': '跟随系统', 'Light': '浅色', 'Dark': '深色', 'Language': '语言', 'Menu': '菜单', 'Close': '关闭',
  'Dismiss': '知道了', 'Loading …': '正在加载……', 'Pages': '页面',
  'Or allow more:': '或允许更多：', 'all calls of this action': '此操作的所有调用', 'until the answer is finished': '直到回答结束',
  'in this conversation': '在此对话中', 'always': '始终', 'until': '直到',
} as const
