// Texts of the page of MCP servers. The English text is the key.

import { words } from '../services/locale.svelte'

const servers = {
  'No MCP server is set up yet.': '还没有配置 MCP 服务器。', 'All servers': '所有服务器', 'Add one by its command line, its address, or the JSON that its web page shows; or take over those of another program.': '可以通过命令行、地址或其网页上的 JSON 添加，也可以导入其他程序的服务器。',
  'The settings have errors, so that older ones are in effect:': '设置有错误，因此仍使用之前的设置：',
  'There is no server of this name.': '没有这个名称的服务器。',
  'wrong settings': '设置有误', 'waiting': '待命', 'starting': '正在启动', 'running': '运行中',
  'slow to answer': '响应迟缓', 'trying again': '即将重试', 'paused after failures': '多次失败后暂停', 'sign in needed': '需要登录',
  'cannot run': '无法运行', 'stopping': '正在停止', 'stopped': '已停止',
  'It is switched off in the settings.': '设置中已将其关闭。', 'Its settings have an error; nothing is started until that is mended.': '它的设置有错误，修正之前不会启动。',
  'It does not run, and starts by itself at the first call.': '尚未运行，首次调用时自动启动。', 'It is being started.': '正在启动。',
  'It runs, and can be called.': '正在运行，可以调用。', 'It runs, but does not answer in time when asked whether it is well.': '正在运行，但健康检查未按时得到应答。',
  'It failed, and is started again by itself.': '启动或运行失败，将自动重新启动。', 'It failed several times in a row: calls are refused until it is tried again.': '连续多次失败：重试之前拒绝调用。',
  'A person has to sign in before it can be used.': '需要有人登录后才能使用。', 'It cannot run before its settings or its program change.': '在其设置或程序改变之前无法运行。',
  'It is being stopped.': '正在停止。', 'It was stopped, and starts again at the next call.': '已停止，下次调用时再启动。',
  'Next try': '下次重试', 'What it says': '详情', 'Resources': '资源', 'Prompts': '提示词', 'Command': '命令', 'Transport': '传输方式',
  'Program': '程序', 'Process': '进程', 'Memory': '内存', 'Starts': '启动次数', 'of them after a failure': '其中失败后', 'Lists confirmed': '列表确认时间', 'Protocol': '协议',
  'Start': '启动', 'Restart': '重启', 'Refresh lists': '刷新列表', 'Log': '日志', 'Nothing has been logged yet.': '还没有日志。', 'Follow new lines': '跟随新日志',
  'Changed definitions': '已更改的工具定义', 'changed definitions wait for you': '个已更改的定义等待你处理',
  'These tools are not what they were when first seen. Read what has changed: a description can mislead a model.': '这些工具与首次见到时不同。请阅读更改内容：描述可能误导模型。',
  'Accept': '接受', 'Accept all': '全部接受',
  'Add a server': '添加服务器', 'What is it?': '它是什么？', 'a program on this machine': '这台机器上的程序', 'a server at an address': '某个地址上的服务器', 'JSON from a web page': '网页上的 JSON',
  'Command line': '命令行', 'Address': '地址', 'Server name': '服务器名称', 'Variables, NAME=VALUE on a line each': '环境变量，每行一个 NAME=VALUE', 'Headers, Name: value on a line each': '请求头，每行一个 Name: value',
  'A secret need not stand here: ${secret:NAME} takes it from the secret store (collie secret set NAME).': '密钥不必写在这里：${secret:NAME} 从密钥库读取（collie secret set NAME）。',
  'This is added to': '将添加到', 'It runs a program with your rights. Add only what you trust.': '它会以你的权限运行程序。只添加你信任的内容。',
  'Check': '检查', 'Take over servers of other programs': '导入其他程序的服务器',
  'The files of other programs are only read. Secrets in them go to the secret store.': '只读取其他程序的文件。其中的密钥会存入密钥库。', 'No other program on this machine has MCP servers.': '这台机器上没有其他程序配置了 MCP 服务器。',
  'Programs': '程序列表', 'Secrets that move to the secret store:': '移入密钥库的密钥：', 'is there already': '已存在', 'Take over': '导入',
  'Open the page where you sign in': '打开登录页面', 'Waiting until you have signed in there …': '正在等待你在那里登录……',
  'If that page ends at an address that cannot be opened, paste the address here:': '如果登录后停在打不开的地址，请把该地址粘贴到这里：', 'Use this address': '使用此地址', 'You are signed in.': '你已登录。', 'Begin again': '重新开始',
  'Forget the sign-in at this server?': '忘记在此服务器的登录？', 'Forget the sign-in': '忘记登录', 'Remove this server from the settings?': '从设置中移除此服务器？',
  'In the settings': '设置',
  'a server of the MCP registry': 'MCP 注册表中的服务器', 'Part of the name': '名称的一部分', 'The registry is asked when you search, and at no other time. Anybody can publish there.': '仅在你搜索时才会访问注册表。任何人都可以在那里发布。', 'Search the registry': '搜索注册表',
  'No server has these words in its name.': '没有名称含有这些文字的服务器。', 'deprecated': '已弃用', 'It cannot be added from here.': '无法从这里添加。', 'Choose another': '另选一个', 'Run it as': '运行方式', 'kept in the secret store': '保存在密钥库中',
  'required': '必填',
  'Edit': '编辑', 'Arguments, one on a line': '参数，每行一个', 'All other settings of the server (JSON)': '服务器的其他设置（JSON）', 'This is not JSON:': '这不是 JSON：',
  '*** stands for a secret, which stays as it is. To replace it, write the new value in its place.': '*** 代表一个密钥，它保持不变。要更换，请在它的位置写上新值。',
  'What you enter here runs with your rights, or is sent the secrets of the server. Change it only to what you trust.': '你在这里填写的内容会以你的权限运行，或会收到此服务器的密钥。只改成你信任的内容。',
} as const

export const t = words(servers)
export type Text = Parameters<typeof t>[0]
