// Texts of the page of clients. The English text is the key.
export const clients = {
  'Clients': '客户端', 'Programs with models that can use these tools. Choose one to see what is written into its settings, and to have it written.': '可以使用这些工具的模型程序。选择一个，查看会写入其设置的内容，并可直接写入。',
  'connected': '已连接', 'connected over HTTP': '已通过 HTTP 连接', 'not connected': '未连接', 'switched off there': '已在该程序中关闭', 'starts a program that is gone': '启动的程序已不存在', 'its file cannot be read': '无法读取其文件', 'not installed here': '此处未安装',
  'How it connects': '连接方式', 'it starts Collie (stdio)': '由它启动 Collie（stdio）', 'it asks this gateway (HTTP), with a token of its own': '访问此网关（HTTP），使用自己的令牌', 'What it sees': '可见内容', 'as now, or everything': '维持现状或全部', 'Profile': '配置档', 'Profiles': '配置档',
  'The token is made when it is written, and stands in that file alone.': '令牌在写入时生成，只保存在该文件中。', 'The file has this already.': '文件中已有此内容。', 'It starts these servers itself too, so that it has their tools twice:': '它自己也启动了这些服务器，因此会重复拥有它们的工具：', 'This moves them to Collie:': '将它们移到 Collie：',
  'This is written into': '将写入', 'Write it': '写入', 'Write it anew': '重新写入', 'Done.': '完成。', 'Disconnect': '断开连接', 'Take Collie out of its settings, and end its token?': '从其设置中移除 Collie 并终止其令牌？', 'Other programs that Collie knows': 'Collie 认识的其他程序',
  'Tokens of clients': '客户端令牌', 'There are none. Connecting a client over HTTP makes one, as does collie token add NAME.': '还没有。通过 HTTP 连接客户端时会生成，也可用 collie token add NAME 生成。', 'opens': '可用于', 'made': '生成于', 'all profiles': '所有配置档', 'Renew': '更新', 'End': '终止',
  'The new secret, shown once:': '新密钥，只显示一次：', 'These clients have the old one, and are to be written anew:': '这些客户端仍使用旧密钥，需要重新写入：', 'The old secret opens nothing any more. Renew it?': '旧密钥将立即失效。要更新吗？', 'What uses it is shut out at once. End it?': '使用它的程序将立即被拒绝。要终止吗？',
  'A profile is named by a client and says which tools it sees; those of your own stand in the settings (profiles).': '配置档由客户端指定，决定它能看到哪些工具；自定义的写在设置（profiles）中。',
} as const
