package find

import (
	"slices"
	"strings"
	"sync"
)

// This file lists words that mean the same in a search for a tool, in English and Chinese.

// sameMeaning lists words, English and Chinese, that mean the same in a search for a tool: one group a line. A
// word may be in several groups.
const sameMeaning = `
get fetch retrieve read load obtain show view display see look inspect describe detail details info information 获取 查看 读取 显示 看 看看 看一下 查 详情 信息 拿到 取
list all enumerate show every which overview exist 列出 列表 所有 全部 有哪些 哪些 清单 都有 罗列
search find look query lookup locate filter match seek hunt discover 搜索 查找 检索 查询 寻找 找 搜 找到 找出 查
create add make new insert generate build compose define 创建 新建 新增 添加 建立 增加 插入 建 加 生成 弄 做 开 新 设立
add append include attach put insert join 添加 加 加入 增加 追加 加到 放 放进 插入 补充
create post publish submit file raise open log report 提交 发起 提 发布 上报
update edit change modify patch alter adjust set rewrite fix correct revise tweak amend 更新 修改 编辑 更改 变更 调整 改 改成 改为 换成 换 改到 设置
set configure assign define 设置 设为 设定 配置
delete remove erase drop destroy trash clear purge discard clean uninstall rid wipe cleanup 删除 移除 清除 清空 去掉 删掉 删 清理 去除 丢弃 扔掉 抹掉
remove unlink detach dissociate kick exclude 移除 踢出 移出 去掉
clear empty wipe reset 清空 清除 重置
archive retire hide shelve deactivate 归档 存档 封存
restore unarchive undelete recover reinstate 恢复 还原 找回 取消归档
undo revert rollback back reset restore 撤销 回滚 还原 撤回 回退 恢复
rename name title call 重命名 命名 改名 更名 名字 名称 换个名字
move transfer relocate drag shift reorder migrate 移动 转移 挪到 挪 移 搬 移到 搬到 拖 拖到
transfer hand reassign delegate forward 转交 转给 移交 交给 转移 转
copy duplicate clone replicate fork 复制 拷贝 副本 克隆 复制一份 备份
send deliver message mail dispatch 发送 发给 发 发出 寄
share publish grant invite 分享 共享 公开 发布
reply respond answer 回复 答复 回应 应答
comment note remark annotation feedback discussion reply 评论 批注 备注 留言 意见 点评
write save store put record persist 写入 保存 存储 写到 写 存 存起来 存到 记录 记下
upsert insert index store save 写入 更新 插入
upload attach send put import 上传 附件 传 传上去 导入
download export save pull fetch 下载 导出 存到本地 下
export dump extract save backup 导出 输出 备份
import ingest load 导入 载入 引入
start begin launch run open initiate kick 启动 开始 发起 开启 开 跑
stop end terminate cancel kill abort close finish quit halt 停止 结束 终止 取消 关闭 停 停掉 杀掉 关掉 停下 中止
close shut exit 关闭 关掉 关
cancel withdraw revoke recall abort 取消 撤回 撤销 收回 收回来 撤
run execute evaluate invoke perform launch trigger call 执行 运行 跑 调用 触发
trigger immediately now run 立即 马上 触发
wait until pause delay sleep 等待 等 等到 直到 暂停
pause suspend disable stop 暂停 挂起 停用
resume continue enable restart 恢复 继续 启用
subscribe follow watch monitor observe track 订阅 关注 监听 监控 跟踪 盯 盯着
unsubscribe unfollow cancel 取消订阅 退订 取消关注 不再关注
approve accept agree confirm allow consent 同意 通过 批准 接受 确认 批
reject deny refuse decline dismiss disapprove 拒绝 驳回 否决 不同意 不批准 打回
return rollback send back 退回 打回 回退 退
assign give allocate delegate owner responsible assignee 分配 指派 分给 派给 交给 负责人 负责
merge combine join unite integrate 合并 合到 整合
split divide separate 拆分 分割
sort order rank rerank reorder 排序 重排 排列
compare diff difference differ differences between changed change 比较 对比 差异 区别 不同 有什么不同 不一样 变化
check verify validate test inspect status whether 检查 校验 验证 是否 有没有
status state progress condition health 状态 进度 进展 情况 怎么样了 到哪一步
audit review score quality 审计 检测 评分
count number total many amount how much 数量 统计 计数 多少 几个 几条 总数
statistics stats metric metrics figure number usage summary report 统计 指标 数据统计 使用情况 用量
setup install create configure prepare register
appear visible exist 出现
rollback rollout undo revert reset previous 回滚
viewer self current authenticated me user profile identity 我自己 我是谁
backup export dump
optimize index performance speed
permission access member share
location nearby map place
install deploy setup 安装 部署 装 装上
upgrade update bump newer 升级 更新 新版本
publish deploy release host online live ship website 发布 部署 上线 放到网上
deploy rollout release apply ship 部署 上线 发布
connect link login attach 连接 接入 连上
associate relate link relation relationship association connect tie connection 关联 关系 绑定 联系
disconnect detach unlink unbind close 断开 解绑 解除 解除绑定
bind link connect 绑定 关联
click press tap push hit button 点击 点 按 单击 点一下
type enter input fill write keyboard text 输入 填写 键入 打字 填 录入
fill complete enter form field 填写 填 填表 表单
scroll swipe 滚动
select choose pick switch option dropdown 选择 选 选中 切换 挑选 下拉
navigate go visit open url goto browse address website site 导航 访问 打开 跳转 进入 网址 网站
back previous return 返回 后退 上一页
screenshot capture picture image snapshot photo photograph screen shot 截图 截屏 截个图 抓图 屏幕
record recording video screencast capture film 录制 录像 录屏 视频
hover mouse pointer cursor over point 悬停 鼠标 移到
drag drop pull 拖拽 拖动 拖
resize size dimension width height bigger smaller viewport large 大小 尺寸 宽高 缩放
emulate simulate mimic imitate pretend fake device mobile phone throttle 模拟 仿真 手机
restart redeploy rollout reboot reload refresh 重启 刷新 重新加载 重新启动
refresh reload reconnect renew 刷新 重新连接 重连
rotate renew regenerate replace refresh 轮换 更换 重新生成
scale replica replicas resize copies instances 扩容 缩容 扩缩容 副本 扩到 伸缩 扩 缩
drain cordon evict maintenance unschedulable 驱逐 排空 维护
push publish share upload send 推送 推 推到 推上去
pull update download fetch sync latest 拉取 拉 同步 更新 最新
fetch download remote 拉取 获取
sync synchronize synchronise mirror 同步
clone download copy checkout 克隆 下载
checkout switch change 切换 检出 切到 切
tag mark label version release 标签 打标签 标记 打标
stage add prepare index 暂存 暂存区
stash shelve temporarily aside park save 暂存 贮藏 存起来 临时保存
squash combine merge
rebase replay linear 变基
cherry pick single 挑选 拣选
blame who author wrote line last 谁写的 谁改的 作者 追溯
untracked tracked 未跟踪
uncommitted unstaged staged working unsaved 未提交 没提交
init initialize initialise empty new repository start 初始化
commit revision change changes save 提交 版本
reflog reference lost recover 引用日志
remote origin upstream server 远程 远端
worktree parallel 工作树 工作区
changelog release notes history 更新日志 变更日志
speed slow fast performance latency optimize 慢 快 性能 速度 加速 优化 卡
explain plan meaning why understand 解释 说明 执行计划 含义 什么意思
notify notification alert tell inform remind reminder 通知 提醒 告诉 消息提醒
resolve solve close complete done finish finished 完成 解决 结束 搞定 做完 标记完成
unread read seen mark 未读 已读
mark set flag tag 标记 标为 标成 设为
sign login log in auth authenticate authentication session 登录 登陆 认证 授权
logout revoke session sign 退出 登出 注销 下线
book reserve schedule create 预定 预约 预订
schedule plan arrange create event 安排 预约 计划 定
invite add participant attendee guest 邀请 请 叫上 拉
join participate attend 加入 参加 参与
leave quit exit 退出 离开
translate language 翻译 语言
encrypt password secret credential key token 密码 密钥 凭证 令牌
parse convert extract read turn transform 解析 转换 转成 提取
convert turn transform change 转换 转成 变成 转为
scrape extract crawl content get fetch page text 抓取 提取 爬取 爬 采集 内容
extract pull structured scrape 提取 抽取
crawl spider whole site pages 爬取 爬 整站
map sitemap urls links structure discover 站点地图 地图 有哪些页面
summarize summary summarise digest overview brief abstract recap 摘要 总结 概括 概述 综述
research investigate study explore thorough deep comprehensive 研究 调研 调查 深入
analyze analyse analysis examine inspect evaluate 分析 剖析
aggregate group sum average pipeline 聚合 汇总 分组 求和 统计
forward tunnel expose proxy port localhost 转发 端口 映射
hide invisible hidden 隐藏
freeze lock pin 冻结 锁定 固定
unlock unfreeze unpin 解锁
grant allow permission access give authorize 授权 权限 允许 给权限 开权限
preview draft forecast 预览 预估
resubmit again retry 重新提交 再次 重提 重新
recurring repeat repeated repeating instance 重复 周期 循环 定期 每周
file document text path 文件 文档
directory folder dir path 目录 文件夹
document doc page article docs documentation note 文档 页面 文章 资料
page site website web webpage url browser tab 网页 页面 网站 网址 站点
tab page window browser 标签页 标签 窗口 页面
web internet online net google 网络 互联网 上网 网上 全网
table sheet spreadsheet grid excel 表格 工作表 电子表格 表 数据表
spreadsheet workbook excel sheets 电子表格 表格 工作簿
sheet worksheet tab 工作表 子表 分表
row record entry item line 行 记录 条目 一行 几行 一条 条 行列
column field property attribute dimension 字段 列 列宽 行列 属性 一列
property attribute field characteristic 属性 字段
cell range 单元格 范围 格子 区域
base database workspace 库 数据库
user person people member account employee colleague human somebody staff 用户 成员 人员 账号 人 同事 员工 谁 有谁
me myself viewer self current whoami my identity profile 我自己 当前 自己 本人 我是谁
team group department squad 团队 小组 部门 组 群
member participant attendee teammate people membership belong user 成员 参与人 参与者 参加者 人员 组员 参会人 参会
attendee participant guest invitee 参与人 参会人 参加 来宾 参会者 谁参加
issue ticket bug problem defect task story card 问题 工单 缺陷 任务 议题 缺陷单 单子 需求
task todo item reminder job work 任务 待办 事项 工作
subtask child sub nested 子任务 下级
parent above under ancestor 父 上级
project initiative effort 项目 工程
roadmap plan strategy 路线图 规划
label tag category 标签 分类
milestone goal deadline due target 里程碑 截止 目标 期限
sprint cycle iteration 迭代 冲刺 周期
priority urgent importance urgency important 优先级 紧急 重要
relation block blocked blocks dependency depend related 依赖 阻塞 关联
template pattern boilerplate 模板 范本
workflow automation flow process automations 流程 自动化 工作流
state stage step column status 状态 阶段 步骤
calendar agenda 日历 日程表
event meeting appointment schedule agenda 日程 事件 会议 会 安排 活动 约会 行程 开会
meeting call conference event 会议 开会 会 例会 会面
minutes notes record summary 纪要 会议纪要 记录 会议记录
free busy available availability freebusy 忙闲 空闲 有空 有没有空 空 忙 没空 有时间
vacation leave holiday off absence timeoff office 请假 休假 假期 年假 放假 离岗
room 会议室 房间
approval request application apply sign 审批 申请 批准 审批单 报销 单子
approval definition template form 审批定义 审批模板 审批流程 审批表单 流程模板
instance request application case 实例 申请 审批单 单子
cc carbon copy 抄送 知会
countersign addsign sign 加签 会签 多加一个人
wiki knowledge base 知识库 知识空间 知识 维基
space workspace area 空间 知识空间 知识库
node page child subpage 节点 页面 子页面 子节点 文档
admin administrator manager owner 管理员 管理者
permission access right role acl sharing control 权限 访问 访问控制 谁能看 谁可以看 角色
owner author creator 所有者 作者 创建者
customer client contact buyer 客户 顾客 联系人
contact lead person people 联系人 线索
need request feature wish ask demand 需求 诉求 反馈
company organization organisation business firm 公司 组织 企业 机构
deal opportunity sale sales 交易 商机 销售
engagement call note email activity interaction 沟通 跟进 互动 活动
object entity record 对象 实体
email mail inbox 邮件 邮箱
chat message conversation talk im group 消息 聊天 会话 群 群聊 拉个群 拉群 建群 会议群
database db data 数据库 数据 库
collection table 集合 数据表 表
document record entry row 文档 记录
index indexes indices 索引
schema structure shape fields columns type types definition 结构 模式 字段 表结构 字段类型
connection connect link session 连接
storage space disk size big large 存储 空间 占用 多大 大小 磁盘
branch 分支
repository repo project codebase 仓库 代码库 代码仓 项目
version release revision edition 版本 发布
process program job command application pid task 进程 程序
shell terminal command bash cmd console 终端 命令 命令行 控制台 脚本
terminal process session command shell 终端 会话
command run execute program script 命令 指令
output print printed log stdout result 输出 打印 结果
config configuration setting settings option preference preferences 配置 设置 选项 参数
pod container workload 容器
cluster kubernetes k8s 集群
context cluster environment current 上下文 环境 集群
manifest yaml 清单 配置文件
deployment service workload release app application 部署 服务 应用
chart helm package 应用包
node machine host server worker 节点 机器 主机 服务器
resource object 资源
namespace 命名空间
log logs journal trace output events 日志 记录 输出
error exception fail failure problem crash bug 错误 异常 报错 失败 出错 问题
console log message error 控制台 报错 日志
history past previous recent log earlier before changes 历史 记录 以前 过去 之前 变更记录
recent latest last newest current 最近 最新 近期 今天 今日
news headline headlines article current today 新闻 资讯 头条 时事 消息
restaurant place local shop business nearby near location around cafe coffee store poi 地点 附近 餐厅 饭店 商店 店 周边 地方 咖啡
paper study research publication arxiv scientific academic article literature scholarly science 论文 文献 学术 研究
citation reference related similar cite cited 引用 相关 类似
library package framework sdk dependency 库 依赖 框架 包
documentation docs manual reference guide handbook official help 文档 官方文档 手册 说明书 帮助
code example snippet sample source program 代码 示例 例子 源码 样例
design mockup layout prototype figma ui 设计 设计稿 布局 原型 设计图
icon svg asset logo picture image 图标 素材
picture image photo icon figure pictures images 图片 图像 照片 图 配图
video clip film recording movie 视频 录像 影片 片子
memory heap leak ram 内存 内存泄漏 堆
network request http traffic fetch xhr requests response header 网络 请求 流量 接口
javascript js script code snippet 脚本 代码
form fields input 表单
dialog alert popup prompt confirm confirmation box modal 弹窗 对话框 提示框 弹框 弹出
keyboard key shortcut press 键盘 按键 快捷键 键
style css appearance look color font 样式 颜色 字体 外观
element button control node 元素 按钮 控件
dark theme color mode light 深色 主题 暗色
accessibility a11y seo lighthouse audit 无障碍 可访问性
snapshot structure tree accessibility content 快照 页面结构
trace profile profiling performance 追踪 性能
filter condition criteria where only 筛选 条件 过滤 只显示 只看
condition criteria rule 条件 规则
view saved perspective 视图 查看视图
replace substitute swap 替换 换成 更换 改成
float floating image 浮动图片 浮动
time date when day clock 时间 日期 什么时候 几点
attachment file upload 附件
vector embedding semantic similarity meaning similar 向量 语义 相似 嵌入
rank relevance order rerank 相关性 排序 重排
webhook callback hook url notify http 回调 钩子
session login device signed 会话 登录 设备
quota limit rate usage allowance 限额 配额 限流 额度 频率
organization company workspace 组织 公司 企业
audit log admin activity security trail 审计 操作记录 操作日志
oauth app application client authorization 应用 授权
secret key signing token password 密钥 口令
favorite favourite star bookmark starred pinned 收藏 星标 关注
metadata info property details attributes size modified 元数据 属性 信息
child children nested sub below inside content 子 下级 子级 里面
block paragraph content section text heading 块 段落 内容
content text body contents inside say says contain 内容 正文 文本 里面 写了什么 说了什么
comment say said discussion opinions 评论 说了什么 讨论
source origin provider 来源 数据源
link url address hyperlink 链接 网址 地址
title heading name called caption 标题 题目 名称 名字
pdf report 报告 报表
feedback opinion rating complaint bug 反馈 意见 评价
tool tools function action call 工具 调用
health alive ping responsive reachable 存活 连通 在线
monitor watch watching track alert changes recurring periodically 监控 监视 盯着 跟踪
local device phone mobile caldav 本地 手机 设备
exchange outlook microsoft
onboarding welcome start getting 入门 引导
text string phrase word words term keyword 文本 文字 关键字 关键词 字
multiple several many bulk batch some various 多个 批量 几个 多条 一批 一次
single one individual 单个 一个 某个
regular regex pattern expression 正则
authentication authorization login oauth 认证 授权
pipeline stage ci 流水线 管道
question ask answer 问题 提问
answer summary ai generated 回答 答案
open opened launch 打开
price cost pricing billing money pay payment invoice 价格 费用 支付 账单 付款 发票
order purchase buy cart 订单 购买 下单
product item goods catalog inventory 商品 产品 库存
weather forecast temperature rain 天气 气温 预报
route directions path way drive 路线 导航 怎么走
distance far length 距离 多远
coordinates latitude longitude location geocode address 坐标 经纬度 位置
recipe dish meal cook food 菜谱 食谱 做菜
train ticket railway flight travel trip hotel 火车 车票 航班 机票 酒店 旅行
stock share market quote 股票 行情
environment env variable 环境变量 环境 变量
bucket blob object storage 存储桶 对象存储
queue job task worker 队列 作业
cache cached 缓存
certificate tls ssl domain dns 证书 域名
vm machine server instance virtual 虚拟机 服务器 主机
test unit spec 测试 用例
function lambda serverless 函数
metric dashboard chart graph plot 图表 仪表盘
review pull request pr mr 评审 审查 合并请求
issue bug report defect 缺陷 报告
thread channel conversation slack 频道 话题
playlist song music track audio 音乐 歌曲 歌单
voice speech audio sound 语音 声音
channel room 频道
folder album directory 相册
ink drawing draw paint 画 绘制
sum total add plus calculate 计算 求和
random dice
memory remember entity knowledge recall 记忆 记住
think thought reason step 思考
reset unstage discard undo revert uncommit 重置 取消暂存
process script program machine computer terminal shell command python node 电脑 机器 本机
write save disk file text store 存盘 保存到 保存成 写成 存成 存为
edit replace line lines text file block patch 改几行 替换文本 修改文件
pod container containers kubernetes k8s docker 容器组 实例
get list pods resources running container namespace
scale copies replicas instances deployment 实例数
context cluster switch current environment 切换集群
object objects contact contacts company companies deal deals record crm lead leads
engagement call meeting note email activity client phone 电话 通话 拜访
property attribute custom field
block paragraph paragraphs heading append children 段 一段 几段
user people teammate colleague access workspace
collection documents query where filter over under than greater less 大于 小于 等于
parse convert local word docx pdf document text markdown 转文字 转成文本
upsert store embed texts vectors meaning 入库
statistics stats count number namespace vectors
webhook call url whenever event changes notify
minute minutes notes record meeting 会议记录 会议纪要 纪要
`

