// Texts of the puppy. The English text is the key.
export const puppy = {
  'Hide the puppy': '隐藏小狗', 'Wages': '工钱', 'Coins': '硬币', 'Earned in total': '累计所得', 'Calls today': '今日调用', 'Last action': '最近的操作',
  'none yet': '尚无', 'Shop': '商店', 'Feed': '喂食', 'Buy': '购买', 'Show it on every page': '在每个页面显示', 'Wages and shop': '工钱与商店', 'Test mode': '测试模式',
  'It shows what is called: by your models, your clients and yourself. Each successful call earns it a coin.': '它显示正在进行的调用：来自你的模型、客户端和你自己。每次成功的调用得一枚硬币。',
  'Choose a state to see it, whatever happens meanwhile.': '选择一种状态来查看，不受实际调用影响。', 'Where nothing happens': '空闲时',
  'has nothing to do': '空闲', 'reads': '正在读取', 'writes': '正在写入', 'deletes': '正在删除', 'moves something': '正在移动', 'wants your answer': '等待你的回答',
  'is done': '完成', 'has failed': '失败',
  'idle': '空闲', 'reading': '读取', 'writing': '写入', 'deleting': '删除', 'moving': '移动', 'asking': '询问', 'success': '成功', 'error': '错误',
  'standing': '站立', 'sitting': '坐下', 'looking': '张望', 'grooming': '梳理', 'lying': '趴下', 'sleeping': '睡觉',
} as const
