// Texts of the page of clients. The English text is the key.

import { words } from '../services/locale.svelte'

const clients = {
  'Programs with models that can use these tools. Choose one to see what is written into its settings, and to have it written.': '可以使用这些工具的模型程序。选择一个，查看会写入其设置的内容，并可直接写入。',
  'connected': '已连接', 'connected over HTTP': '已通过 HTTP 连接', 'not connected': '未连接', 'switched off there': '已在该程序中关闭', 'starts a program that is gone': '启动的程序已不存在', 'its file cannot be read': '无法读取其文件', 'not installed here': '此处未安装',
  'How it connects': '连接方式', 'it starts Collie (stdio)': '由它启动 Collie（stdio）', 'it asks this gateway (HTTP), with a token of its own': '访问此网关（HTTP），使用自己的令牌', 'What it sees': '可见内容', 'as now, or everything': '维持现状或全部', 'Profile': '配置档', 'Profiles': '配置档',
  'The token is made when it is written, and stands in that file alone.': '令牌在写入时生成，只保存在该文件中。', 'The file has this already.': '文件中已有此内容。', 'It starts these servers itself too, so that it has their tools twice:': '它自己也启动了这些服务器，因此会重复拥有它们的工具：', 'This moves them to Collie:': '将它们移到 Collie：',
  'This is written into': '将写入', 'Write it': '写入', 'Write it anew': '重新写入', 'Done.': '完成。', 'Disconnect': '断开连接', 'Take Collie out of its settings, and end its token?': '从其设置中移除 Collie 并终止其令牌？', 'Other programs that Collie knows': 'Collie 认识的其他程序',
  'Tokens of clients': '客户端令牌', 'There are none. Connecting a client over HTTP makes one.': '还没有。通过 HTTP 连接客户端时会生成。', 'opens': '可用于', 'made': '生成于', 'all profiles': '所有配置档', 'Renew': '更新', 'End': '终止',
  'The new secret, shown once:': '新密钥，只显示一次：', 'These clients have the old one, and are to be written anew:': '这些客户端仍使用旧密钥，需要重新写入：', 'The old secret opens nothing any more. Renew it?': '旧密钥将立即失效。要更新吗？', 'What uses it is shut out at once. End it?': '使用它的程序将立即被拒绝。要终止吗？',
  'A profile says which tools a client sees, and what it may do at most in notebooks. The client names it, or its token is bound to it.': '配置档决定客户端能看到哪些工具，以及在笔记本中最多可以做什么。由客户端指定，或与其令牌绑定。',
  'Add a token': '添加令牌', 'The secret of the token, shown once:': '令牌的密钥，只显示一次：', 'It may': '它可以', 'call tools': '调用工具', 'chat with models': '与模型对话', 'answer questions': '回答问题',
  'Add a profile': '添加配置档', 'built in': '内置', 'as elsewhere': '与别处相同', 'all others': '其他所有', 'At most, in notebooks': '在笔记本中最多', 'Description': '描述',
  'Only these tools, a pattern on a line; none means all': '仅这些工具，每行一个模式；留空表示全部', 'Never these tools': '不包括这些工具', 'Only these actions, written tool.action': '仅这些操作，写作 tool.action', 'Never these actions': '不包括这些操作',
  'Clients with this profile see nothing then, or what is built in. To agree, type:': '使用此配置档的客户端将看不到任何工具，或只看到内置的内容。要同意，请输入：', 'Clients may see or do more then. To agree, type:': '这样客户端能看到或做更多。要同意，请输入：',
  'Make a token and copy': '生成令牌并复制', 'Copied, with a token of its own. It stands below among the tokens, where it can be ended:': '已复制，并带有专用令牌。它列在下面的令牌中，可以在那里终止：',
} as const

export const t = words(clients)
export type Text = Parameters<typeof t>[0]
