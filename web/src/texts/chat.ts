// Texts of the chat. The English text is the key.
export const chat = {
  'Chat': '对话', 'New chat': '新对话', 'Send': '发送', 'Stop': '停止', 'Message': '消息', 'You': '你', 'Answer': '回答',
  'Conversations': '对话列表', 'No conversations yet.': '还没有对话。', 'Untitled': '未命名', 'More': '更多',
  'Model': '模型', 'Agent': '智能体', 'as in the settings': '按设置',
  'Write a message; a line that begins with / is a command and needs no model.': '输入消息；以 / 开头的行是命令，不需要模型。',
  'Enter sends, Shift+Enter begins a new line.': 'Enter 发送，Shift+Enter 换行。', 'Result': '结果',
  'proposed': '已提出', 'awaiting': '等你回答', 'executing': '运行中', 'done': '完成', 'failed': '失败', 'refused': '已拒绝',
  'skipped': '未运行', 'unknown': '结果不明', 'Reasoning': '推理', 'thinking …': '思考中……', 'Not sent': '未发送', 'Try again': '重试',
  'cancelled': '已停止', 'waiting for the answer before': '等待前一个回答', 'Picture not loaded': '图片未加载',
  'Delete': '删除', 'Delete this conversation?': '删除此对话？', 'Jump to the latest': '跳到最新', 'attachment': '附件',
  'Copy': '复制', 'Edit': '修改', 'Regenerate': '重新回答', 'Continue': '继续', 'Fork': '分叉', 'branch': '分支',
  'the one before': '上一个', 'the one after': '下一个', 'Delete this message and what follows it?': '删除此消息及其后的内容？',
  'Leave it as it is': '保持原样', 'interrupted': '已中断', 'Steer': '插话', 'Queue': '排队', 'Ctrl+Enter': 'Ctrl+Enter', 'Remove': '移除',
  'Attach a picture or a text': '附上图片或文本', 'Title': '标题', 'model as in the settings': '按设置的模型',
  'What the last answer read and wrote, in tokens, and what this branch has cost': '上一个回答读写的令牌数，以及此分支的费用',
  'Search messages': '搜索消息', 'Found': '找到', 'No message has this text.': '没有消息包含这段文字。',
  'Code': '代码', 'Wrap': '自动换行', 'Download': '下载',
} as const
