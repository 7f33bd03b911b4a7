package find

import (
	"slices"
	"strings"
	"sync"
)

// idle words stand in every question and tell nothing of what is looked for.
var idle = set(`
a an and any are as at be been but by can could did do does for from had has have he her here his how i if in into is it
its let like may me might my need of on one or our out please she should so some that the their them then there these
they this those through to too us very want was we were what when where which while who whom whose why will with would you
your using use via just only also now please currently give given tell want wants something anything someone somebody
thing things way kind certain specific particular new existing many much several few more most first last one ones two
without inside under over between within across up down out off onto there's what's it's
请帮 帮我 我想 想要 我要 如何 怎么 怎样 什么 哪个 哪些 可以 能不 不能 能否 一下 一个 这个 那个 我的 你的 他的 有没 没有 需要 要把 把这
`)

func set(words string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		out[w] = true
	}
	return out
}

// sameMeaning has on each line words that mean the same to somebody who looks for a tool. A word may stand on several lines.
const sameMeaning = `
get fetch retrieve read load obtain show view display see look open inspect describe 获取 查看 读取 显示 打开 详情
list all enumerate show get every 列出 列表 所有 全部 有哪
search find look query lookup locate filter match 搜索 查找 检索 查询 寻找
create add make insert post generate open start set 创建 新建 新增 添加 建立 增加 插入
update edit change modify patch set alter adjust rewrite fix rename 更新 修改 编辑 更改 变更 调整
delete remove erase drop destroy trash clear purge discard clean uninstall rid 删除 移除 清除 清空 去掉 删掉
archive retire hide 归档
restore unarchive undo recover revert back 恢复 还原 撤销
rename name title 重命 命名 改名
move transfer relocate drag 移动 转移 挪到
copy duplicate clone fork 复制 拷贝
send post deliver submit message notify share 发送 发给 发出 提交
reply respond answer comment 回复 答复 评论
comment note remark annotation feedback 评论 批注 备注
write save store put append record 写入 保存 存储 写到
upload attach import put 上传 附件 导入
download export save pull 下载 导出
start begin launch run open create 启动 开始
stop end terminate cancel kill abort close finish quit halt 停止 结束 终止 取消 关闭
cancel withdraw revoke 取消 撤回 撤销
run execute evaluate invoke perform launch 执行 运行
wait until pause delay 等待
subscribe follow watch monitor observe track 订阅 关注 监听
unsubscribe unfollow 取消
approve accept agree confirm 同意 通过 批准
reject deny refuse decline 拒绝 驳回
assign give allocate 分配 指派
merge combine join unite 合并
split divide separate 拆分
sort order rank rerank 排序
compare diff difference between changed 比较 对比 差异
check verify validate test status 检查 校验 状态
count number total many amount 数量 统计 计数
install deploy setup set 安装 部署
publish deploy release host 发布 部署
connect link attach associate relate join 连接 关联 绑定
disconnect detach unlink remove 断开 解绑
click press tap push 点击
type enter input fill write 输入 填写
scroll swipe
navigate go visit open url goto browse 导航 访问
screenshot capture picture image snapshot photo photograph screen shot 截图 截屏
restart redeploy rollout reboot reload 重启
copies replicas instances scale
publish push share 推送
download clone pull checkout 拉取 克隆
tag mark version release
transfer hand over
squash combine merge
temporarily shelve stash park
speed slow fast performance explain plan
notify monitor watch alert changes
resolve solve close complete done finish 完成 解决
unread read seen notification
sign login log in auth authenticate 登录
logout sign out
book reserve schedule create 预定 预约
invite add participant attendee 邀请
title heading name 标题
rich text format markdown
translate language 翻译
encrypt password secret credential key 密码 密钥
environment env variable 环境 变量
folder album directory
bucket storage
queue job task
price cost pricing billing 价格 费用
weather forecast 天气
route directions path way 路线 导航
distance far length 距离
coordinates latitude longitude location geocode address 地址 坐标 经纬
recipe dish meal cook food 菜谱 食谱
train ticket railway 火车 车票
picture image photo icon figure 图片 图像 照片
video clip film recording screencast 视频 录像
log logs journal trace console output 日志 记录
error exception fail failure 错误 异常
history past previous recent log earlier 历史 记录
file document text 文件
directory folder dir 目录 文件夹
document doc page article docs documentation 文档 页面
page site website web webpage url 网页 页面 网站
table sheet spreadsheet grid 表格 工作表 电子
row record entry item line 行列 记录
column field property attribute 字段 列宽
cell range 单元 范围
user person people member account employee colleague 用户 成员 人员 账号
me myself viewer self current whoami own 我自 当前
team group department squad 团队 小组 部门
member participant attendee teammate 成员 参与 参加
issue ticket bug problem defect 问题 工单
task todo item reminder 任务 待办
project initiative 项目
label tag category mark 标签
milestone goal deadline 里程
sprint cycle iteration 迭代
calendar schedule agenda 日历 日程
event meeting appointment schedule 日程 事件 会议
free busy available availability 忙闲 空闲
meeting call conference 会议
room 会议室
approval request 审批
instance process 实例
wiki knowledge 知识
space workspace 空间
node 节点
permission access right role 权限 访问
owner author 所有 作者
customer client contact 客户
company organization organisation 公司 组织
email mail 邮件 邮箱
chat message conversation talk im 消息 聊天 会话
database db data 数据
index indexes 索引
schema structure shape fields 结构
collection table 集合
branch 分支
commit revision change save 提交
repository repo project codebase 仓库
undo revert reset back 撤销 回退
stash shelve aside temporarily 暂存
blame who author wrote
server host machine 服务
process program job command 进程
shell terminal command bash 终端 命令
config configuration setting option preference 配置 设置
pod container workload 容器
cluster kubernetes k8s 集群
scale replica resize 扩容
forward tunnel expose 转发
chart helm
log tail output
web internet online net 网络 互联
news headline article 新闻
restaurant place local shop business nearby 地点 附近
paper study research publication 论文 研究
scrape extract crawl content 抓取 提取
crawl spider
sitemap map urls 地图
summary summarize summarise digest overview brief 摘要 总结
library package framework sdk 库
documentation docs manual reference guide 文档
design mockup layout prototype 设计
performance speed slow fast 性能
memory heap leak 内存
network request http traffic 网络 请求
javascript js script code 脚本 代码
code source program 代码
form fields 表单
dialog alert popup prompt confirm 弹窗 对话
tab page window 标签
keyboard key shortcut press 键盘
mouse hover pointer cursor 鼠标
size resize dimension width height viewport 大小 尺寸
style css appearance 样式
dropdown select option choose pick 选择
dark theme color mode
import ingest load 导入
sheet 工作 电子
freeze 冻结
filter condition 筛选 条件
float image 浮动
time date when day 时间 日期
reminder remind alert notification 提醒 通知
notification notify alert subscribe 通知
release version 版本 发布
pipeline stage 流程 阶段
state status stage workflow 状态
attachment file upload 附件
workflow automation flow 流程 自动
deal opportunity sale 交易
property attribute field 属性
association relation link relationship 关联 关系
vector embedding semantic similarity 向量
namespace 命名
storage space disk size 存储
find locate where
`