// inEnglish lists on each line English words, and Chinese words that translate to one or all of them. The English
// words of a line are not taken for synonyms.
const inEnglish = `
reply accept decline respond invitation attend 接受 接受邀请 回复邀请 应邀 参加 拒绝邀请
task pending todo waiting 待处理 待审批 待我审批 等着我处理 等我处理 处理 要批的 待办 任务
definition template form workflow approval 模板 定义 表单
member add allow access permission admin invite 能访问 加成员 加人 加进来 拉进来 访问
title rename name 换个名字 改名 改标题 标题 起名
attendee participant remove kick exclude 不让 不参加 移出
acl permission share visible 谁能看 可见 权限 访问控制 访问权限 共享给 授权
urge remind nudge 催 催办 提醒
detail details info 详情 详细 具体内容 具体情况
progress status stage step flow 进度 进展 哪一步 到哪了 走到哪 流程
instance submit apply leave reimbursement expense travel request 报销 请假 出差 申请 请假单 报销单 申请单
caldav sync device phone 同步到手机 手机日历
recurring repeated weekly instance 重复日程 例会
vacation timeoff leave holiday 请假日程 休假 请假
room meeting free busy 会议室 空闲
subscribe change event push notify 变更 变更事件 有变化 变动 有改动
hidden visible property index title 是否隐藏 属性
dimension row column rows columns 行列 行 列 第几行 整行 整列
cell cells value range find 单元格 格子 某个值 值
replace find substitute all 全部换成 全部替换 统一改 批量替换
condition filter greater less than 大于 小于 等于 条件
copy replica duplicate 副本 复制一份 拷一份
subdirectory child children node list 子节点 子页面 下面 下级
original source raw 原始 原文
login account password 账号 密码 帐号
link bind associate account 绑定 解绑 关联
parameter argument option 参数
function method api endpoint interface 接口 方法 函数
variable constant 变量
thread goroutine parallel concurrency 线程 并发
plugin extension addon 插件 扩展
dependency package module 依赖 模块 包
build compile make 构建 编译 打包
package zip archive compress bundle 压缩 打包 压缩包
decompress unzip extract 解压
format beautify indent 格式化 格式
conflict 冲突
patch hotfix diff 补丁
rollback version previous 上一个版本 上个版本 之前的版本 旧版本 回滚
backend server service 后端 服务 服务端
frontend page web ui 前端 界面
deployment rollout release version 部署 发布 版本
host domain ip address 主机 域名 地址
port tunnel forward 端口 转发
monitor metric alert 监控 告警 报警
traffic request network packet 流量 请求
timeout slow latency 超时 延迟 慢
crash exception error stack 崩溃 异常 堆栈
token key credential secret 令牌 密钥 凭证 凭据
role group permission 角色 用户组 权限
tenant organization workspace 租户 组织 工作区 工作空间
notification message alert 通知 消息 推送
draft preview 草稿 预览
trash recycle bin deleted 回收站 垃圾箱
expired expire expiry due 过期 到期
batch bulk many multiple 批量 成批 一批
page pagination next more 分页 下一页 更多
keyword term text query 关键词 关键字
date time range start end 日期 时间 时间段 开始时间 结束时间
today recent now latest 今天 最近 最新
tomorrow next upcoming 明天 下周
title subject headline 标题 主题
description summary about 描述 简介 说明
link url address web 链接 网址 地址
button element click 按钮 元素
textbox input field form 输入框 文本框
checkbox radio select option 复选框 单选 选项
menu dropdown list 菜单 下拉框 下拉菜单
scrollbar scroll 滚动条
window browser size 窗口 浏览器
browser page web 浏览器 网页
request response header body 请求 响应 请求头
image picture photo screenshot 图片 照片 配图 截图
canvas layer component frame 画布 图层 组件
color palette theme 颜色 配色
font text style 字体 文字 样式
vector index embedding 向量 向量库 索引
model training inference 模型 训练
knowledge docs document base 知识 资料 资料库
record row entry data 记录 数据 一条数据
primary key id identifier 主键 编号 标识
field column type 字段 列 类型
query find select documents 查询 查数据 检索
insert add write document record row 插入数据 新增数据 写数据 插入 加一行 加一条
update modify document record row 更新数据 改数据
delete remove document record row 删除数据 删数据
transaction session 事务
table collection sheet 数据表 表 表格
plan explain performance index slow query 执行计划 慢查询
aggregate group sum statistics 聚合 分组 汇总
stop kill terminate process program 结束进程 杀进程 杀掉
run start execute command script program process 跑命令 执行命令 运行程序 运行脚本 跑脚本
install package chart software 装软件 安装包
upgrade chart version package 升级
pod logs container output 容器日志 日志
node machine drain maintenance 节点维护 下线 维护
repository clone download code 代码仓库 拉代码 下代码
branch create new 新分支 建分支 开分支
commit save changes 提交代码 提交改动 提交更改
diff changes changed modified 改动 改了什么 变动 改了哪些 差别
blame line author who code 谁写 谁写的 谁改的 这行代码
stash save temporarily changes 暂存 先存 存起来
tag version mark 打标签 打个标签 标签
issue ticket bug defect 缺陷 缺陷单 工单 漏洞 问题单 bug单
assign owner responsible assignee 负责人 分配给 指派给
priority urgent 优先级 紧急程度
sprint cycle iteration 迭代 冲刺
project member people 项目成员 参与人
comment reply say 评论 留言 回复
attachment file upload 附件 上传文件
label tag 标签 打标签
customer client company 客户 客户公司
team department member 团队成员 部门
release version ship 版本发布 发版 上线
initiative goal objective 目标 战略 举措
document article page 文档 文章
search web internet find 上网搜 网上搜 搜网页 网络搜索 搜索网页
scrape page content text web url 抓网页 网页内容 网页正文 正文
crawl whole site pages 整个网站 全站 爬网站
monitor page change website 网页变化 网站更新 页面变化
paper article arxiv 论文 文章
publish deploy website page html 发布网页 部署网站 上线网页
restaurant place nearby local food 餐厅 饭馆 吃饭 附近 好吃的
video clip watch 视频 教学视频
news headline latest 新闻 时事 热点
design figma layout component 设计稿 设计图
icon svg png download image 图标 切图
click press tap button 点按钮 点击 按
type input fill form text 输入文字 填表 填写表单 打字
wait appear until text 等待 出现
hover mouse over move 悬停 鼠标放到
drag drop move element 拖动 拖拽 拖到
navigate open url go page 打开网页 打开网址 访问网址 跳到
back previous page 后退 返回上一页 上一页
tab new page open 新标签页 打开新页 新窗口
dialog popup alert accept dismiss 弹窗 对话框 确认框
console error message log 控制台 报错信息 报错 日志
network request list 网络请求 请求列表 抓包
performance trace audit slow page load 性能分析 页面性能 加载慢 跑分
memory heap snapshot leak 内存快照 内存泄漏
upload file page form 上传文件 传文件
resize window viewport size 窗口大小 调整窗口
emulate device phone network throttle 模拟手机 弱网
script javascript evaluate run page 执行脚本 跑js 运行js
directory folder create new 新建文件夹 建目录 创建文件夹
directory folder list files content 目录内容 文件列表 目录里 文件夹里
file read open content view 读文件 打开文件 看文件 文件内容
file write save content 写文件 保存文件 写到文件
file move rename 移动文件 文件改名 重命名
file search text content find code 搜代码 搜文件 查找文件
file info size modified metadata 文件信息 文件大小 修改时间
`

// synonymsOf returns the synonyms of a word by its stem. The map is built at its first use.
var synonymsOf = sync.OnceValue(func() map[string][]string {
	out := map[string][]string{}
	tie := func(a, b string) {
		if a != b && !slices.Contains(out[a], b) {
			out[a] = append(out[a], b)
		}
	}
	for line := range strings.Lines(inEnglish) {
		words := stems(line)
		first := slices.IndexFunc(words, func(w string) bool { return w[0] >= 0x80 })
		for _, a := range words[max(0, first):] {
			for _, b := range words {
				tie(a, b)
				tie(b, a)
			}
		}
	}
	for line := range strings.Lines(sameMeaning) {
		words := stems(line)
		for _, a := range words {
			for _, b := range words {
				tie(a, b)
			}
		}
	}
	return out
})

// stems returns the words of a line of these tables in the form that the index uses.
func stems(line string) []string {
	words := strings.Fields(line)
	for i, w := range words {
		if w[0] < 0x80 {
			words[i] = stemOf(w)
		}
	}
	return words
}
