// Texts of the page of settings. The English text is the key.

import { words } from '../services/locale.svelte'

const settings = {
  'Saved in': '写入', 'All others: collie config show and collie config set.': '其他设置：collie config show 和 collie config set。',
  'The listener': '监听', 'What clients are shown': '客户端看到的内容', 'The guard': '防护',
  'Address and port': '地址和端口', 'Other names under which it is reached, one on a line': '访问它所用的其他名称，每行一个', 'TLS certificate (PEM file)': 'TLS 证书（PEM 文件）', 'TLS key (PEM file)': 'TLS 私钥（PEM 文件）',
  'Address of a proxy in front of it, for phones and other machines': '前置代理的地址，供手机和其他机器使用', 'Proxies whose word on caller and TLS counts, an address on a line': '可信的代理（其关于来源和 TLS 的说明有效），每行一个地址', 'View of servers': '服务器的视图', 'Most that lists may take (view auto)': '列表的上限（auto 视图）', 'What the rules find in calls': '规则在调用中的发现', 'What the rules find in calls of MCP clients': '规则在 MCP 客户端调用中的发现', 'Instructions hidden in results of tools': '工具结果中隐藏的指令',
  'Tell me on this desktop when something waits': '有事等待时在此桌面通知我', 'Post to this address when something waits': '有事等待时发送到此地址', 'Form of the post': '发送格式',
  'The gateway opens the new address first, takes this page there, and closes the old one once what runs has ended. If it cannot be opened nothing changes. Programs that were connected to the old address need the new one.': '网关先打开新地址，把此页面带过去，等正在进行的请求结束后再关闭旧地址。如果新地址无法打开，则什么都不变。连接到旧地址的程序需要改用新地址。', 'Listen there': '改为监听此处',
  'what they find is refused or asked about': '发现的问题会被拒绝或先征求同意', 'what they find is put on record, and runs': '发现的问题只记录，照常运行', 'nothing is looked at': '不检查', 'what they find is kept from the model': '发现的内容不会交给模型',
  'each action a tool': '每个操作一个工具', 'each server a tool': '每个服务器一个工具', 'three tools that find, describe and call all others': '三个工具：查找、描述并调用其他工具', 'flat while lists are short, else search': '列表较短时用 flat，否则用 search',
  'in effect at once': '立即生效', 'after a restart': '重启后生效',
  'default': '默认值', 'set by': '来自', 'Back to the default': '恢复默认', 'Saved; it takes effect when the gateway starts again.': '已保存；网关重新启动后生效。', 'on': '开', 'the default (flat)': '默认（flat）',
  'Sections': '分组',
} as const

export const t = words(settings)
export type Text = Parameters<typeof t>[0]