// meanings has the other words of the same meaning by the stem of a word. It is made at its first use.
var meanings = sync.OnceValue(func() map[string][]string {
	out := map[string][]string{}
	var s scanner
	for line := range strings.Lines(sameMeaning) {
		words := slices.Clone(s.words(line))
		for _, w := range words {
			for _, other := range words {
				if other != w && !slices.Contains(out[w], other) {
					out[w] = append(out[w], other)
				}
			}
		}
	}
	return out
})

// turns are what people say with several words that one word of a tool says.
var turns = sync.OnceValue(func() *strings.Replacer {
	return strings.NewReplacer(
		"how many", "count", "how much", "count", "get rid of", "delete", "look for", "search", "look up", "search",
		"what is in", "list", "what's in", "list", "what are", "list", "which", "list", "take back", "undo", "put back", "restore",
		"tell me when", "monitor notify", "let me know when", "monitor notify", "switch to", "switch checkout", "set up", "create setup",
		"sign in", "login", "log in", "login", "shut down", "stop", "turn off", "disable stop", "turn on", "enable start",
		"bring back", "restore", "fill in", "fill", "fill out", "fill", "find out", "get", "point to", "reference", "make a copy", "copy",
		"take a picture", "screenshot", "roll back", "rollback undo", "go to", "navigate", "bring up to date", "update", "catch up", "pull",
	)
})
