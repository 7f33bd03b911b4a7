// Texts of the page of models. The English text is the key.

import { words } from '../services/locale.svelte'

const models = {
  'No provider of models is set up yet. Add one, and the chat can answer.': '还没有设置模型提供方。添加一个，聊天就能回答。',
  'works': '可用', 'rests': '暂停使用', 'its quota is used up': '额度已用完', 'refused': '被拒绝', 'switched off': '已停用', 'Failures': '失败', 'It works. Models:': '可用。模型数：',
  'Asking …': '正在询问…', 'Test': '测试', 'Try it again now': '立即重试', 'Remove this key, and its secret?': '删除这个密钥及其保存的内容？',
  'Model that answers where none is chosen': '未指定时由哪个模型回答', 'None is chosen yet, so the chat does not answer.': '还没有选择，所以聊天无法回答。',
  'Add a key': '添加密钥', 'Test all keys': '测试所有密钥', 'Remove this provider, its keys and their secrets?': '删除这个提供方、它的密钥及其保存的内容？', 'Add a provider': '添加提供方',
  'API it speaks (known of the names in the list)': '使用的 API（列表中的名称已知）', 'as the name says': '按名称', 'Address (known of the names in the list)': '地址（列表中的名称已知）', 'Key': '密钥',
  'or where it is: env:NAME or file:PATH': '或其所在：env:名称 或 file:路径', 'Name of the key (optional)': '密钥名称（可选）', 'Save it without asking it for its models': '保存时不询问其模型',
} as const

export const t = words(models)
export type Text = Parameters<typeof t>[0]
