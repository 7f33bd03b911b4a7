package find

import (
	"sync"
)

// verbSet is a set of kinds of action (read, create, delete, …) that the words of a name or a question express.
type verbSet uint8

const (
	readVerb verbSet = 1 << iota
	createVerb
	changeVerb
	deleteVerb
	runVerb
	stopVerb
)

// verbSynonyms has the words of each kind.
var verbSynonyms = map[verbSet]string{
	readVerb: `get list read show search find query describe retrieve count fetch view see look which what who whose where how
		check inspect explain compare export download lookup browse 获取 查询 查看 列出 搜索 读取 检索 哪些 哪个 多少 查找 什么 查 看 看看 找 找到 有哪些 谁 几个`,
	createVerb: `create add make insert write post upsert open log attach upload import put clone duplicate copy send
		reply leave record generate draft schedule book install file submit 创建 新建 新增 添加 建立 增加 插入 写入 上传 复制 发送 回复 导入 预约 预定 建 加 提交 发起 安排 邀请 提 发`,
	changeVerb: `update edit change modify patch set alter rename move replace mark assign resize scale adjust transfer
		turn switch put convert merge complete finish approve reject 更新 修改 编辑 更改 改成 改名 重命名 移动 替换 调整 合并 同意 通过 拒绝 转交 改 改到 换成 换 挪 挪到 设置 驳回`,
	deleteVerb: `delete remove erase drop destroy clean clear uninstall archive trash discard purge rid cancel revoke
		删除 移除 清除 清空 去掉 取消 撤回 撤销 删掉 删 取消订阅 收回`,
	runVerb:  `run execute start launch click press open navigate go evaluate wait subscribe 运行 执行 启动 开始 订阅 打开 点击`,
	stopVerb: `stop end terminate kill close abort quit unsubscribe finish 停止 结束 终止 关闭 取消订阅 停`,
}

// verbOf returns the kinds that a word may express. The map is built at its first use.
var verbOf = sync.OnceValue(func() map[string]verbSet {
	out := map[string]verbSet{}
	for d, words := range verbSynonyms {
		for _, w := range stems(words) {
			out[w] |= d
		}
	}
	return out
})

// verbsOf returns the kinds of the first word that expresses any. Words that only ask ("show", "find") count if no
// other word does.
func verbsOf(words []string) verbSet {
	var asks verbSet
	for _, w := range words {
		d := verbOf()[w]
		switch {
		case d == 0:
		case questionVerbs[w]:
			asks |= d
		default:
			return d
		}
	}
	return asks
}

var questionVerbs = set("which what who whom whose where how look see show check 哪些 哪个 多少 什么 看 看看 有哪些 谁 几个")

// verbFactor returns the factor for an action whose name has the kinds done, where the question asks for the kinds
// asked. It is 1 if either is unknown.
func verbFactor(asked, done verbSet) float64 {
	switch {
	case asked == 0 || done == 0:
		return 1
	case asked&done != 0:
		return sameVerbFactor
	case asked == readVerb || done == readVerb:
		return otherVerbFactor
	}
	return 1
}
