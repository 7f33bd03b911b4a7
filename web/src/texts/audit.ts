// Texts of the page of the audit. The English text is the key.

import { words } from '../services/locale.svelte'

const audit = {
  'All calls and changes, newest first. Secrets are removed.': '每次调用和每次更改都记录在此，最新的在前。密钥已被隐去。',
  'Time': '时间', 'all times': '所有时间', 'last hour': '最近一小时', 'last 24 hours': '最近 24 小时', 'last 7 days': '最近 7 天', 'last 30 days': '最近 30 天', 'between …': '指定时间段……',
  'From': '从', 'To': '到', 'Kind': '类别', 'all but chains': '除记录链外的全部', 'a browser signed in': '浏览器登录', 'calls': '调用', 'changes': '更改', 'change': '更改', 'allowed': '已允许', 'leave taken back': '撤回授权', 'questions and answers': '询问与回答', 'leave given': '授权', 'resources read': '读取资源', 'prompts': '提示词', 'completions': '补全', 'other requests': '其他请求',
  'exports': '导出', 'removals': '清理', 'chains': '记录链', 'Tool or server': '工具或服务器', 'Outcome': '结果', 'any': '不限', 'ok': '成功', 'not known': '未知',
  'begun': '已开始', 'From whom': '来源', 'a person': '本人', 'a conversation': '对话', 'the agent of another program': '其他程序的智能体', 'a client on this machine': '本机客户端', 'a client over the network': '网络客户端', 'a schedule': '定时任务',
  'Text': '文字', 'Show': '显示', 'Everything again': '清除筛选', 'No record is like that.': '没有符合条件的记录。', 'Earlier records': '更早的记录',
  'Is it intact?': '记录是否完整？', 'Checking …': '正在检查……', 'Download what is shown': '下载筛选出的记录', 'All records that match are downloaded, also those not loaded yet; that is put on record.': '下载所有符合条件的记录，包括尚未加载的；此操作会被记录。',
  'Download with a signed proof': '下载并附签名证明', 'All records of the chosen time, with a signed proof that none was changed or left out; collie audit verify --export FILE checks it anywhere.': '所选时间内的所有记录，附签名证明未被更改或遗漏；可在任何地方用 collie audit verify --export FILE 核对。',
  'Nothing was changed or removed.': '没有被更改或删除。', 'Records were changed or are missing. Where it breaks:': '有记录被更改或丢失。断裂之处：', 'records': '条记录', 'newer than the signed head': '条比签名更新', 'a torn last line, as after a crash': '最后一行不完整（如崩溃后）',
  'Anchor': '锚点', 'a process began': '进程开始', 'a process ended': '进程结束', 'line': '行', 'record': '记录', 'Record': '记录', 'Chain': '链', 'Call': '调用', 'Who': '谁', 'Client': '客户端', 'Took': '耗时', 'Size': '大小', 'Details': '详情', 'All records of this call': '此调用的所有记录', 'Of one call': '单个调用',
  'Also what these pages read to show something': '也显示这些页面为展示内容而读取的记录', 'refused before it ran': '运行前被拒绝', 'it ran, and failed': '运行了，但失败', 'in these pages': '在这些页面中', 'in the terminal': '在终端中',
} as const

export const t = words(audit)
export type Text = Parameters<typeof t>[0]
