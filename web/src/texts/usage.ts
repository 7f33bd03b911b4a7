// Texts of the page of usage. The English text is the key.
export const usage = {
  'Usage': '用量', 'Period': '时段', 'days': '天', 'No model has answered in this time.': '这段时间没有模型作过回答。', 'Tokens in': '输入词元', 'Tokens out': '输出词元', 'Requests': '请求',
  'Cost': '费用', 'the prices of these models are not known': '不知道这些模型的价格', 'Cost by day': '每日费用', 'Tokens by day': '每日词元', 'Day': '日期', 'without an agent': '没有智能体',
  'Model': '模型', 'Agent': '智能体',
} as const
