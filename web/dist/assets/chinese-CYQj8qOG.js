var e=Object.assign({"../../../docs/guide/agents.zh-CN.md":"# 让模型使用你的工具\n\n[English](agents.md)\n\n```sh\ncollie agent run '/notebook list'                     # 你自己的命令：不需要模型，也不需要密钥\ncollie provider import                                # 找出本机已有的密钥和模型服务\ncollie agent run '我写过哪些关于茶的内容？'           # 询问 agent.model 指定的模型，并带上你的全部工具\ngit diff | collie agent run '审阅这些改动' --tools 'files__*'\ncollie agent run --allow fs.mv '把清单上的笔记移到 /Work/Archive' < done.txt\ncollie sessions list                                  # 每个会话都会保存\ncollie agent run --continue '那绿茶呢？'              # 继续最近的会话\ncollie usage                                          # 按天和模型统计的词元与费用\n```\n\n除了以斜杠开头的内容，都需要先设置[模型和密钥](providers.zh-CN.md)。\n\n## 谁可以更改什么\n\n模型可以自行读取；在笔记本级别允许时，也可以自行做低风险的更改：新建文档、添加和编辑文字，这些都可以撤销。覆盖、移动、删除、\n运行或发送，以及不清楚作用的服务器工具，执行前都会询问终端前的人（[完整的表](../reference/decisions.md)）。没有终端时（例如在脚本中），\n这样的调用会立即被拒绝，\n模型会得知这一点，然后继续回答。`--allow TOOL.ACTION` 或 `TOOL.*` 是你为这一次运行所作的许可，不会随会话保存。\n\n`/TOOL ACTION` 是你自己输入的命令，可用命令行的选项或 `name=value`；它不需要模型，确认方式与终端相同。`/help` 列出可用的内容。\n以两个斜杠开头表示消息本身以斜杠开头。同样的文字如果用令牌通过 HTTP 发送，则视为模型的操作。\n\n每次调用都会记录所属的轮次和步骤：`collie audit query --origin chat`。\n\n## 命名的智能体、技能和预先告知的内容\n\n智能体是设置文件夹中的文件 `agents/NAME.md`，正文是它的系统提示词：\n\n```markdown\n---\ndescription: 审阅改动，不作任何更改\nmodel: anthropic/claude-sonnet-4-5\ntools: [\"files__*\", fs]\nlevel: r\n---\n你负责审阅改动，并指出文件和行号。\n```\n\n`collie agent run --agent NAME` 使用它，新会话会记住它。`engine`、`model`、`tools`、`denyTools`、`profile` 和 `level` 都可以省略。智能体只会收窄权限：\n它的模式与你的模式同时生效；与已选定的 profile 不同时会报错；权限 `r` 只能读取，`rw` 不能删除、运行或发送，`rwd` 不作限制。\n单个笔记本的权限由 profile 决定。\n\n| 文件 | 作用 |\n|---|---|\n| `agents/NAME.md` | 智能体；`description` 必填 |\n| `context/NAME.md` | 最近四条消息中出现某个 `keywords` 时，放在你的消息之前的文字。`agents` 指定适用的智能体，`order` 决定顺序，`budget` 是最多的词元数（1,000）；全部合计 4,000。该轮会说明用了哪些、为什么 |\n| `skills/NAME/SKILL.md` | 某类任务的说明，格式与其他程序相同。模型只会得知名称和描述，需要时再读取其余内容 |\n| 笔记中的 `/USER_RULES.md`、`/AGENTS.md` | 你的规则，以及智能体的记忆。`/remember TEXT` 会添加到记忆 |\n| 项目的 `AGENTS.md`，以及其 `.collie` 中同样的三个文件夹 | 仅在你信任该项目时读取：`collie mcp trust`，需要有 `.collie/collie.json`（内容可以是 `{}`）。同名时以你自己的文件为准 |\n\n`collie agent list` 列出全部内容，并按行和字段指出文件的错误。文件在每轮开始时读取。`collie agent new NAME` 新建一个。\n`collie agent import` 接管 Claude Code 和 opencode 的智能体与技能：先显示，加 `--yes` 或得到你同意后才写入，只有 `--force` 才会覆盖。\n\n## 其他程序的智能体\n\n```sh\ncollie agent list                                     # 列表中也有 PATH 里的 opencode、gemini、claude-code 等\ncollie agent run --agent opencode '整理这个文件夹'\n```\n\n凡是支持 [Agent Client Protocol](https://agentclientprotocol.com) 的程序都可以在这里回答：用它自己的模型和登录，在你所在的文件夹中工作。\n其他的写成你自己的文件；项目的文件不得带有 command：\n\n```markdown\n---\ndescription: 我们团队的智能体\nengine: cli\ncommand: [team-agent, --acp]\nenv: [TEAM_API_KEY]\n---\n```\n\n`env` 列出除每个程序都需要的变量之外它还能得到的变量；不写就没有任何密钥会传给它。每条消息都会重新启动它，并把此前的会话告诉它。\n只有你自己在终端发出的消息才会启动它，用令牌发出的不会。\n\n它也会得到你的工具，但仅限这一轮：通过本机端口上的 HTTP；如果它不接受 HTTP，则通过 `collie stdio`。这些调用遵守你的全部规则，更改任何内容之前都会询问你。\n`tools`、`denyTools`、`profile` 和 `level` 同样限制它们。\n\n**这样的智能体也运行它自己的工具**，不受你的规则约束：它们显示为 `cli.AGENT.KIND`，它用这些工具所作的更改就等于你作的更改。\n它的每个回答都会注明这一点，以后再读时也一样。\n如果它在执行前请求许可，就会在这里询问你：可以预先允许 `cli.opencode.execute` 之类的操作，而[防护](guard.zh-CN.md)的规则或智能体的 level 也可能在你之前拒绝。\n哪些工具会请求许可，取决于它自己的设置。这一切都有记录：`collie audit query --origin cli-agent`。\n\n它的计划在步骤改变时显示；回答结束时显示它报告的上下文用量和费用。以美元计的费用计入 `collie usage`；回答所用的词元在它报告时也计入（如 opencode）。这些数字没有人核对。\n\n经过测试的有 Gemini CLI 和 opencode。Gemini CLI 在它不信任的文件夹里不使用你的工具：先在那里运行一次 `gemini` 并选择信任，\n或写一个带有 `command: [gemini, --acp, --skip-trust]` 的智能体。它在使用你的工具之前也会请求许可，即 `cli.gemini.other`；预先允许它，就只由你自己的规则决定。\nopencode 只请求它的 `permission` 设置里规定要问的许可。\n\n两分钟内没有任何输出和动作的智能体会被结束；被取消的，或其网关已不在的，也是如此。\n\n## 把会话存成文件\n\n`collie sessions export ID` 以 JSON（连同文件）打印一个会话，可以再用 `collie sessions import` 导入；`--format markdown` 打印最后阅读的那条分支；\n`--format html` 打印一个供浏览器打开的网页：包含所有分支，工具的调用和结果折叠起来，图片就在页面里，明暗随浏览器而定。这个网页不依赖其他任何东西，\n也不运行任何东西：没有脚本，没有框架，不加载任何内容。消息里写的 HTML 只当作文字显示，只有指向网页和邮件地址的链接可以点开。`--redact` 略去工具的调用参数和返回内容。\n\n## 其他程序的会话\n\n`collie sessions import FILE` 接受 `collie sessions export` 写出的文件，以及 ChatGPT（`conversations.json`）、LibreChat 和 Open WebUI 的导出文件，\n其中可以有一个或多个会话。分支会一并带来，首先显示的是在原程序中最后显示的路径。图片、文件、工具调用和系统提示词不会带来；每个会话会说明省略了什么。\n\n## 限制\n\n一轮最多 25 步、15 分钟（等待你的时间不算）或 100 次调用；同一调用反复失败，或某个工具的调用被拒绝三次，也会结束，届时会请模型给出答案。\n超过 64 KiB 的结果会被截断，模型可以继续读取。工具超过 60 个或 20 KB 时，会收在三个用于查找、说明和调用的工具之后（[原因](context.zh-CN.md)）。\n过长的会话会为模型作摘要，而你保留全部内容。这些都可以用设置 `agent.*` 更改：`collie config` 会显示它们。\n\n## 通过 HTTP\n\n运行中的 `collie serve` 拥有同样的会话。需要带有 `chat` 权限的令牌（`collie token add NAME --scope chat`）：\n\n```sh\ncurl -H \"Authorization: Bearer $TOKEN\" -H 'Content-Type: application/json' -d '{}' http://127.0.0.1:7420/api/v1/sessions\ncurl -N -H \"Authorization: Bearer $TOKEN\" -H 'Content-Type: application/json' -H 'Accept: text/event-stream' \\\n  -d '{\"userMessage\":{\"text\":\"有什么新内容？\"}}' http://127.0.0.1:7420/api/v1/sessions/ID/turns\n```\n\n数据流可能中断：带上 `Last-Event-ID`，在 `/api/v1/turns/ID/events`（或包含全部事件的 `/api/v1/events`）可以从中断处继续。\n后者还会告知工具调用、对人的询问、列表的变化，以及服务器的启动、故障或需要登录（`?kinds=server.state`）。\n没有人在听时，一轮也不会结束；崩溃之后，已说的和已写下的内容仍在，可能已经发生的操作不会再做一次。`POST /api/v1/turns/ID/cancel` 可以结束一轮。\n","../../../docs/guide/audit.zh-CN.md":`# 调用了什么，记录是否完好

[English](audit.md)

每次调用都会留下一对记录：请求了什么、由谁请求、结果如何。设置的更改、登录和对询问的回答也会记录。写入之前会去掉密钥。

\`\`\`sh
collie audit tail -f                            # 正在发生什么
collie audit query --since 1d --outcome error   # 哪些失败了
collie audit verify                             # 有没有被改动？
\`\`\`

每个进程写自己的一条链：每条记录含有前一条的哈希，签名的链头指明最新的一条。\`audit verify\` 能发现没有密钥的人所做的修改、删除、调换或截断。

## 仅凭目录发现不了的：锚点

密钥就在记录旁边。能读到它的人可以把一切重写；能写该目录的人可以删除它，或把它换成以前的备份。锚点是放在别处的一个文件，签名的链头会追加到其中：

\`\`\`sh
collie config set audit.anchor /mnt/other/collie-anchor
\`\`\`

下次启动时生效。之后 \`audit verify\` 会把各条链与它比较，并报告缺少了什么。它的价值在于所在的位置：

- 本账户只能追加的另一台机器或另一块磁盘；
- 设为 \`chattr +a\` 的文件，只有 root 能取消；
- 由别的服务保留历史版本的目录。

链的最初几条记录写入时、增长期间最多每五分钟、以及结束时各写一行。最后一行之后写入的记录不受保护。如果无法写入该文件，记录照常进行，日志会提示一次。能从锚点文件中删除行的人，可以掩盖只有这些行才能揭示的改动。

## 少保留一些

除非另有设置，记录会永久保留：

\`\`\`sh
collie audit prune --older-than 90d --dry-run
collie audit prune --older-than 90d
collie config set audit.keep 90d                # Collie 运行期间每天做一次同样的事
\`\`\`

按整个分段（最大 8 MiB 或一天）删除，从最旧的开始。会写下一条记录说明删除了什么，锚点中也会写入，因此 \`audit verify\` 能把它与无人授权的删除区分开。验证出问题的链会保留。

## 把记录带到别处

\`\`\`sh
collie audit export -o audit.jsonl --since 2026-01-01
collie audit verify --export audit.jsonl
collie audit export --format csv -o audit.csv
\`\`\`

按行导出的文件为每条链附有签名的证明：首尾记录之间没有任何修改、增加或遗漏。任何装有 Collie 的人都能检查，不需要你的数据。由哪个密钥签名，由指纹说明：请用文件以外的途径发送指纹。导出本身也会被记录。CSV 供电子表格使用，不含证明。
`,"../../../docs/guide/backup.zh-CN.md":"# 备份：全部放进一个目录，再放回来\n\n[English](backup.md) · [笔记库](vault.zh-CN.md) · [记录](audit.zh-CN.md)\n\n## 概要\n\n```console\n$ collie backup ~/Backups/monday\n✓ /home/me/Backups/monday: 16 files, 201.2 KiB\n$ collie restore ~/Backups/monday\n✓ this home is as it was on 2026-11-24 15:09: 16 files, 18 records, which verify\n```\n\n- `collie backup DIR` 复制笔记库的笔记、对话、记录、设置、智能体、具名令牌和你做过的决定。\n- 网关运行时也能备份。DIR 是新目录或空目录：备份从不覆盖已有的内容。\n- 只有加上 `--with-secrets` 才包含密钥、登录和第一个令牌。\n\n## 里面有什么\n\n| 目录 | 内容 |\n|---|---|\n| `vault/` | 笔记，与 `collie vault backup` 的副本相同 |\n| `data/` | 对话及其附件、调用计数 |\n| `audit/` | 记录，以及为它们签名的密钥 |\n| `config/` | 设置、智能体、技能和上下文条目 |\n| `state/` | 具名令牌的哈希、工具的固定定义、撤销、授权；加上 `--with-secrets` 还有密钥、登录和第一个令牌 |\n\n`collie-backup.json` 列出每个文件的大小和 SHA-256。锁、日志、等待中的问题和工具缓存不在其中：它们属于正在运行的进程，或会自行恢复。\n\n不加 `--with-secrets` 时，设置指明为密钥的文件也不在其中：服务器的 `envFile`、提供方的密钥 `file:…`、`http.tlsKey`。以明文写在设置里的密钥在备份中，因为文件按原样复制；\n命令会逐项列出这些设置，它们应该用 `collie secret set` 保存。系统钥匙串中的密钥不在任何备份里。`--config` 从别处读取的设置会列出，但不复制。\n含密钥的备份请放在加密的磁盘上。\n\n## 放回来\n\n```sh\ncollie restore ~/Backups/monday                  # 放进空的主目录\ncollie restore ~/Backups/monday --overwrite      # 先把现有内容移到旁边\ncollie --home ~/trial restore ~/Backups/monday   # 放进另一个主目录看看\n```\n\n先把所有文件与清单核对：缺少文件或内容不符时，什么也不改。请先停止网关。`--overwrite` 会询问（脚本中用 `--yes`），原有内容保留在主目录旁边的\n`…-before-YYYYMMDD-HHMMSS` 目录中。笔记库在放回之前会检查，最后会验证记录；`collie audit verify` 显示不符之处。\n\n每天三点备份，一天一个目录：\n\n```sh\n0 3 * * * collie backup ~/Backups/collie-$(date +\\%F)\n```\n\n备份可以来自旧版 Collie，不能来自更新的版本。\n","../../../docs/guide/chat.zh-CN.md":'# 在终端中与模型对话\n\n[English](chat.md)\n\n```sh\ncollie chat                            # 新的会话，可以使用你的工具\ncollie chat "今天有什么安排？"            # 立即发送这条消息\ncollie chat --continue                 # 继续最近的会话，以及尚未发送的文字\ncollie chat --model openai/gpt-5       # 这一次使用这个模型\ncollie chat --plain                    # 逐行输出，适合屏幕阅读器\n```\n\n需要先设置[模型和密钥](providers.zh-CN.md)。没有设置时，开头几行会说明在本机找到了什么；以斜杠开头的内容照样可用：\n`/help` 列出你的工具，`/notebook list` 执行一个操作。\n\n## 按键\n\n| 按键 | 作用 |\n|---|---|\n| Enter | 发送；正在回答时，发送的内容会排队 |\n| Alt-Enter、Ctrl-J | 换行 |\n| Ctrl-C | 结束当前回答；按两次离开 |\n| Ctrl-D | 没有输入内容时离开 |\n| Tab | 补全命令、工具、操作、提示词、资源、模型、会话或文件名；再按一次则移到候选项 |\n| ↑ ↓ | 在第一行时翻看以前输入的内容，包括更早的会话；↓ 在下方的候选项中移动，Enter 选用 |\n| Esc | 放弃候选项，或在 `/edit` 之后放弃修改；按两次结束回答 |\n| Ctrl-/ | 撤销刚才的输入 |\n| Ctrl-W、Ctrl-U | 删除一个词；删除到行首 |\n| Ctrl-Z | 回到 shell；用 `fg` 返回 |\n\n输入框上方的一行说明正在做什么；空闲时显示接下来由哪个智能体和模型回答，以及会话已占用模型上下文的多少词元。\n\n工具要更改内容之前会先询问你，并显示工具、涉及的对象和参数：按 `y` 执行，按 `n`、Esc 或 Enter 不执行。多行文本逐行显示，替换显示为删去的行（`-`）\n和新增的行（`+`）。服务器的表单就在输入消息的地方填写，按 Esc 放弃。\n\n## 命令\n\n| 输入 | 作用 |\n|---|---|\n| `/again` | 让模型再回答一次上一条消息 |\n| `/steer 文字` | 在模型回答时告诉它一些事；其他消息会等到回答结束 |\n| `/edit`、`/edit 1` | 修改上一条或再前一条消息，并重新发送 |\n| `/branches` | 列出有多种说法或回答的位置 |\n| `/branch 1 2` | 转到第一个位置的第二个分支 |\n| `/model 名称`、`/agent 名称` | 从现在起使用这个模型或智能体；不带名称时列出可选的和当前的 |\n| `/sessions`、`/session 2` | 列出最近的会话；用编号或标题中的词继续其中一个 |\n| `/call`、`/call 1` | 完整显示最后一次或再前一次工具调用的参数和结果 |\n| `/copy` | 把最后的回答以 Markdown 交给终端的剪贴板，通过 ssh 也可以（OSC 52；tmux 需要 `set -g set-clipboard on`） |\n| `/export tea.md` | 把会话写入文件：Markdown、`.html` 或 `.json` |\n| `/SERVER:PROMPT …` | 使用某个 MCP 服务器的提示词，见下文 |\n| `/new` | 开始新的会话 |\n| `/quit` | 离开 |\n\n`/again` 和 `/edit` 不会丢失任何内容：原来的说法和回答作为分支保留。其他以 `/` 开头的内容执行工具的操作，`/help` 列出它们。\n`@文件` 附上一张图片或一个文本文件，例如 `图里有什么 @photo.png`；不存在的文件名按文本发送。\n按 Tab 时，输入路径的一部分就能找到此文件夹之下的文件；粘贴或拖入的文件路径会变成 `@文件`。正在回答时不能用 `/new` 和 `/session`，以免两个会话的回答混在一起。\n\n## 服务器的提示词和资源\n\n```\n/files:summarize path=notes.md tone="短而清楚"\n比较 @file:///home/me/plan.md 和 @board://tasks/open\n```\n\n所有服务器的提示词都在 `/` 之后，以服务器的名称开头；Tab 补全名称和参数。参数写成 `NAME=VALUE`，或按提示词规定的顺序直接写值；双引号把\n几个词合成一个值。`@URI` 附上一个资源。两者都像工具调用一样经过同一条流程：都有记录；服务器写的内容来自外部，在模型读到之前会先检查。\n\n## 正在输入的内容\n\n离开时或终端被关闭时，尚未发送的文字会保留，用 `--continue` 可以继续。整个会话始终会保存：`collie sessions list`。\n\n## 终端\n\n回答会留在终端的回滚区里，终端自己的搜索、选择和滚动都可用。如果终端会报告你是否在看它，那么你不在看时，回答结束或有问题等待会响铃。\n颜色很少，都取自终端，也没有只靠颜色表达的意思，深色和浅色背景都适用。使用 `--plain`、`TERM=dumb`，或者输入输出不是终端时，不绘制界面：读取一行，输出回答。\n`NO_COLOR` 可以关闭颜色。\n\n## 别的程序做得更好的地方\n\n与 opencode 1.18 在同一个提供商上并排使用过。它有而这里没有的：\n\n- 代码有颜色；可以看到模型的思考；点一下可以展开工具的结果（这里用 `/call` 完整显示）；\n- 一个按键打开全部命令的菜单，列表在窗口里搜索，可以选择主题；\n- 文件的改动与原文件并排显示（这里显示替换，不显示整篇新文本改了什么）；\n- `/undo` 撤销一条消息对文件的改动（这里笔记的撤销用 `/timeline` 和 `collie siyuan undo`）；\n- 很长的粘贴折叠成一行，可以在自己的编辑器里写消息；\n- 在程序内滚动和搜索很长的会话，用按键给会话改名、分享或分叉；\n- 这里不能用 Ctrl-R 搜索以前输入的内容。\n\ncrush 没能用于比较：它在 npm 上的包要从别处取得程序。按该包的页面，除上面这些以外，它还有能在终端里显示图片的文件选择器，以及分多页回答模型的问题。\n',"../../../docs/guide/context.zh-CN.md":'# 模型看到什么：视图、profile、搜索\n\n[English](context.md) · [服务器](servers.zh-CN.md) · [笔记](notes.zh-CN.md)\n\n客户端列出的每个工具，模型每一轮都要读一遍；工具越多，越难选对。这一页说明各种列法要花多少，以及该选哪一种。\n\n## 要花多少\n\n```sh\ncollie tools --size    # 每个服务器在各种视图里占多少字节、大约多少 token\n```\n\n十八个公开服务器的工具，按它们自己列出的样子：\n\n| 服务器 | 工具 | `flat` | `grouped` | `search` |\n|---|---|---|---|---|\n| git | 28 | 72.0 KiB，18,400 token | 1.2 KiB，316 | 1.2 KiB，312 |\n| git、playwright、notion | 77 | 166.7 KiB，42,700 | 4.3 KiB，1,108 | 1.2 KiB，317 |\n| 全部十八个 | 586 | 1,086 KiB，287,700 | 28.3 KiB，7,306 | 1.4 KiB，359 |\n\ntoken 是估计值。列表不是全部代价：grouped 的工具，模型不熟悉时要先问 `help`；搜索后面的工具要先找到。所以每个新工具要多花一两轮和几百字节的回答。\n\n## 选哪一种\n\n| 情况 | 选 |\n|---|---|\n| 一二十个工具 | `flat`，也就是默认值：不用学，也不用问 |\n| 几个每天都用的服务器 | `grouped`：每个动作占一行，带参数，大多数调用不需要 help |\n| 很多服务器，大部分很少用 | 很少用的选 `search`，常用的选 `grouped` |\n| 不想操心，或者服务器时多时少 | `auto`：在预算内尽量平铺 |\n\n自己会搜索工具的客户端用 `flat` 就好。客户端把名称限制在 64 个字符以内，或者看不到列表变化时，`grouped` 和 `search` 也有帮助：名称短，列表很少变。\n\n视图写在服务器的条目里，对所有客户端有效；或者写在 profile 里，对用这个 profile 的客户端有效：\n\n```json\n{\n  "mcpServers": {\n    "git": {"command": "git-mcp", "view": "grouped"},\n    "linear": {"url": "https://mcp.linear.app/mcp", "view": "search", "about": "我们的缺陷和计划"}\n  }\n}\n```\n\n## 替你选择：`auto`\n\n```sh\ncollie config set context.view auto\ncollie tools --size\n```\n\nCollie 测量列表的大小，使所有没有指定视图的服务器合计不超过 `context.budget`（默认 16 KiB）：放得下就平铺，放不下先把最大的服务器分组，\n再不够就把其余的放到搜索后面。笔记工具始终分组，不计入预算。WHY 一列说明每个服务器为什么这样显示。\n\n选定之后不会自己改变，因为列表一变，提供商缓存的提示词就作废了。新的服务器使用剩下的空间。`collie tools --rebalance` 重新选择。\n无论选了哪一种，用其他视图里的名称发出的调用照样能到达。\n\n## 搜索\n\n`collie_find` 接受几个词，返回可以直接调用的签名；危险的工具有标记。`collie_describe` 给出一个工具的完整定义，`collie_call` 调用它：\n检查、询问和记录与其他视图里的同一个调用完全一样。参数 `server` 表示只问其中一个服务器。\n\n排序只看词：名称和标题最重要，其次是描述的第一句，再次是描述的其余部分和参数说明。同义词能互相找到，中文问题也能找到英文定义。\n不问模型，不用网络，同样的问题得到同样的回答。\n\n| 由不了解排序的人写的问题 | 第一个就对 | 前五个里有 |\n|---|---|---|\n| 英文 | 100 个里 58 个 | 81 个 |\n| 中文问题，中文定义 | 50 个里 27 个 | 40 个 |\n| 中文问题，英文定义 | 50 个里 26 个 | 45 个 |\n\n所以五个问题里有一个要换种说法再问。定义是英文时，英文关键词找得最准：“create issue” 比一个长句子好。搜索如果不说后面有什么，模型就会忽略它；\n请在这样显示的每个条目里写上 `about`。那是你自己的话：服务器怎么介绍自己，Collie 不会写进去。\n\n## profile\n\nprofile 是给客户端的一个有名字的视图：它有哪些工具、动作和笔记本，怎样列出。\n\n```json\n"profiles": {\n  "work": {"tools": ["fs", "search", "git", "linear"], "view": "grouped"},\n  "phone": {"tools": ["fs"], "actions": ["fs.read", "fs.list"], "notebooks": {"20261121155446-1z4tkmv": "none", "*": "r"}}\n}\n```\n\n`collie stdio --profile work` 和 `/mcp?profile=work` 使用它；`?profile=work@search` 用另一种视图显示它，`?profile=@search` 用这种视图显示全部。\n`collie tools --profile work` 列出它的客户端看到的工具。只有自己的列表变了，客户端才会收到列表已变的通知。\n\n`notebooks` 为这个 profile 的客户端降低笔记本的[权限](notes.zh-CN.md#权限每个笔记本里可以做什么)：按笔记本 ID 写（`collie siyuan permission list` 可以查看），\n`"*"` 表示其余的笔记本，值是 `none`、`r`、`rw` 或 `rwd`。它与笔记本自己的权限取较低的，所以 profile 永远不会比笔记本本身允许得更多；`none` 使它不出现在任何工具、列表、计数和\n帮助里。用 ID，因为笔记本改名不应改变权限；写名称或不存在的权限是错误。`"*": "none"` 再加上几个笔记本，就只显示这几个。每个 profile 只有自己的 `notebooks`；`default` 的\n在没有指定 profile 时有效（终端里的命令也一样），对 `minimal`、`core`、`full` 也有效。\n\n**`?profile=` 是客户端自己的选择，不是边界。** 要把客户端限制在一个 profile 里，给它单独的令牌：`collie token add laptop --profile work`，\n其他 profile 一律 403（[谁可以进来](servers.zh-CN.md#谁可以进来)）。\n',"../../../docs/guide/guard.zh-CN.md":'# 工具可以被要求做什么\n\n[English](guard.md)\n\n模型会照着面前的文字行事，不管那是谁写的。在任何操作运行之前，固定的规则会审查它对你的服务器工具提出的要求：没有模型参与，\n同样的调用每次得到同样的判断。笔记不受这些规则审查：那里有笔记本的级别，以及对危险操作的询问。\n\n## 规则会发现什么\n\n| 对象 | 拒绝 | 询问 |\n|---|---|---|\n| 路径 | 密钥、密码、shell 的历史记录、浏览器会话、程序的内存、磁盘、Collie 自己的文件；写入系统目录、以后会自行运行的文件、笔记背后的文件 | 超过 100 个路径 |\n| 命令 | 删除一切、磁盘、运行刚下载的内容、把 shell 交给别的机器、清除痕迹、关闭防护 | 不能确定只读的命令 |\n| URL | 云元数据地址、URL 中的用户名和密码、`gopher` 之类的协议 | 本机、私有网络、未加密的 `http` |\n| SQL | 触及文件、程序或其他服务器 | 可能改动数据库 |\n| 工具 | | 定义不是已接受的那一份 |\n\n命令按 shell 的语法来读：`env`、`timeout` 或 `find -exec` 后面的、第二行的、`$(…)` 里的、here-document 里的以及 `sh -c` 里的\n每一条命令都会被审查，相对路径按 `cd` 所到的文件夹来看。读取或复制一个存有密钥的整个文件夹（`grep -r x ~`，在主目录里运行 `rg` 或 `tar`）会询问。\n命令再多、再长也掩盖不了什么：排在后面的、绝不能运行的命令同样被拒绝。`ls | wc -l` 直接运行；`echo "$x" | sh` 会询问，\n`echo $((x))` 也会，因为 shell 可能在 `x` 的文本中找到命令；`curl … | sh` 被拒绝。\n\n写在选项里的命令也会找到（`tar --checkpoint-action=exec=…`、`ssh -o ProxyCommand=…`、`git -c alias.x=\'!…\'`），其他语言中的删除操作和反向 shell\n（`python3 -c …`、`powershell -EncodedCommand …`）、下载之后再运行的文件或变量也一样。如果 `cwd` 之类的成员指明了文件夹，相对路径和命令就按那个文件夹审查。\n工具要运行的代码（`code`、`source` 之类的参数）会检查其中是否有绝不能运行的内容。\n\n参数代表什么，工具可以在 schema 里说明（`"x-collie-kind"`：`path`、`command`、`url`、`sql` 或 `text`）。否则看参数名，\n例如 `file_path` 或 `cmd`；只可能是绝对路径或 URL 的内容，就按路径或 URL 审查。\n\n## 对谁有效\n\n- 对话中的模型（`collie agent`）：拒绝就是最终结果，其余的会连同原因一起询问你。规则没有发现问题时，由[一张表](../reference/decisions.md)\n  按调用可能造成的危害来决定：从中等风险起询问你。\n- 终端前的你：你输入的就是你想做的。只有模型会被拒绝的内容才询问你。\n- MCP 客户端自己会询问你。规则发现的内容只写入日志，每个工具和规则记录一次。设为 `guard.clients: enforce` 后才生效，\n  调用的风险也从此计入。\n\n风险为极高时（例如删除笔记本），回答 y 不够：要输入问题中显示的名称。你自己输入的命令可以用 `--yes` 回答；`--allow` 不能替模型回答。\n\n## 同样的问题不再重复\n\n对话中的询问会提供不止用于这一次的选择，每个选择都有范围：\n\n```\n  y 只执行这一次；输入序号则此操作以后不再询问：\n    1  直到这次回答结束: 笔记本 工作 中的全部内容\n    2  在这个对话中: /工作/计划 及其下的全部内容\n    3  在这个对话中: 笔记本 工作 中的全部内容\n    4  始终允许，到 2027-01-02 为止: /工作/计划 及其下的全部内容\n    5  始终允许，到 2027-01-02 为止: 笔记本 工作 中的全部内容\n```\n\n你允许的是一个操作（如 `fs.mv`），限于一个笔记本、一篇文档之下、一个文件夹、一个主机，或一条命令。`git`、`npm` 等有子命令的程序，\n范围是该子命令，后面带什么都可以；其他程序则是整条命令。参数不属于以上任何一种的工具，可以在一个对话中允许，最高到中等风险。\n只有完全落在范围内的调用才算，而且必须是同一个工具：它的说明一变，就会再次询问你。高风险最多允许 30 天，严重风险从不允许，\n规则拒绝的仍然拒绝。\n\n```sh\ncollie grants list\ncollie grants revoke ID\n```\n\n列表显示每项授权用了多少次。收回之后，从下一次调用起，所有进程都会再次询问；调用记录（`collie guard log --json`）写明每次调用依据的授权。\n自己会询问的客户端也自己记住回答：那里不提供这些选择。\n\n## 外来文字想做什么\n\n工具返回的内容会成为模型读到的一部分，不管那是谁写的。你的模型（`collie agent`、`collie chat`）拿到的每个结果，都先由固定的规则\n用中文和英文检查：对读者的命令、伪造的角色和标记、用来带走数据的地址、谁也看不见的文字，以及用 base64、十六进制、百分号编码、\n字符编号、倒写或形近字母写成的同类内容。由这类命令常用的词组成的句子也会加上标记（`order.likely`）。\n\n- 读起来像命令的内容会加上标记：告诉模型这只是材料，不要照做。\n- 专门用来发号施令的内容不交给模型，为你保留。定义本身就是用来发号施令的工具不向任何模型显示。设为 `guard.prompts: log` 则只加标记，设为 `off` 则不检查任何结果。\n\n你附加的文件同样会加上标记，你自己写的话绝不会；其他程序的智能体得到的工具结果也照此处理。模型读到这样的文字之后，只要它还在模型读到的内容里，\n对话中不止读取的调用都按高一级的风险计算（`text.orders`）。\n\n`"promptsModel": "anthropic/claude-haiku-4-5"` 让你选的模型判断规则没有把握的文字：它看到所发现内容前后最多 6 KiB，没有工具。它可以说这段文字无害，\n或者说它就是用来发号施令的。没有回答时，文字仍带标记；隐藏的文字、伪造的标记和编码过的命令，不论它怎么说都带标记。每段新文字都是一个由你付费的请求。\n\n两种情况你都会在对话中看到，并附上规则的名称。引用这类命令或讨论它们的文字权重较低，所以关于攻击的文章可以通过。MCP 客户端读到的内容\n不检查。规则只认得有人想到过的写法：换一种说法的命令会通过。在 60 个不是为其制定规则的攻击中发现 47 个；\n委婉、间接或写成故事的，大约只能发现一半；同类的无害文字约有百分之四也会被标记。后面仍有关于调用的规则，\n还有你。\n\n## 第二种意见\n\n你可以选一个模型，在调用运行之前、固定规则之后，查看另一个模型想做什么。默认关闭：\n\n```json\n{"guard": {"guardian": {"mode": "monitor", "model": "anthropic/claude-haiku-4-5", "threshold": "high"}}}\n```\n\n- `mode`：`off`；`monitor` 只把判断记录下来（`collie guard log`），不改变任何事，调用也不等它；`enforce` 则判断生效。\n- `threshold`：从哪种判断起询问你，`high` 或 `medium`。设为 `high` 时，操作本身和该模型都判为 medium 的调用在对话中直接执行；没有第二意见时则会询问你。[全部情形](../reference/decisions.md)。\n\n它看到工具、参数（过长的从中间截断）以及你在对话中最先和最后说的话，看不到结果和文件，也没有工具。它可以提高调用的风险，绝不降低。\n如果 15 秒内没有回答，或者回答的不是判断，就会询问你。连续失败五次后，一分钟内不再询问模型，而是询问你。判断保留一天：同样的调用只\n审查一次。请选一个与为你工作的模型不同的模型。只读的调用、你自己的调用以及 MCP 客户端的调用（`clients` 为 `enforce` 之前）不审查。\n每次审查都是一个由你付费的请求。\n\n## 你不在跟前时\n\n有调用等待你时，网关可以通知你。默认关闭，写明通知到哪里才开启：\n\n```json\n{"guard": {"notify": {"desktop": true, "url": "https://ntfy.sh/my-secret-topic", "format": "text", "headers": {"Authorization": "Bearer ${secret:ntfy}"}}}}\n```\n\n- `desktop`：本机的桌面通知，通过 `notify-send`，在 macOS 上通过 `osascript`。\n- `url`：你的一个地址，通知以 POST 发送。`http` 只用于本机和私有网络；不跟随重定向。\n- `format`：`text` 用于 ntfy；`json` 用于 Gotify 和任何 webhook：`title`、`message`（也写作 `text` 和 `content`，供聊天程序使用）、\n  `tool`、`client`、`risk`，以及在哪里回答的 `answer`。\n- `headers`：值可以是 `${NAME}`、`${secret:NAME}`、`env:NAME` 或 `file:PATH`；地址里可以含前两种。\n\n等待 `collie confirm` 的调用会立即通知；对话或客户端中的问题五秒后通知。参数从不发送，也不能在那里回答。\n调用不会等待通知：发不出去的写入日志。`collie guard notify` 试发一条。\n\n## 设置\n\n```json\n{\n  "guard": {\n    "mode": "enforce",\n    "clients": "log",\n    "prompts": "enforce",\n    "roots": {"read": ["~/Documents"], "write": ["~/projects"]},\n    "paths": {"deny": ["**/private/**"]},\n    "commands": {"allow": ["go test"], "deny": ["git push"]},\n    "hosts": {"allow": ["localhost:3000"], "deny": ["*.example.org"]}\n  }\n}\n```\n\n- `mode`：`enforce`；设为 `log` 则所有判断只记录、不生效。\n- `clients`：`log` 或 `enforce`。\n- `prompts`：`enforce`、`log` 或 `off`：如何处理试图发号施令的结果。`promptsModel`：另由一个模型来判断。\n- `roots`：路径可以指向哪里。可写的也可读。不设置时，除规则禁止的地方外都可以。\n- `paths.deny`：模式；`*` 代表名称中的任意字符，`**` 代表任意层文件夹。\n- `commands`：命令的开头，逐词匹配。绝不能运行的，放行了也照样拒绝：不管 `allow` 里有没有 `sudo`，`sudo rm -rf /` 都会被拒绝。\n- `hosts.allow`：可以通过 `http` 访问、以及在你自己网络中访问的主机。元数据地址始终拒绝。\n\n设置只会增加规则，不会取消规则。运行中的网关会立即采用；文件有错时，旧的设置继续有效。\n\n## 查看和试用\n\n```sh\ncollie guard show\necho \'{"server":"shell","tool":"run","arguments":{"command":"timeout 9 rm -rf /"}}\' | collie guard test -\n```\n\n`collie guard log` 显示被拒绝或被询问的调用，以及人是怎样回答的：`program`（在终端或对话中）、`client`（在 MCP 客户端的表单中）、`code`（`collie confirm`）、\n`grant`（已有的授权）、`beforehand`（`--yes`、`--allow`）；没有人回答时为空。\n\n`show` 列出规则及其来源，`test` 显示规则对一个并不会发起的调用的判断。\n\n被拒绝的调用无论从哪里来，错误的形式都一样：`type` 和 `message`，以及 `stage`、`rule` 和 `risk`。`retryable` 为 false：在有人处理之前，同样的调用得到同样的回答。\n\n## 看不到什么\n\n- 服务器用无害的参数做了什么，以及在没有参数指明时，它在哪个文件夹里运行命令：`grep -r x .` 可能就在你的主目录里运行。\n- 指向你网络中某个地址、但名称上看不出来的主机名。各种写法的数字地址、IPv6 中的 IPv4、含有私有地址的名称（`127.0.0.1.nip.io`、\n  `app-10-0-0-1.example.org`）、没有点的名称以及留给内部网络的域（`.local`、`.internal`、`.corp`）能认出来；其他名称不做解析，因为工具会再解析\n  一次，得到的可能是另一个地址。你自己的主机名可以写进 `guard.hosts.deny`。\n- URL 会重定向到哪里，以及 URL 背后的服务器怎样处理查询串里的地址。\n- 其他语言的程序除了删除、反向 shell、运行下载内容和读取秘密文件之外还做什么：这时按工具本身的风险判断。在不是数据库的服务器上，`query` 只有明显是\n  SQL 语句时才按 SQL 审查。\n- 你用 `guard.commands.allow` 放行的 `make`、`npm run`、测试或脚本做了什么：你能做的，它都能做。\n- 名称为小写的变量（`echo $token`）、在询问与运行之间建立的链接，以及名称和位置没人知道的秘密文件，`*` 代表它们时也一样。\n',"../../../docs/guide/import.zh-CN.md":"# 从其他程序导入，向其他程序导出\n\n[English](import.md) · [你的服务器](servers.zh-CN.md) · [密钥与登录](sign-in.zh-CN.md)\n\n```sh\ncollie mcp import --dry-run                               # 有些什么，哪些带不过来\ncollie mcp import                                         # 从所有程序接收新的服务器\ncollie mcp import --from cursor --select github,notes     # 只要这几个\ncollie mcp import --file ~/Downloads/mcp.json             # 一个文件，不管属于哪个程序\n```\n\n```console\n$ collie mcp import --dry-run\nSERVER     TRANSPORT  SOURCE  STATE  DIFFERENCES\nsearch     stdio      codex   new\ngithub     stdio      cursor  new    secret as text: GITHUB_TOKEN\nold-notes  http       cursor  new    secret as text: OLD_NOTES_AUTHORIZATION\n3 changes for ~/.config/collie/collie.json; nothing was written (--dry-run)\n```\n\n其他程序的文件只读不写。你已有的保持不变，所以再导入一次什么也不会改。Collie 不接受的名称会改成合适的（`Old Notes` 变成 `old-notes`），\n原名保存为 `displayName`；同名的第二个服务器加上 `-2`。\n\n**密钥。** 在终端里会问你；`--secrets keyring` 把它们移进[密钥存储](sign-in.zh-CN.md)，设置里只留下 `${secret:NAME}`；\n`--secrets keep` 让它们仍是明文。原来的文件不变。\n\n**批准。** 在那边不问人就运行的会列出来；不写 `--keep-approvals`，就不带过来。\n\n## 到哪里找\n\n下面是 Linux 上的位置；macOS 和 Windows 上是这些程序各自的目录。“项目”是你所在的目录。\n\n| `--from` | 你自己的 | 项目 | 另外 |\n|---|---|---|---|\n| `claude-code` | `~/.claude.json`，也包括其中的项目 | `.mcp.json` | `headersHelper` 变成 `headersCommand` |\n| `claude-desktop` | `~/.config/Claude/claude_desktop_config.json` | | 只有程序 |\n| `cline` | VS Code 的存储，`~/.cline/data/settings/cline_mcp_settings.json` | | `timeout` 以秒计 |\n| `codex` | `~/.codex/config.toml` | `.codex/config.toml` | `bearer_token_env_var`、`env_vars`、超时 |\n| `cursor` | `~/.cursor/mcp.json` | `.cursor/mcp.json` | `${env:X}`、`auth` |\n| `gemini` | `~/.gemini/settings.json` | `.gemini/settings.json` | `$VAR`、`httpUrl`；`trust` 是批准 |\n| `kilo` | VS Code 的存储，`~/.kilocode`，`~/.config/kilo/kilo.json` | `.kilocode/mcp.json`、`kilo.json` | |\n| `opencode` | `~/.config/opencode/opencode.json` | `opencode.json` | `{env:X}`、写成列表的 `command` |\n| `roo` | VS Code 的存储 | `.roo/mcp.json` | `alwaysAllow` 是批准 |\n| `spring` | | `src/main/resources/application.yml`、`application.yml` | `url` 与 `endpoint` 合在一起 |\n| `vscode` | `~/.config/Code/User/mcp.json`、`~/.copilot/mcp-config.json` | `.vscode/mcp.json` | `${input:…}` |\n| `windsurf` | `~/.codeium/windsurf/mcp_config.json` | | `serverUrl` |\n| `xiaozhi` | | `xiaozhi.config.json` | 单个工具的开关，ModelScope 的密钥 |\n| `zed` | `~/.config/zed/settings.json` | `.zed/settings.json` | 扩展会跳过 |\n\nDIFFERENCES 一列列出每一个没有带过来、或者含义不同的字段。\n\n## 导出\n\n```sh\ncollie mcp export --to codex                                                  # 只显示\ncollie mcp export --to vscode --server github --file .vscode/mcp.json         # 写入；那里的注释保留\ncollie mcp export --to cursor --gateway --file ~/.cursor/mcp.json             # 一个条目代表全部：collie stdio\n```\n\n原来的文件保存为 `.bak`。变量不会展开，密钥因此不会进入别人的文件。`${NAME}` 按那个程序的写法写出；它没有这种写法时，会有警告说明\n该怎么办。\n\n要写进客户端自己的文件，`collie connect CLIENT` 就是最后一条命令的简写。\n\n## 连接客户端\n\n```sh\ncollie connect cursor                      # 把 Collie 写进客户端的文件；--dry-run 只显示\ncollie connect cursor --move               # 并把客户端自己的服务器移到 Collie\ncollie connect cursor --restore --remove   # 放回去，并取出 Collie\ncollie connect cursor --no-notes           # 不带笔记工具；--notes 再给它\ncollie connect --list                      # 每个客户端：是否已连接，用哪些设置，在哪个文件里\n```\n\n客户端自己启动、Collie 也提供的服务器会出现两次：`connect` 会指出来。`--move` 像上面那样导入客户端自己的服务器，然后从它的文件里\n取出 Collie 已经提供的。属于其他目录的条目，以及项目共用的文件（`.mcp.json`、`.cursor/mcp.json`），只指出来，不动。取出的内容保存在\n`<state>/connect.json`，原来的文件保存为 `FILE.bak`。\n\n此后没有人改过文件，`--restore` 和 `--remove` 就让它一字节不差地恢复原样；否则条目按原来的写法（连同其中的注释）放回服务器列表的末尾。\n放回去的服务器也仍留在 Collie 的设置里，要去掉用 `collie mcp remove`。\n\n在终端里会问你，客户端是否得到你的笔记工具。回答保存为设置里与客户端同名的 profile（`profiles.cursor.tools.exclude`）。如果正在运行的\n网关用的是另一份设置，会问你客户端该用哪一份。\n\n## 项目带来的服务器\n\n目录里可以有 `.collie/collie.json`，其中有 `mcpServers`。在你看过之前，它们列为 `disabled`（`untrusted`）：\n\n```sh\ncollie mcp trust .              # 显示会启动什么，并询问\ncollie mcp trust --list\ncollie mcp trust --revoke .\n```\n\n回答只对这个目录和这份内容有效；文件改了会再问。这样的文件里，除服务器以外的内容一概不算数。\n","../../../docs/guide/notes.zh-CN.md":'# 你的笔记：思源笔记就是工具\n\n[English](notes.md)（更完整） · [没有思源：笔记库](vault.zh-CN.md) · [全部操作](../reference/siyuan/) · [密钥](sign-in.zh-CN.md) · [服务器](servers.zh-CN.md)\n\n- `collie siyuan init` 找到你的思源，询问令牌。`collie fs tree /` 显示你的笔记。\n- 一开始全部可读，什么都不能写；要写，先提高笔记本的权限。\n- 没有思源时，同样的工具在内置的[笔记库](vault.zh-CN.md)里工作，那里的笔记本一开始就能写。\n- 删除或移动笔记之前先问你；`collie siyuan undo` 撤销一次写入。\n- 客户端、终端和其他入口看到的是同样的工具、同样的规则。\n\n```console\n$ collie siyuan init\n$ collie fs tree /\n$ collie fs read /工作/计划\n$ collie siyuan permission set 工作 rw\n$ collie fs replace /工作/计划 --old "5 月 12 日" --new "5 月 13 日"\n```\n\n思源要在运行，不需要插件。令牌在思源的“设置 → 关于 → API token”里。思源没有运行、令牌不对，或者端口\n属于别的程序，`init` 都会说明并重新询问；以后有问题时，`collie siyuan doctor` 找出原因，它什么也不改。\n\n## 工具\n\n| 工具 | 用途 |\n|---|---|\n| `fs` | 用人读的路径访问笔记：`/笔记本/文档/子文档`。从这里开始 |\n| `notebook`、`document`、`block` | 用 ID 访问，以及路径做不到的一切 |\n| `av` | 数据库：列、行、单元格、视图 |\n| `file` | 资源文件、模板、导出、上传 |\n| `search` | 全文、SQL、引用、批量替换 |\n| `tag`、`flashcard` | 所有笔记里的标签；闪卡的复习与评分 |\n| `system` | 内核本身；`bootstrap` 告诉模型开始时需要知道的一切 |\n| `mascot` | 小狗，见下 |\n| `timeline` | 可以回到的文档状态；默认关闭 |\n\n每个操作都有说明：终端里 `collie tools fs read`；模型用 `action="help"`、`topic="read"`；给人看的在[参考](../reference/siyuan/)。在终端里，\n操作就是命令，参数就是选项：\n\n```sh\ncollie notebook list\ncollie fs read /工作/计划 --json\ncollie fs write /工作/纪要 --markdown @纪要.md      # 文字来自文件；- 表示标准输入\n```\n\n`--json` 在一行里给出完整结果。退出码：0 成功，1 调用失败，2 用法错误，3 连不上思源，4 被拒绝，5 没有得到确认，6 只有一部分，130 被中断。缺少参数也是用法错误。`--debug` 显示一次调用发送和收到的内容以及耗时；`--save FILE` 把结果里的图片写入文件。\n\n在终端里，需要笔记本 id 的地方可以写名称：`collie notebook rename 工作 计划`；同名时会列出 id。按 Tab 可以补全工具、操作、参数、取值和笔记本，\n设置方法见 `collie completion bash --help`（zsh、fish、powershell 同理）。\n\n名称里的 / 写作 `%2F`。两个笔记本或文档同名时，错误信息会给出用来区分的 `#id`。`/AGENTS.md` 是智能体的记忆，`/USER_RULES.md` 是你给它们\n的规则；两者都不是文档。\n\n**工具列表很小。** 模型每次请求都要为列表付费。十一个工具一共不超过 9 KiB：列出所有操作的名称，以及它们必需的参数和类型，因此只允许模型发送已声明参数的客户端也能调用每个操作；其余的一次 `help` 就能看到；参数写错时，错误信息\n会给出正确的写法。`collie tools --size` 显示大小。\n值为 null 的参数等于没有给出；只有两处例外：`document set_attr` 的 `attrs` 中，null 去掉图标或封面；`cells` 里一个单元格的 `value` 为 null 时清空它。\n成员名称不固定的参数（`attrs`、`conf`）在列表里是含 JSON 的文本，也可以直接给对象。\n\n读取时的 `estimatedTokens` 和 `tokenBudget` 按四个字符一个 token 估算，和其他思源工具一样；中文实际最多是它的四倍。\n\n## 权限：每个笔记本里可以做什么\n\n| 权限 | 允许 |\n|---|---|\n| `none` | 什么都不行：这个笔记本不存在 |\n| `r` | 读；没有列出的笔记本就是这个权限 |\n| `rw` | 还可以写 |\n| `rwd` | 还可以删除，也可以用任何方式移到别的笔记本 |\n\n```sh\ncollie siyuan permission list\ncollie siyuan permission set 工作 rw\ncollie siyuan permission set 私人 none\n```\n\n数据库的行和列、闪卡、标签和附件的名称算写入：有 `rw` 就行，先询问。重命名或删除标签，会改动所有未隐藏的、用到它的笔记本，每一个都要有相应的权限；\n隐藏的笔记本保持原样，也不影响结果。\n\n改动在一秒之内生效，正在运行的网关也一样。模型不能改权限：这个操作不向任何客户端列出，除了终端前的人，谁调用都会被拒绝。\n\n`none` 就是不存在：列表、计数、标签、闪卡、搜索、SQL 结果里都没有它；用它的 ID、名称或路径去问，回答与不存在的东西一样。列表里若有内容因此略去，\n结果会说略去了多少，但不说是什么；如果查找的文字、标题或条件是调用者自己选的，连略去了多少也不说。会触及隐藏笔记本的操作仍然会被拒绝，这样的拒绝说明了有这样一个笔记本存在：带查询的\n模板、`file remove_unused_assets`、整个工作空间的时间线；以及重命名或删除隐藏笔记也在用的附件、用隐藏数据库的 ID 新建数据库（调用者已经知道那个名称或 ID）。\n\n几个笔记本共用的东西，按其中最低的权限算：数据库属于每个有块展示它的笔记本，附件属于每个用到它的笔记本，隐藏其中一个就隐藏了它。模型写入的内容不能\n指向它看不到的东西：指向隐藏的块或不存在的块的引用变成纯文本；展示隐藏的或未知的数据库的块会被拒绝；指向隐藏的或不存在的附件的链接保持为文字。你自己的引用，\n在周围文字被修改时仍然保留。嵌入块里的脚本（`//!js`）要求所有笔记本都是 `rwd`。\n\n思源从隐藏笔记本里复制出来的文字同样看不到。思源会把一个块的文字写到别处：作为动态引用的锚文本、嵌入查询的结果、数据库的行。如果这些文字来自隐藏的笔记本，\n或者来自已经不存在的块，引用的锚文本就显示为空（`((id \'\'))`），SQL 里对应的列是空的，搜索也不会靠它命中；修改周围的文字时，它保持原样。只要有笔记本被隐藏，\n`file export_md` 就拒绝导出带有嵌入查询或数据库的文档，带有这种文字的标题也不能转成文档。\n\n模板就是程序，思源的模板能读到所有笔记本。只要有笔记本被隐藏，这些工具就只渲染、只写入处理文字、数字和日期的模板，例如\n`/daily note/{{now | date "2006/01"}}`：日记和新文档的路径、模板文件、`file render` 都是如此。带查询的模板要求所有笔记本都可读；如果你自己的日记模板带有查询，\n`create_daily_note` 会说明原因，而在思源里新建日记一切照旧。不论权限如何，日记模板只能在 `data/templates` 之下。\n\n被拒绝时会说明需要什么权限：\n\n```console\n$ collie fs write /工作/想法 --markdown "…"\n✗ [permission_denied] check 20261121155446-32m69hp: notebook "工作" (20261121155446-32m69hp) allows r, this needs rw\n  Hint: a person can allow it: collie siyuan permission set 20261121155446-32m69hp rw\n```\n\n权限存放在工作空间里（`/data/storage/petal/collie/notebookPermissions`），随同步到达每台机器；思源插件设置的权限也有效，两处都有时取较低的。[profile](context.zh-CN.md#profile) 可以为它的客户端降低权限，不能提高。文件读不出来时，\n什么都不写，也没有任何参数可以让命令自己假定权限：那样恰好会在谁也说不清哪些笔记本被隐藏的时候打开它们。原因看 `collie siyuan doctor`。\n\n## 危险操作\n\n删除、移动（包括标题转文档、文档转标题）、批量替换（包括转移引用），以及文件的上传与导出（完整列表见[英文版](notes.md#dangerous-actions)），要等你看到涉及的对象并同意之后才执行。重写文字（`fs write --overwrite`、`block update`）\n算编辑：有 `rw` 就行，不问你，可以撤销。本来就会被拒绝的调用不会来问你。能提问的客户端直接问你；不能提问的，调用被拒绝并得到一个代码，等待五分钟：\n\n```console\n$ collie confirm\nCODE    ASKED   WHO              CALL   TARGETS\nYPEKJT  4s ago  x 1 (mcp-local)  fs rm  document /工作/纪要 (20261121155056-ibnjqwo)\n$ collie confirm YPEKJT\n```\n\n回答 `y` 之后，客户端再发出同样的调用就会执行，只有一次。`collie confirm --deny YPEKJT` 表示拒绝。`confirm` 从终端读取回答，不读标准输入，也没有 `--yes`。\n\n**同意只属于被问的那一个客户端。** 代码的批准只能由看到这个代码的客户端用掉，持有同一个令牌的别的客户端不能用：\n\n| 客户端 | 凭什么识别 |\n|---|---|\n| 通过 HTTP，2024-11-05 到 2025-11-25 | 令牌和它的会话；重新 `initialize` 之后要重新询问 |\n| 通过 HTTP，2026-07-28（没有会话） | 令牌和它自报的名称；回答问题时还要带上问题的 `requestState` 和同样的参数 |\n| 启动 `collie stdio` 的 | 它自己的管道；重新启动之后要重新询问 |\n| 用令牌调用 `/api/v1/calls` 的 | 令牌；它不能替你回答，只会得到代码 |\n| 你终端里的 `collie` | 你本人：当场询问，或用 `--yes`，不留下等待的调用 |\n\n**Collie 看不出回答的是不是你本人。** 有三种方式代表你的同意，而程序都做得出来：\n\n- 能提问的 MCP 客户端替你回答。持有令牌的人就能写出这样的客户端。设置 `"http": { "elicitationConfirms": false }` 之后，通过 HTTP 来的客户端都不能回答，\n  只得到代码；[具名令牌](servers.zh-CN.md)可以另作选择。启动 `collie stdio` 的客户端仍然自己问你。\n- 命令上的 `--yes`，供脚本使用。\n- 终端里的 `collie confirm`；程序也能打开一个终端。\n\n后两种需要你账号下的 shell。**有这种 shell 的模型能输入 `--yes`**，正如它能修改你的文件；权限在那里同样挡不住它。Collie 看守的是工具，不是你的账号；留下的是记录：\n`collie audit query`。\n\n## 开关：提供哪些工具\n\n```sh\ncollie siyuan config show                        # 哪些打开，写在哪里\ncollie siyuan config set notebook.remove on      # 打开一个操作\ncollie siyuan config set flashcard off           # 关闭一个工具\ncollie siyuan config set readOnlyTools on        # 只提供读取的操作\n```\n\n默认关闭：`notebook.remove`、`notebook.set_permission`、`document.remove`、`block.delete`、`system.workspace_info`、`system.conf` 和整个\n`timeline`。开关存放在工作空间里；没有 Collie 自己的文件时，读取思源插件的文件，三种历史格式都可以。`collie siyuan config migrate` 把旧格式改写成新格式，并保留副本。\n这个文件在第一次修改时才生成，启动时不写：写下的默认值会被同步，而且以后的版本默认提供得更少时，旧值仍然有效。\n\n## 安全写入\n\n- **不覆盖别人的改动。** 读取时返回 `stateHash`；写入时作为 `ifMatch` 交回，如果其间有人改过，就以 `state_changed` 拒绝。\n- **不写两次。** 每次写入都有 `requestId`，同一个 ID 只执行一次。不知道结果如何时，错误是 `outcome_unknown`：先看，再决定是否重写。\n- **同一文档的写入依次进行**，所有共用同一目录的程序都如此。\n- **原来的内容保留七天**，每次写入最多 1 MB：`collie siyuan undo` 列出写入，`collie siyuan undo REQUEST_ID` 撤销一次，先询问。写入新增的内容会被删除：文档（下面没有其他文档时），或块（无论现在在哪里）；删除本身也在列表里，可以再撤销。\n\n`"writeSafety": "strict"` 要求模型分两步写入；`"off"` 什么也不保留、不检查。保留的文字在 `<state>/siyuan`，只有你能读，也不在同步的工作空间里。设了密钥就会加密：先 `collie secret set undo`，再写 `"undoKey": "${secret:undo}"`。\n\n## 连接哪个思源\n\n```jsonc\n"siyuan": {\n  "current": "home",\n  "connections": {\n    "home": { "url": "http://127.0.0.1:6806", "token": "${secret:siyuan_home}", "workspace": "/home/me/SiYuan" },\n    "work": { "url": "https://notes.example.com", "token": "env:WORK_TOKEN" }\n  },\n  "localFileRoots": ["~/Pictures", "~/Exports"]\n}\n```\n\n优先次序：`--url` 和 `--token`（命令行上的令牌别的程序看得见，所以会警告）；`SIYUAN_API_URL` 和 `SIYUAN_TOKEN`；`--connection NAME`，否则 `siyuan.current`，\n否则唯一的连接。令牌只发往与它一起给出的地址。`collie.json` 里没有连接时，使用 `~/.siyuan-sisyphus/config.json` 或 `~/.siyuan-mcp/config.json` 里的。写了\n`workspace`，工作空间不同的内核会被拒绝。什么都没有设置，就使用[笔记库](vault.zh-CN.md)。\n\n`init` 和 `connection set` 会替你写好这些：令牌存为密钥 `siyuan_NAME`，工作空间由内核说明。\n\n```sh\ncollie siyuan connection set work --url https://notes.example.com --token-stdin < token.txt\ncollie siyuan connection test work      # 那里是谁在回答？\ncollie siyuan connection use work       # 从现在起使用它\ncollie siyuan connection use vault      # 使用内置笔记库；连接仍然保留\ncollie siyuan connection list\ncollie fs ls / --connection home        # 只用于一条命令\n```\n\n## 本机文件\n\n`file upload_asset`、`extract_doc` 和 `export_resources` 读写本机文件，只限 `localFileRoots` 里的目录；在终端里还包括当前目录。通向外面的链接不跟随，隐藏文件和\n像密钥的文件被拒绝，别的机器上的调用者一个文件也碰不到。\n\n## 笔记之外\n\n- **统计**：每次调用在 `<data>/analytics` 里记一行（工具、操作、时间、大小、参数名），保留 30 天，只在本机，从不写进会同步的工作空间，不含内容。`analytics.enabled` 关闭它。\n- **审计**记下每次调用和它的参数，写入的文字也在内，只去掉看起来像密钥的部分；`collie config set audit.content none` 则不记参数。\n- **遥测**默认关闭，也没有地址。`collie siyuan telemetry show` 显示下一次报告的全部内容。\n- **小狗**：每次成功的调用得一枚硬币，`collie mascot shop` 看它喜欢什么。硬币只在本机；`"mascot": { "sync": true }` 时也写进工作空间，[思源窗口中的 Collie](panel.zh-CN.md) 会显示它。\n',"../../../docs/guide/pages.zh-CN.md":`# 浏览器中的页面

[English](pages.md)

\`\`\`sh
collie serve                 # 或 collie service install，让它一直运行
collie open                  # 在另一个终端：在浏览器中打开页面并登录
collie open --phone          # 供另一台机器使用的链接，显示为二维码
collie open --list           # 已登录的浏览器
collie open --end ID         # 让其中一个退出登录
\`\`\`

请自己在终端中运行：链接会让浏览器成为你的，所以任何程序都得不到它。无法打开浏览器时，链接显示在终端上。链接只供一个浏览器使用，
两分钟内有效。最后一次使用后三十天内，浏览器保持登录，网关重启后也一样；“退出登录”立即结束登录。

## 对话

选择模型和智能体，或按设置使用，然后输入。需要先设置[模型和密钥](providers.zh-CN.md)；没有设置时，以斜杠开头的行照样可用，例如
\`/help\` 和 \`/notebook list\`。Enter 发送，Shift+Enter 换行。同样的会话也在 [\`collie chat\`](chat.zh-CN.md) 和 \`collie sessions\` 中。
回答尚未写完时可以关闭页面：它会继续，等你回来时就在那里。

正在回答时，发送的内容会排队；“插话”（Ctrl+Enter）把它交给正在写的回答，“停止”结束回答。每条消息下方可以复制、修改或重新回答：
另一种说法或回答会保留，用 \`‹ 1/2 ›\` 来回切换。“分叉”以到此为止的内容开始新的对话。用 \`+\`、粘贴或拖放可以附上图片和文本。
尚未发送的文字由此浏览器按对话保留。消息上方一行是标题、模型，以及上一个回答读写的令牌数。代码块可以复制、换行和下载。
向上滚动后，回答增长时位置不变；“跳到最新”回到末尾。

输入以斜杠开头的行时，Tab 采用第一个候选命令，方向键选择其他命令。\`/服务器:提示词\` 使用某个 [MCP 服务器](servers.zh-CN.md)的提示词：填写它要问的内容后会作为附件附上。
输入 \`@\` 和几个字可以引用笔记中的文档或块，或服务器的资源；按 Enter 附上。来自外部的内容与其他附件一样，先经检查再交给模型。在 \`⋯\` 中可以导出对话、写入笔记、删除未显示的分支、选择消息以复制、导出或删除，
也可以改用 Ctrl+Enter 发送。

语言为 \`mermaid\` 的代码块会画成图表，所在的框架既接触不到页面，也接触不到网络。你的话中引入了[上下文条目](agents.zh-CN.md)的词会被标出，并注明条目的名称。打开过的对话以标签页并列保留。

| 按键 | 作用 |
|---|---|
| Ctrl+K | 用几个字前往页面、对话或操作 |
| Alt+N、Alt+M | 新对话；写消息 |
| Alt+↑、Alt+↓ | 列表中的上一个或下一个对话 |
| Alt+W | 关闭标签页 |
| Ctrl+. | 停止回答 |

\`$\` 与 \`$\` 之间，或单独成行的 \`$$\` 与 \`$$\` 之间的 TeX 公式会排版。回答中的 HTML 按文本显示，图片不会加载，这样被诱导写出的内容无法向外连接。

## 问题

需要你同意的操作会在对话中询问，也会与[其他程序](guard.zh-CN.md)等待的问题一起列在上方的“问题”里。你会看到工具、涉及的对象、参数和风险；
危害严重时，需要输入所显示的名称。第一个回答有效，无论来自页面还是 \`collie confirm\`。

服务器在调用中途想问的事也在这里询问：填写它的表单，或选择不提供。你填写的内容会发给服务器，所以不要填密码；它要你打开页面时，会先显示完整的地址。

菜单下方的“有问题时通知我”会让浏览器在你看别处时弹出通知：只写工具和操作，不写参数。

## 服务器

“服务器”页列出 [MCP 服务器](servers.zh-CN.md)：每个服务器在做什么、为什么，以及无法运行时该怎么办。在这里可以启动、停止它们，或重新获取列表。
点击服务器名称可以看到实时更新的日志，以及工具定义自首次见到以来逐行的更改，不可见字符会写出来；是否接受由你决定。

“添加服务器”接受命令行、地址或网页上的 JSON，并先说明会添加什么、哪些可能不起作用。也可以搜索 MCP 注册表（只在你搜索时才会访问）：选中的服务器会填入表单，版本已固定，每个密钥各有一栏。“导入其他程序的服务器”列出 Cursor、Claude 等程序中有而这里没有的服务器，
并把其中的密钥存入密钥库。会在你的机器上运行程序的，要输入其名称（或那个程序的名称）后才会添加。服务器名称后面的“编辑”可以更改它的条目：密钥显示为 \`***\`，不写新值就保持不变；更改它运行的内容或密钥发往的地方，要输入其名称。需要登录的服务器有“登录”按钮；
如果浏览器在另一台机器上，请粘贴它最后停留的地址。

## 工具

“工具”页列出所有工具及其风险、每一轮占用模型的令牌数，以及立即生效的开关：笔记工具写入其工具配置，服务器的工具写入设置（\`tools.override\`）。
可能造成损害的，要输入名称才能打开。服务器的工具可以在这里改用别的名称和描述，客户端立即看到：原名仍可调用，固定的定义和风险仍以服务器自己的描述为准。“你为笔记定的规则”会随工具的帮助告诉模型。“缓存”页显示为服务器和模型保留的内容，并可清除。

## 客户端

“客户端”页列出 Collie 认识的模型程序，以及哪些已连接。展开名称可以看到会写入哪个文件、写入什么：由它启动 Collie，或通过 HTTP 使用自己的令牌；可以复制（“生成令牌并复制”会放入新令牌），也可以像 \`collie connect\`
那样一键写入。“断开连接”恢复原来的文件。下面是客户端的令牌：可以添加（密钥只显示一次）、更新（页面会列出仍使用旧密钥的客户端）或终止。配置档也可以在这里添加、更改和移除，并显示其工具列表的开销。凡是让客户端能看到或做更多的，都要输入名称。

## 审计

“审计”页列出所有调用和更改的[记录](audit.zh-CN.md)，最新的在前。可以按时间、类别、结果、来源、工具或文字筛选；展开一行可以看到参数和结果：⊘ 已拒绝，✗ 失败。页面自己读取的内容默认不显示，可以选择显示。
“记录是否完整？”检查所有链，如有断裂则指出文件、行和记录。符合条件的记录可以下载为 JSON 行，也可附带证明没有缺漏的签名（用 \`collie audit verify --export\` 检查）；两种下载都会被记录。

## 设置

“设置”页有地址、TLS、服务器的视图、防护和通知方式，并注明每一项由哪个文件或参数设定。值有误时，原因显示在该项旁边。这里的一切立即生效。更改地址、端口或证书时，网关先打开新的地址，页面移到那里并保持登录，等正在进行的请求结束后再关闭旧地址；如果无法打开则什么都不变，页面会说明原因。连接到旧地址的程序需要改用新地址。要从一个地址改为同一端口上的所有地址，请同时更换端口。其余设置用 \`collie config\`。

## 诊断

“诊断”页说明哪些问题可能妨碍 Collie 运行以及处理办法：设置、目录、令牌、服务器所需的程序、审计。内容与 \`collie doctor\` 相同，点一下即可重新检查。

## 笔记

“笔记”页按工具所见展示你的笔记：目录树、每个文档以及搜索结果；隐藏的笔记本不会出现。这里不会改动任何内容。文档下方列出工具在其中写过的内容，与现在的内容逐行对比，并有撤销按钮；工具新增的笔记有“移除这篇笔记”，移除也可以撤销。

## 笔记本

“笔记本”页设定工具在每个笔记本里可以做什么：隐藏、读、写、删除。减少权限立即生效；要允许更多，需输入笔记本的名称。
下面列出工具最近写过的内容、各改了什么，以及撤销的按钮。

“笔记在哪里”列出到思源的连接：地址、工作空间、版本以及能否连接。连接思源时输入令牌，它作为密钥保存，从不显示；思源回答之后才会保存。可以在这些连接和内置笔记库之间选择，立即生效；未选中的仍然保留。

## 智能体

“智能体”页列出你的[智能体、上下文条目和技能](agents.zh-CN.md)，以及哪个文件哪里有误。可以在这里编写、修改和删除，并试一试一段文字会引入哪些条目：其中的关键词会标出。你为笔记定的规则和模型对笔记的记忆也在这里。

## 模型、许可与用量

“模型”列出模型提供方及其密钥和各密钥的状况：可以测试、停用密钥，或添加提供方。“许可”列出你允许了不止一次的操作，可以收回；也列出已登录的浏览器及其地址、首次和最近使用的时间。“用量”按日期、模型和智能体显示词元与费用。

## 帮助

“帮助”页包含与所运行版本一致的这些指南和参考，可按词查找章节，不需要连接外网。

## 小狗

每个页面上的小狗显示正在进行的调用，无论来自模型、客户端还是你自己：它在读取、写入、移动或删除，并带有工具的图标；勾或叉表示结果。有事等你回答时它显示感叹号，点击即到达该问题。其余时候点击可看它的所得：每次成功的调用得一枚硬币，硬币可买食物。可以拖动它，或用方向键移动；\`×\` 将它隐藏，“小狗”页可让它回来，并展示它的所有状态。

## 手机或另一台机器

其他机器能够访问时，“许可”页有“让手机登录”；不能访问时，页面说明该设置什么。在两分钟内扫描显示的二维码。\`collie open --phone\` 在终端显示同样的二维码。手机与其他浏览器一样保持登录，
并列在已登录的浏览器中，可在那里退出。

从其他机器登录必须使用 TLS。可以由前置代理（如 Caddy、nginx 或你网络中已有的代理）持有证书。写明它的地址，以及它从哪个地址发来请求：

\`\`\`json
{"http": {"publicURL": "https://collie.example.org", "trustedProxies": ["127.0.0.1"]}}
\`\`\`

代理必须原样传递 \`Host\`，并设置 \`X-Forwarded-For\` 和 \`X-Forwarded-Proto\`；Caddy 的 \`reverse_proxy\` 会自动这样做。其他来源的这些头不会被采信。
两项设置立即生效，也可在“设置”页修改。

也可以由网关持有证书：\`collie serve --http 0.0.0.0:7420 --tls-cert … --tls-key …\`，并把打开时所用的名称写入
\`http.allowedHosts\`。浏览器只在打开时所用的地址登录：\`localhost\` 和 \`127.0.0.1\` 是两个地址。
`,"../../../docs/guide/panel.zh-CN.md":`# 思源窗口中的 Collie

[English](panel.md)

\`\`\`sh
collie siyuan panel install                    # 把一个小插件放入工作空间
collie config set siyuan.mascot.sync true      # 让那里的小狗看到调用
collie open --show                             # 登录该窗口用的链接
collie siyuan panel remove                     # 全部移除
\`\`\`

运行第一条命令后，请重新加载思源窗口。思源只有在你于“设置 - 集市”中信任插件后才会加载插件；尚未信任时 \`install\` 会提示。之后侧栏“Collie”有三个[页面](pages.zh-CN.md)：
工具及其开关、笔记本及其权限级别，以及设置，语言和主题与窗口一致。第一次使用时它要求一个链接：在终端运行 \`collie open --show\`，把链接粘贴到框架中。最后一次使用后
三十天内窗口保持登录；\`collie open --list\` 会列出它。

\`install\` 列出写入的每个文件，不重写已经正确的文件，并更新旧的面板。若该位置是别人的插件，则保持不变。安装时思源必须正在运行；内置笔记库没有窗口。

## 它在那里能做什么

思源的所有插件和主题都在同一个窗口中运行，可能在框架上覆盖别的内容。因此面板中点击能做的事很少：开关工具和操作、设置权限级别，以及 \`context\` 的设置。启用有危险的操作
或提高级别需要输入名称。问题只在那里计数，请在浏览器中或用 \`collie confirm\` 回答。

只有该窗口的来源可以显示面板：\`install\` 把它加入设置 \`web.frameOrigins\`，\`remove\` 把它去掉。正在运行的网关会立即采用。

## 地址

浏览器只在两个地址的协议和主机相同时才在框架中保持登录，端口可以不同。在同一台机器上，\`127.0.0.1\` 和 \`localhost\` 都符合；请用 \`install\` 所列的地址打开思源。
在有域名的服务器上，两者位于同一域名下即可：

\`\`\`sh
collie siyuan panel install --origin https://siyuan.example.org --address https://collie.example.org
\`\`\`

## 小狗

它位于窗口上方，显示笔记工具的调用：读取、写入、移动或删除；有调用等待你时，它会提示。可以拖动它，或用方向键移动。在侧栏下方可以隐藏它，“查看：……”是它的测试模式：
无需调用即可查看每种状态。

## 运行过什么

安装的插件已在 Chromium 中运行：窗口提供插件所用的那部分思源插件接口，背后是按真实内核录制结果应答的测试内核，包括侧栏、级别、小狗和其他来源的框架。
思源自己的窗口还没有与它一起运行过，因为没有可随测试安装的软件包；对那个窗口只按 npm 包 \`siyuan\` 的类型构建过。
`,"../../../docs/guide/providers.zh-CN.md":'# 模型提供商及其密钥\n\n[English](providers.md)\n\n```sh\ncollie provider import                               # 取用其他程序已有的：密钥，以及本机的模型服务器\ncollie provider add openai                           # 询问密钥，先尝试，再保存为密钥项\ncollie provider add ollama --model qwen3:8b --context 16384\ncollie provider list --models                        # 它们提供什么：上下文、工具、价格\ncollie config set agent.model openai/gpt-5           # 未指定模型时使用的模型\ncollie keys add openai --label spare --weight 2      # 第二个密钥，分担请求\ncollie keys list                                     # 密钥的状态及原因\n```\n\n## 添加\n\n内置名称有：openai、anthropic、gemini、openrouter、deepseek、mistral、groq、xai、moonshot、zhipu、dashscope、siliconflow，以及本机的\nollama、lmstudio 和 llamacpp。其他提供商使用五种 API 之一，多数是 OpenAI 的：\n\n```sh\ncollie provider add work --kind openai --url https://llm.example.org/v1 < key.txt\n```\n\n密钥从不出现在命令行上：在终端询问，或从 stdin 读取，并保存为[密钥项](sign-in.zh-CN.md)，设置中只有引用。`--secret env:NAME`、\n`--secret file:PATH` 或 `--secret \'${secret:NAME}\'` 让密钥留在原处。保存之前会先向提供商询问模型；`--no-test` 则直接保存。\n\n本机的服务器不需要密钥。请给出模型的上下文长度：服务器会默默截断超出的部分，工具列表也会一起被截断。不能调用工具的模型在每个列表中都标为\n“无工具”，它会在没有工具的情况下回答。\n\n`collie provider import` 查找环境变量（`OPENAI_API_KEY`、`ANTHROPIC_API_KEY`、`GEMINI_API_KEY` 等）、opencode 中的密钥、用 `--env-file`\n指定的 LibreChat `.env`，以及本机常用端口上的服务器。它会显示找到的内容并询问。\n\n## 多个密钥\n\n请求按权重在提供商的各个密钥之间轮流：权重为 5、1、1 时，权重 5 的密钥得到七次中的五次。只要密钥可用，一个对话就一直使用它，从而命中提供商的\n提示缓存。`--weight 0` 让密钥逐渐停用：已使用它的对话继续使用，新的对话不再分配。`--models \'gpt-*\'` 让密钥只用于部分模型。\n\n请求失败时：\n\n| 提供商的应答 | 该密钥 | 该请求 |\n|---|---|---|\n| 请求过多（429）、过载（529） | 冷却 60 秒，每次加倍，最长 15 分钟，且不短于提供商要求的时间 | 换下一个密钥 |\n| 余额用尽（402 等） | exhausted：1 小时后、6 小时后、之后每天再试 | 下一个密钥 |\n| 密钥错误（401） | invalid，直到换成另一个；密钥项会重新读取一次 | 下一个密钥 |\n| 不允许（403）、没有该模型 | 该模型停用 10 分钟；三个模型之后为 invalid | 下一个密钥 |\n| 服务器自身故障（500 到 504）、无法连接 | 不变 | 0.5 秒和 2 秒后各重试一次，然后用备用模型 |\n| 请求本身有误（400、413、422） | 不变 | 结束 |\n\n十秒内有两个密钥过载，说明是提供商过载：此时密钥不冷却，请求等待 1、2、4、8 秒。一次请求最多尝试五个密钥。没有可用密钥时最多等待 20 秒，然后\n使用 `agent.fallbackModels` 中的模型。一旦显示了回答的任何文字或调用，就不再重试：已有的内容保留。\n\n`collie keys test openai main` 尝试一个密钥，`collie keys reset openai main` 清除密钥停用的原因。\n\n## 设置\n\n运行中的网关会直接采用这些设置。\n\n```jsonc\n{\n  "providers": {\n    "openai": {\n      "kind": "openai",\n      "keys": [\n        { "label": "main", "secret": "${secret:provider_openai_main}", "weight": 5 },\n        { "label": "spare", "secret": "env:OPENAI_SPARE", "models": ["gpt-*"] }\n      ]\n    },\n    "ollama": { "kind": "ollama", "baseURL": "http://127.0.0.1:11434" }\n  },\n  "models": { "ollama/qwen3:8b": { "context": 16384 } },\n  "agent": { "model": "openai/gpt-5", "fallbackModels": ["ollama/qwen3:8b"] }\n}\n```\n\n| 设置 | 含义 | 默认值 |\n|---|---|---|\n| `providers.NAME.kind` | API：`openai`（chat completions）、`responses`、`anthropic`、`gemini`、`ollama` | 必填 |\n| `providers.NAME.baseURL` | 地址 | 该 API 厂商的地址 |\n| `providers.NAME.headers` | 每个请求的标头；值可以是 `${NAME}` 和 `${secret:NAME}` | 无 |\n| `providers.NAME.keys[].label` | 密钥的名称 | 必填 |\n| `providers.NAME.keys[].secret` | `${secret:NAME}`、`env:NAME`、`file:PATH`，或密钥本身（从不显示） | 必填 |\n| `providers.NAME.keys[].weight` | 份额，0 到 1000 | 1 |\n| `providers.NAME.keys[].models` | 适用模型的模式 | 全部 |\n| `providers.NAME.keys[].enabled` | 是否使用 | true |\n| `models.MODEL`、`models.PROVIDER/MODEL` | 模型的信息：`context`、`output`（token）、`tools`、`images`、`reasoning`、`price.input`、`price.cachedInput`、`price.output`（每百万 token 的美元价格） | 程序内的表；未知模型为 32,768 token，没有价格 |\n| `agent.model`、`agent.fallbackModels` | `PROVIDER/MODEL`，或在归属明确时只写 `MODEL` | 无 |\n| `agent.provider` | 未写明提供商的模型属于哪个提供商 | 唯一的那个 |\n| `agent.engine` | `auto`、`chat`（无工具）、`react`（有工具）或 `direct`（命令） | `auto` |\n| `agent.systemPrompt`、`agent.temperature`、`agent.maxOutputTokens`、`agent.reasoning` | 询问模型的参数；reasoning 为 `off`、`low`、`medium` 或 `high` | 提供商的默认值 |\n| `agent.tools`、`agent.denyTools`、`agent.profile` | 模型看到哪些工具 | profile 的全部 |\n| `agent.maxSteps`、`agent.maxTurnSeconds` | 一轮最多进行多久 | 25、900 |\n| `agent.resultLimit` | 模型看到的一个结果的字节数 | 64 KiB |\n| `agent.contextPolicy` | 对话过长时 `compact`、`truncate` 或 `fail` | `compact` |\n| `agent.busyPolicy` | 已有一轮在进行时 `queue`、`reject` 或 `steer` | `queue` |\n| `agent.language` | 回答的语言 | 与提问相同 |\n',"../../../docs/guide/remote.zh-CN.md":`# 在外面：让其他机器使用同一个网关

[English](remote.md) · [谁可以进来](servers.zh-CN.md#谁可以进来) · [浏览器页面](pages.zh-CN.md) · [笔记库](vault.zh-CN.md)

Collie 只在 127.0.0.1 上监听，除非你另有设置。从其他机器访问它的方式，由简到繁：

| 方式 | HTTP 客户端 | 浏览器页面 | 需要 |
|---|---|---|---|
| 隧道 | 可以 | 可以，与在本机相同 | SSH |
| 网关自己的证书 | 可以 | 可以 | 域名及其证书 |
| 由代理终止 TLS | 可以 | 可以 | 域名和代理 |

一个网关属于一个人。持有第一个令牌的人可以调用所有工具；给其他机器[各自的令牌](servers.zh-CN.md#谁可以进来)，限定 profile，并可逐个撤销。

## 家用服务器

用专门的账号或你自己的账号安装网关，并让系统运行它：

\`\`\`sh
collie service install
loginctl enable-linger      # Linux：无人登录时也运行
collie token add laptop --profile work
\`\`\`

## 隧道

\`\`\`sh
ssh -N -L 7420:127.0.0.1:7420 home.example.org
\`\`\`

在另一台机器上，\`http://127.0.0.1:7420/mcp\` 就是家里的网关，使用你创建的令牌。要打开页面，在服务器上运行 \`collie open\`：没有浏览器时，
它会在终端显示链接；隧道两端端口相同，链接在另一端同样可用。其他隧道（例如 WireGuard）给出的是内网地址，见下一节。

## 网关自己的证书

\`\`\`sh
collie serve --http 0.0.0.0:7420 --tls-cert fullchain.pem --tls-key privkey.pem
\`\`\`

并在设置中写上域名：

\`\`\`jsonc
{
  "http": {
    "allowedHosts": ["notes.example.org"],
    "allowedOrigins": ["https://notes.example.org:7420"]
  }
}
\`\`\`

Host 不符的请求会以 403 拒绝，别人的网页因此无法借自己的域名访问网关。

## 代理

网关仍在 127.0.0.1 上。代理要原样转发 Host，说明请求来自谁、是否经过 TLS，不缓冲应答（应答是流），并允许连接在一次调用的时间内保持安静。

设置：

\`\`\`jsonc
{
  "http": {
    "publicURL": "https://notes.example.org",
    "trustedProxies": ["127.0.0.1"]
  }
}
\`\`\`

Caddy：

\`\`\`
notes.example.org {
	reverse_proxy 127.0.0.1:7420 {
		flush_interval -1
	}
}
\`\`\`

nginx：

\`\`\`
server {
	listen 443 ssl;
	server_name notes.example.org;
	ssl_certificate     /etc/ssl/notes/fullchain.pem;
	ssl_certificate_key /etc/ssl/notes/privkey.pem;
	location / {
		proxy_pass http://127.0.0.1:7420;
		proxy_http_version 1.1;
		proxy_set_header Host $host;
		proxy_set_header X-Forwarded-For $remote_addr;
		proxy_set_header X-Forwarded-Proto $scheme;
		proxy_buffering off;
		proxy_read_timeout 15m;
		client_max_body_size 16m;
	}
}
\`\`\`

两项设置立即生效。之后 \`collie open --phone\` 会为别处的浏览器显示指向 \`https://notes.example.org/pages/\` 的链接。代理在另一台机器上时，\`trustedProxies\`
写它的地址，网关也要在代理能访问的地址上监听。Caddy 会自己设置 \`X-Forwarded-For\` 和 \`X-Forwarded-Proto\`。两者都要保留：带有它们的请求不算本机请求，
经代理来的人无法像坐在本机前那样登录页面。

Caddy 2.6 和 nginx 1.22 已按所示配置运行，只换了端口和测试用的证书：登录、事件流、报告进度的调用。

## 多个人

每人一个网关：在服务器上各有账号，或各有主目录、端口，以及代理中的域名。

\`\`\`sh
collie serve --home /srv/collie/ada --http 127.0.0.1:7421
collie serve --home /srv/collie/lin --http 127.0.0.1:7422
\`\`\`

笔记、密钥、令牌、会话和调用记录都在主目录里，该文件夹只属于其主人。profile 用于你自己的另一个客户端，而不是另一个人：持有第一个令牌的人能看到一切。

## 备份与恢复

属于你的一切都在主目录里，网关运行时[一条命令](backup.zh-CN.md)就能全部复制：

\`\`\`sh
collie backup ~/Backups/monday
\`\`\`

不加 \`--with-secrets\` 就不包含密钥；系统钥匙串中的密钥不在任何备份里：用 \`collie secret set\` 重新设置。恢复时先停止网关，然后运行
\`collie restore ~/Backups/monday\`。
`,"../../../docs/guide/servers.zh-CN.md":'# 你的服务器：何时运行，不运行时怎么办\n\n[English](servers.md)（更完整） · [思源笔记](notes.zh-CN.md) · [登录与密钥](sign-in.zh-CN.md) · [导入](import.zh-CN.md) · [工具缓存](tool-cache.zh-CN.md)\n\n- 服务器第一次启动之后，它的工具就记下来了。以后网关一启动就列出它们；有人调用时，服务器才启动。`collie mcp add`、`mcp import`\n  和 `connect` 会先启动一次来了解工具（包也在这时下载），客户端就不用等；`--no-warm` 把这件事留给网关。\n- 第一次调用只等服务器启动和工具列表；资源和提示随后才取，其中一个不回答，就保留以前知道的。\n- 十分钟没有人用，它就停止；它崩溃了会再次启动，间隔逐次加长。\n- 命令找不到设置相同的网关时，自己启动需要的服务器，得到答复后就结束它：输入结束后等四分之一秒，SIGTERM 之后再等四分之三秒。\n  如果有设置不同的网关在运行，`mcp list`、`tools` 和 `connect` 会指出来。\n- 用命令作的改动，在命令结束时就已经在运行的网关里生效。\n- `collie mcp list` 说明每个服务器在做什么、为什么；`collie mcp doctor NAME` 找出哪里出了问题。\n\n`LIST` 一列说明工具列表从哪里来：`live` 来自正在运行的服务器；`hit` 来自缓存，是近期的；`stale` 来自缓存，超过一天，或者命令背后\n的程序已经换了，下次启动时核实。\n\n## 状态\n\n| 状态 | 意思 | 怎么办 |\n|---|---|---|\n| `idle` | 没有运行，用到时启动 | 不用管 |\n| `starting` | 正在启动；npx、uvx 之类可能在下载 | 等待；`collie mcp logs NAME -f` |\n| `ready` | 正在运行 | 不用管 |\n| `degraded` | 在运行，但不回应 ping | 等待；一直如此就会重新连接 |\n| `backoff` | 失败了，到 RETRY 所示的时间再试 | 看 REASON；`collie mcp restart NAME` 立即再试 |\n| `open` | 多次失败：到 RETRY 之前，调用立即被拒绝 | 同上 |\n| `needs_auth` | 要知道是谁在访问 | `collie mcp auth NAME`，或者改正令牌 |\n| `failed` | 不改就不可能工作 | 看 REASON 并改正；设置改了会自动生效 |\n| `config_error` | 它的配置有错 | `collie mcp validate` 指出行和列 |\n| `disabled` | 被关闭，或者还没有被信任 | `collie mcp enable NAME`，`collie mcp trust` |\n| `stopping`、`stopped` | 正在停止；网关结束 | 不用管 |\n\n一个服务器出问题，不影响别的服务器，也不妨碍网关启动。原因代码的完整列表见[英文版](servers.md#reasons)。\n\n## 查找服务器\n\n```console\n$ collie mcp search weather\n$ collie mcp add io.github.example/weather\n```\n\n`collie mcp search WORDS` 在官方 MCP 注册表中查找名称含有 WORDS 的服务器。把这样的名称交给 `collie mcp add`，它会显示将运行什么或访问哪里，\n询问服务器需要的内容，你同意后才添加。除此之外从不访问注册表。\n\n- 版本是固定的：npm 用 `npx -y NAME@VERSION`，PyPI 用 `uvx NAME==VERSION`，镜像用 `docker run -i --rm IMAGE`，否则是 URL。`NAME@VERSION`\n  选用其他版本，`--package npm|pypi|oci|remote` 选用其他方式；不指定时采用第一个本机有相应程序的软件包。条目用 `registry` 记下来源，\n  `collie mcp list NAME` 会显示。\n- 密钥存入[密钥库](sign-in.zh-CN.md)，条目中写作 `${secret:NAME}`。无人可问时，用 `--env`、`--header` 和 `--input NAME=VALUE` 给出，用 `--yes` 同意。\n- 没有人核实注册表里的发布者。Collie 只接受软件包的名称和确切版本、参数与变量，不接受会让外围程序做别的事的内容：其他软件源、\n  你没有指定的本机文件夹挂进容器、`NODE_OPTIONS` 之类的变量、内网地址。这些文本中的 `${…}` 只是文字。被拒绝的内容会说明；如果信任它，可手动添加。\n- 换用 API 相同的其他注册表（例如公司的）：`collie config set mcp.registry https://…`。不在本机时必须用 https，且不得重定向到其他主机。\n\n## 设置\n\n| `lifecycle` | 何时启动 | 空闲时停止 |\n|---|---|---|\n| `auto`（默认） | 启动一次以了解工具，之后用到才启动 | 是 |\n| `lazy` | 同上；`cache.warmup` 为 `off` 时连第一次也不启动 | 是 |\n| `eager` | 随网关启动 | 否 |\n| `keepalive` | 随网关启动；设了 `health.ping` 时，stdio 也会被 ping | 否 |\n\n默认值：`idleTimeout` 10m（0 表示永不停止）；`startTimeout` 60s，npx、uvx、docker 等 180s；`restart`\n`{ "max": 5, "window": "10m", "base": "1s", "cap": "5m" }`；`health` 对有 `url` 的服务器为 `{ "ping": "30s", "failures": 3 }`；\n`isolation` 为 `shared`，写 `session` 则每个客户端会话有自己的进程，第一个会话得到了解工具时的那一个。两个客户端同时使用一个会经 stdio 反问的服务器时也需要 `session`：共用的\n进程不说明它在替谁的调用提问，这样的问题会被拒绝。\n\n客户端的 roots（它向服务器开放的目录）这样到达服务器：在一次调用之中，服务器得到调用者的 roots。多数服务器在启动时就询问，这时写了\n`"isolation": "session"` 的服务器得到它那个会话的；共用的服务器只在恰好有一个客户端连接时得到它的，否则得到空列表；情况变化时服务器会得到\n通知。在配置里写 `"roots": ["~/work"]`，则对所有客户端都用这些目录。\n\nMCP 没有规定的消息双向都能通过，条件是客户端的 profile 只有一个服务器，或者消息指明了正在进行的调用。只能作为任务运行的工具\n（`taskSupport: required`）不能经 Collie 调用，因此关闭；`collie tools NAME` 和 `mcp doctor NAME` 会说明。\n\n调用之前，参数要与工具的 schema 核对，只拒绝不可能有意为之的：可以省略的参数写成 null，把数字、布尔值、对象或列表写成文字，以及有默认值\n而没有给出的参数，都原样交给服务器。`"validate": "off"` 则一概不核对。\n\n失败之后，大约过 1、2、4、8……秒再试，最长 5 分钟。十分钟内失败五次，熔断器打开：调用立即被拒绝，并说明何时再试。只要服务器回答过\n一次调用，或者正常运行了一分钟，此前的失败就不再计算：偶尔被杀掉的服务器总会重新启动，每次调用都崩溃的五次之后就被拒绝。\n\n## 命令\n\n```sh\ncollie mcp list                  # 全部服务器；mcp list NAME 显示一个的全部情况，--json 供程序使用\ncollie mcp logs NAME -f          # 它写到 stderr 的内容，边写边看；--since 10m，--stream stderr，-n 20\ncollie mcp doctor NAME           # 一步一步地试；不打扰正在运行的网关\ncollie mcp restart NAME          # 停止，等调用结束，再启动；此前的失败一笔勾销\ncollie mcp refresh NAME          # 向服务器本身要列表\ncollie mcp disable NAME          # 关闭；enable 再打开\ncollie mcp rename OLD NEW        # 已知的一切跟着走，不必启动\ncollie mcp approve NAME          # 工具定义变了：显示差别并询问\n```\n\n`doctor` 的 `model APIs` 一步列出模型接口（OpenAI、Anthropic、Gemini 等）会拒绝的工具和超出的限制；Collie 原样转发，用 `grouped` 或 `search` 视图就没有问题。\n\n网关运行时，保存设置文件就会生效：新的服务器启动，去掉的或变成另一个的停止，其余不受打扰。文件有错时一切照旧，日志会指出位置。`http`（`elicitationConfirms` 除外）、\n`cache`、`audit`、`log`、`secrets`、`analytics`、`telemetry` 和 `mcp`（`enabled` 除外）要到下次启动才生效。\n\n日志在 `<state>/logs/mcp/NAME.log`，配置里的密钥会被涂掉。\n\n工具的定义在第一次看到时被固定。服务器改了定义之后会怎样，由 `trust` 决定：`warn`（默认）立即让客户端看到新的定义，只在日志和 `mcp list` 里提示；\n`pin` 在 `collie mcp approve` 之前隐藏这个工具；`off` 只作记录。不清楚服务器由谁维护时，请写 `"trust": "pin"`。\n\n`siyuan.enabled` 不为 false 时，`collie`、`siyuan` 和[笔记工具](notes.zh-CN.md)的名称（`fs`、`notebook`、`search` 等）不能用作服务器的名称：`mcp add` 和\n`mcp rename` 会拒绝，`mcp import` 会另起一个，设置里已有的成为 `config_error`，不会启动，直到 `collie mcp rename NAME NEW`。\n\n服务器可以提供任何 URI 的资源，包括看起来属于别人的，例如 `siyuan://…`；列出同一 URI 的，设置里靠前的优先，我们自己的最先。服务器的定义原样保存在只有你能读的\n文件里（工具缓存、它的备份和固定记录）：设置里的密钥不会进去，但服务器自己写进描述里的会。\n\n`collie connect CLIENT` 把 `collie stdio` 写进客户端。同一目录下的 `collie serve` 在运行、设置又相同时，这样的客户端共用它的\n服务器：三个客户端，每个服务器一个进程。`collie service install` 让系统保持 `serve` 运行（`--print` 只显示要写的文件）。\n升级后，命令会指出仍在运行的旧版本网关；`collie service restart` 在同一地址换上新版本，`collie stdio` 上的客户端继续工作。在 Windows 上需要已安装的服务。\n\n## 工具多而列表小\n\n客户端列出的东西，模型每一轮都要读。服务器条目或 profile 中的 `"view"` 决定它的工具怎样列出：\n\n| `view` | 列表中 | 怎样调用 |\n|---|---|---|\n| `flat`（默认） | 每个工具，原样 | 直接 |\n| `grouped` | 每个服务器一个工具，每个操作一行 | 直接，或先看它的 `help` |\n| `search` | 所有这样显示的服务器共三个工具：`collie_find`、`collie_describe`、`collie_call` | 先问 `collie_find` |\n\n[模型看到什么](context.zh-CN.md) 说明各种视图的代价和选法。`collie tools --size` 给出每一种的大小。`grouped` 约为 `flat` 的十分之一；`search` 最多 2 KiB 加每个服务器 32 字节，每次调用要多一两轮。几十个\n工具以内用 `flat` 或 `grouped` 更好；几百个很少用到的工具适合 `search`。`collie_find` 按词排序：英文的词最容易找到，正确的工具大约五次中有四次\n排在前五。在条目里写明服务器的用途，模型会看：\n\n```json\n"linear": {"url": "https://mcp.linear.app/mcp", "view": "search", "about": "我们的缺陷和计划"}\n```\n\n`"context": {"view": "auto"}` 为条目和 profile 都没有指定视图的服务器选择视图，使所有服务器在列表中合计不超过 `context.budget` 字节（默认\n`"16KiB"`）：放得下就平铺，否则从最大的服务器开始分组，还放不下的用搜索。笔记工具保持分组，不计入。服务器保持已选的视图，因为客户端和模型\n提供方的缓存不喜欢变化的列表；新服务器使用剩下的预算。`collie tools --size` 显示每个视图及其原因，`collie tools --rebalance` 全部重新选择，修改\n预算也会。列表中的形式改变后，原来的名称仍可调用，日志会写明改变了什么。选择保存在 `<state>/views.json`。\n\n```json\n"context": {"view": "auto", "budget": "32KiB"},\n"profiles": {"small": {"view": "auto", "budget": "8KiB"}, "all": {"view": "flat"}}\n```\n\nprofile 的视图优先于条目的，条目的优先于 `context.view`；profile 中的 `auto` 为没有指定视图的服务器选择。`collie stdio --profile small` 和\n`/mcp?profile=small` 使用一个 profile。\n\n`"tools": {"override": {"x": {"alias": "y", "description": "…"}}}` 给工具换一个名称或描述，客户端立即看到。`x` 仍可调用；固定的定义、风险以及 profile 和防护的规则仍以服务器自己的为准。\n\n## 谁可以进来\n\n`collie serve` 创建第一个令牌，在状态文件夹的 `token` 文件里。拿着它的人可以用任意 profile 看到和调用一切。\n`collie token add NAME` 为应该少看一些、或者将来要拒之门外的客户端或人创建令牌：\n\n```sh\ncollie token add laptop --profile work      # 只能看到和调用 profile work 显示的内容\ncollie token add phone --scope chat,approve # 不能打开 /mcp\ncollie token list\ncollie token rotate laptop                  # 换一个新的值，旧的失效\ncollie token revoke laptop\n```\n\n令牌只显示一次，标准输出上只有它；状态文件夹里的 `tokens.json`（模式 0600）只有摘要。吊销的令牌一秒之内在此主目录的所有进程里得到 401，\n它打开的会话和流都会结束。别人可以读写的、或损坏的 `tokens.json` 不让任何人进来；第一个令牌照常工作，`collie doctor` 说明哪里不对。\n\n| | 第一个令牌 | 具名，带 `--profile P` | 具名，不带 |\n|---|---|---|---|\n| `?profile=` | 任意 | 只有 `P`，其他是 403 | 任意 |\n| `/mcp`、`/api/v1/calls`、`/api/v1/tools`、`/api/v1/lists` | 可以 | 有 `tools` 范围时（默认） | 有 `tools` 范围时 |\n| 对话：`/api/v1/sessions` 及其所属内容 | 不可以 | 有 `chat` 范围时，只有 `P` 的对话 | 有 `chat` 范围时 |\n| `/metrics` | 可以 | 不可以 | 不可以 |\n| 服务器、设置、工具缓存 | 不可以：只有命令行 | 不可以 | 不可以 |\n\n**对不带 `--profile` 的令牌，`?profile=` 不是边界**：它的客户端可以选择任意 profile，也可以不选。绑定的令牌始终只用它的 profile，即使设置里已经没有这个\nprofile：那时它什么也看不到。profile 不显示某个服务器的任何工具时，也不显示它的资源、提示词、日志和说明。`approve` 范围目前还不开放任何东西。\n\n`collie connect cursor --http --profile work` 为该客户端创建令牌，连同网关的地址写进它的文件，此后其他人不能读取该文件；`--token-env COLLIE_TOKEN` 则写入\n对该变量的引用（客户端支持时），并把令牌显示一次。再次运行会换一个新的令牌；`collie connect cursor --remove` 吊销它。\n\n`--elicitation-confirms=false` 为一个令牌单独决定 `http.elicitationConfirms`。审计写明是谁调用的：`"principal": "token/laptop"`。\n设置了 `http.noAuth` 时，本机上的任何程序都能进来，令牌不限制任何人。\n\n## 读得慢的客户端\n\n客户端读得多慢都可以：结果会等它；日志消息最多等 8 MiB，超出的部分用一条消息告诉它漏了多少条。一分钟内什么都不读的客户端会被断开，并在日志里\n留下一行。走 HTTP 时，断线的客户端还能回来取的内容放在内存里，保留一分钟，所有客户端合计不超过 `http.resumeBytes`（默认\n`{"http": {"resumeBytes": "64MiB"}}`）。读不懂的结果（例如含有 `NaN`）会让那次调用立刻失败。重定向只在 `url` 所在的主机之内跟随。\n共用的网关一去不回时，客户端改用自己的网关，直到重新启动；它不会自己回去，因为那样会丢掉服务器里的状态。\n',"../../../docs/guide/sign-in.zh-CN.md":'# 密钥，以及登录远程服务器\n\n[English](sign-in.md) · [你的服务器](servers.zh-CN.md) · [导入](import.zh-CN.md)\n\n## 密钥\n\n设置里的密钥只是一个名称：`${secret:NAME}`。\n\n```sh\ncollie secret set GITHUB_TOKEN                        # 询问，输入时不显示\npass show github | collie secret set GITHUB_TOKEN     # 或者从 stdin 读取；从不写在命令行上\ncollie secret list                                    # 只列名称\ncollie secret remove GITHUB_TOKEN\n```\n\n```jsonc\n"github": {\n  "url": "https://api.githubcopilot.com/mcp/",\n  "headers": { "Authorization": "Bearer ${secret:GITHUB_TOKEN}" }\n}\n```\n\n密钥保存在系统的密钥环里。没有密钥环时（服务器、容器、SSH 会话），保存在 `<state>/secrets.age`，用 `<state>/secrets.key` 里的密钥\n加密。第一个密钥决定用哪一种，以后不变：密钥环后来锁住了，那是错误，不会另建一处存储。`collie config set secrets.store file`\n（或 `keyring`）可以手动选择。\n\n加密文件只在其中一个文件被复制或备份出去时有保护作用：两个都读得到的人就得到了密钥。请分开备份；删除 `secrets.age` 就是重新开始。\n\nVS Code 文件里的 `${input:api-key}` 是名为 `input:api-key` 的密钥，没有的话就是变量 `COLLIE_INPUT_API_KEY`。\n两者都没有、也没有默认值时，在终端里自己启动该服务器的命令会询问，并把回答存为这个密钥。`${NAME}` 和\n`${NAME:-text}` 取自环境变量。名称没有值时，服务器成为 `config_error`，占位符绝不会发出去。条目里写成明文的令牌会有警告。\n\n## 用 OAuth 登录\n\n回答 401 的服务器是 `needs_auth`。已知的工具仍会列出；调用会被拒绝，并说明该怎么办：\n\n```console\n$ collie call web search\n✗ [auth_required] call web: the server requires authentication\n  Hint: collie mcp auth web signs you in\n$ collie mcp auth web\nA browser was asked to open this page:\n  …\nsigned in to web\n```\n\n通常不需要别的：Collie 找到授权服务器，自己注册，并经 127.0.0.1 返回。正在运行的网关马上使用这次登录，以后由它刷新令牌。令牌的保存方式\n与密钥相同，但不列在密钥里。`collie mcp auth web --scope SCOPE` 请求更多权限。\n\n**浏览器在另一台机器上**时，它最后会停在一个打不开的 127.0.0.1 页面。那个页面的地址就是答案：在命令询问时粘贴，或者在 15 分钟之内\n用第二次运行完成登录：\n\n```sh\ncollie mcp auth web --no-browser          # 只显示地址\ncollie mcp auth web --code \'http://127.0.0.1:45319/callback?code=…&state=…\'\n```\n\n**不接受自动注册的服务器**要用你事先手动注册的客户端：\n\n```jsonc\n"web": {\n  "url": "https://mcp.example.org/mcp",\n  "auth": { "type": "oauth", "clientId": "…", "clientSecret": "${secret:WEB}", "redirectPort": 8765 }\n}\n```\n\n没有写时，`mcp auth` 会显示要注册的重定向 URI，并询问 id。\n\n**描述自己的客户端。** 许多授权服务器接受一份文档的地址作为客户端 id，这样就不需要注册。用 `https` 发布一次这样的文档，并写出它的地址：\n\n```jsonc\n"auth": { "clientMetadataUrl": "https://example.org/collie.json" }\n```\n\n```json\n{\n  "client_id": "https://example.org/collie.json",\n  "client_name": "Collie of Example Inc.",\n  "redirect_uris": ["http://127.0.0.1/callback"],\n  "grant_types": ["authorization_code", "refresh_token"],\n  "token_endpoint_auth_method": "none"\n}\n```\n\n遵循 RFC 8252 的服务器接受 127.0.0.1 的任何端口；对其他服务器请设置 `redirectPort`，并把端口写进文档。服务器不读这样的文档时，\nCollie 照常自己注册。写了 `clientId` 时以它为准。\n\n**完全没有人。** 为自己工作的客户端，例如夜间任务：\n\n```jsonc\n"web": {\n  "url": "https://mcp.example.org/mcp",\n  "auth": { "grantType": "client_credentials", "clientId": "…", "clientSecret": "${secret:WEB}", "scopes": ["read"] }\n}\n```\n\n没有什么要登录的：服务器第一次要求时，网关取得令牌，到期后再取新的。`collie mcp auth web` 只是试一试能否成功。`scopes` 可以不写；\n某次调用需要的权限超出令牌时，网关会为此再请求一次。客户端被拒绝时，服务器成为 `needs_auth`，并附上授权服务器的说法。\n\n**退出登录**：`collie mcp logout web` 在服务器允许时吊销令牌，并把它们忘掉。\n\n**其他方式。** 条目里有 `Authorization` 头或另一种 `auth` 时，不使用 OAuth：\n\n```jsonc\n"auth": { "type": "bearer", "token": "${secret:WEB}" }\n"auth": { "type": "basic", "username": "me", "password": "${secret:WEB}" }\n"auth": { "type": "none" }\n"headersCommand": { "command": "my-token-helper" }     // 输出由请求头组成的 JSON 对象；每次连接运行一次\n```\n\nstdio 服务器不需要登录：它要的东西由 `env` 给出。\n\n**什么发到哪里。** 服务器或它的文档给出的每个地址，使用前都要检查：必须是 `https` 和公网地址，除非服务器本身在你自己的网络里。\n签发者会与第一次找到的比较。每次登录都留下记录：`collie audit query --kind change`。\n',"../../../docs/guide/tool-cache.zh-CN.md":'# 工具缓存：服务器还没启动，工具就已列出\n\n[English](tool-cache.md)（更完整） · [服务器](servers.zh-CN.md) · [导入](import.zh-CN.md)\n\n服务器说过的每一份工具列表都记在一个 JSON 文件里。网关下次启动时，不启动任何服务器就能全部列出。不需要手动预热：\n没有列表的服务器，网关会在后台启动一次来了解。很多客户端只列一次工具，所以一个会话的第一次列表会等这些从没见过的服务器，\n最多五秒（`cache.firstListWait`，`0s` 表示不等）；已经失败的服务器不等。\n\n```sh\ncollie cache path              # 文件在哪里，能不能写\ncollie cache warm              # 每个服务器启动一次，记下工具；退出码 6：部分失败，1：全部失败\ncollie cache show [NAME]       # 记了什么、还能不能用；--json 是文件原文\ncollie cache stats             # 文件的计数；有网关运行时，还有命中、写入与共享的情况\ncollie cache verify [FILE]     # 检查：0 正常，2 有错（给出行和列），1 有警告（--strict）\ncollie cache refresh NAME      # 向服务器重新询问\ncollie cache clear [NAME]      # 忘掉\ncollie cache import FILE       # 接收别的缓存文件，例如 xiaozhi.cache.json\n```\n\n**位置**，按顺序：`COLLIE_CACHE_FILE`；`cache.file`；`collie.json` 旁边的 `collie.cache.json`；那里不能写时，在缓存文件夹里。权限 0600，\n不含任何密钥。\n\n| 结论 | 意思 |\n|---|---|\n| `hit` | 直接列出，不询问任何人 |\n| `stale` | 照样列出，下次启动时核实：超过一天（`maxAge`），或命令背后的程序换了 |\n| `expired` | 超过三十天（`maxStale`），不列出 |\n| `miss` | 没有可用的列表；REASON 说明原因，例如 `no_entry`、`config_changed`、`tampered` |\n\n客户端列出工具时，正在运行的和远程的服务器如果已有五分钟（或服务器自己的 `ttlMs`）没有核实过，会在后台再问一次，有变化就通知客户端；不会为此启动进程，\n总是失败的服务器问得越来越少。\n\n## 出了问题\n\n| 现象 | 怎么办 |\n|---|---|\n| 少了工具 | `collie cache show NAME` 看有没有；没有就 `collie mcp doctor NAME` |\n| 工具是旧的 | `collie cache refresh NAME` |\n| 什么都没写 | `collie cache path` 看 `writable`；`chmod u+w` 之后自动恢复，不用重启 |\n| 文件坏了 | 不用管：网关把它另存为 `.corrupt-时间`，用上一份好的副本，或重新询问服务器；`collie cache verify` 指出哪一行哪一列 |\n| 启动慢 | `collie cache stats` 看 `misses` 和原因 |\n| 写入慢 | 看下面的“写入慢” |\n| 两台机器不共享 | 两边都看 `collie cache stats` 的 `shared`：`dropped` 是密钥不同，`last failure` 说明 NATS 为什么拒绝；再比较 `collie cache show NAME` 的 `config hash` |\n\n**写入慢。** 调用和列表都不等写入：写入在后台进行，超过两秒就放弃。`collie cache stats` 显示写了多久；加 `--log-level info`，\n网关每次写入都会记下服务器数和工具数。\n\n```console\n$ collie cache stats\n…\nwrites                     3, 1 failed (slow 1)\nwriting took               940.2 ms last, 1105.8 ms mean, 2000.9 ms at most\nwaits for the lock         0\n```\n\n1. `waits for the lock` 接近 `writes`：别的网关也在写同一个文件。给每个网关自己的 `cache.file`，再通过[共享](#共享)交换列表。\n2. 不是这样，就是磁盘慢，通常因为主目录在网络盘上。用 `cache.file` 或 `COLLIE_CACHE_FILE` 把文件放到本地磁盘；没有的列表会重新询问，什么都不会丢。\n3. `size` 有很多兆：`collie cache show` 显示每份列表的大小；`"compression": "gzip"` 只写十分之一左右。\n4. 有 `slow`：那次写入被放弃了。列表留在内存里，下次有变化或网关退出时再写。\n\n**一条检查规则。** `collie cache verify` 的每一行末尾是被违反的规则。以 `type`（值的种类或格式不对）为例：有人手工把一份列表的时间改成\n`"lastUpdated": "yesterday"`：\n\n```console\n$ collie cache verify\n~/.config/collie/collie.cache.json /mcpServers/trains/lastUpdated: error: expected a UTC time such as "2026-11-21T02:50:10.123Z", got "yesterday" [type]\n1 error, 0 warnings; format 1.1.0, 2 servers, 3 entries ever written, 12.0 KiB\n$ collie cache show\nNAME    VERDICT  CONFIRMED  TOOLS  SIZE     STATE    ERA     REASON\ntrains  miss     -          0      1.8 KiB  invalid  legacy  invalid\nnotes   hit      0 s        28     9.1 KiB  active   legacy  -\n```\n\n消息里有位置、应该是什么、现在是什么。每一项单独检查：`trains` 当作没有，`notes` 照常使用。不用手工修复：网关下次启动时会重新询问 `trains`，\n或者马上用 `collie cache warm trains`。脚本看退出码 2；`--json` 里有每个问题的 `rule`、`pointer` 和 `message`。\n\n## 共享\n\n1. 生成密钥，放到每台机器上：`openssl rand -hex 32 > shared.key; chmod 600 shared.key`\n2. 运行一个大家都能访问、启用了 JetStream 的 NATS 服务器（2.10 或更新）：`nats-server -js`\n3. 每台机器：`"cache": { "shared": "nats://host:4222", "sharedKeyFile": "/…/shared.key", "sharedIdentity": "portable" }`\n\n地址可以写 `nats://user:password@host:4222`、`nats://token@host:4222`，加密用 `tls://`，集群的几个服务器用逗号分开；末尾的 `/NAME` 是别的存储桶。\n\n早先的版本还能用文件夹、文件或另一个网关共享（`dir:`、`file:`、`http:`、`https:`、`serve`）。现在这些值会被忽略并给出警告，那里的文件不会被改动。不用 NATS\n也可以把另一台机器的缓存文件复制过来，执行 `collie cache import FILE`。\n\n没有用这把密钥签名的列表会被丢弃并计数。\n',"../../../docs/guide/vault.zh-CN.md":'# 笔记库：没有思源也有笔记\n\n[English](vault.md) · [笔记](notes.zh-CN.md) · [全部操作](../reference/siyuan/)\n\n## 概要\n\n- 没有设置思源时，笔记放在内置的笔记库（vault）里：本机上的一个文件，不用任何设置。\n- 工具、权限、危险操作先问人、撤销和记录，都与[笔记指南](notes.zh-CN.md)一样。\n- `collie vault info` 告诉你它在哪里，`collie vault backup` 备份，`collie vault import` 导入。\n\n```console\n$ collie search fulltext 欢迎\n$ collie notebook create --name 读书\n$ collie fs write /读书/三体 --markdown "作者是刘慈欣。"\n$ collie vault info\n```\n\n## 它是什么\n\n笔记库在同一个进程里、不经过网络，回答工具用到的那部分思源 HTTP API：笔记本、文档、块、引用、全文搜索（包括中文）、SQL、数据库、\n闪卡、标签、文件、模板、历史。它是一个只有所有者能读的 SQLite 文件：数据目录里的 `vault.db`，设置 `vault.file` 可以换地方。第一次使用时\n创建，里面有一个小小的欢迎笔记本，语言取自 `LANG`。只是列出工具不算使用，不会创建文件。\n\n多个进程可以同时使用它：网关、`collie stdio`、各个命令。每次写入是一个事务；回答过的内容，进程被杀掉之后仍在。整台机器断电时，最多丢失\n最后一刻。\n\n这里的笔记本一开始就能写（`rw`），与思源的不同；删除文档需要 `rwd`：`collie vault permission set 读书 rwd`。\n\n设置了思源、`vault.enabled` 为 false，或者 `siyuan.enabled` 为 false（关闭全部笔记工具）时，笔记库不提供服务。\n`collie vault info` 会说明是哪一种。\n\n## 备份\n\n```sh\ncollie vault backup                      # 当前目录里的 vault-YYYYMMDD-HHMMSS.db\ncollie vault backup ~/Backups            # 那个目录里的同名文件\ncollie vault backup /mnt/usb/notes.db\n```\n\n网关读写时也可以备份，从不覆盖已有文件。使用中不要直接复制 `vault.db`：最后写入的内容可能还在旁边的 `vault.db-wal` 里。\n\n```sh\ncollie vault check                       # 检查文件里必须成立的一切，有问题时退出码是 1\ncollie vault restore ~/Backups/vault-20261121-185700.db\ncollie vault salvage ~/salvaged          # 把损坏的文件里还能读出的一切写成 Markdown\n```\n\n`restore` 先检查备份，再询问（脚本里用 `--yes`），原来的笔记库留在旁边，名为 `vault-before-….db`。笔记库损坏或丢失时也能用。先停止网关和运行\n`collie stdio` 的程序。\n\n没有备份时，`salvage` 不经过 SQLite，逐页读取损坏的文件，把找到的内容写成 `collie vault import` 能读的导出。缺少的列在表里和 `not-salvaged.txt`\n里；不久前删除的内容可能再次出现。文件本身只读。权限和工具开关也在笔记库里，会随备份一起回到从前。\n\n## 与 Markdown 目录往来\n\n```sh\ncollie vault import ~/Obsidian                       # 成为笔记本 Obsidian\ncollie vault import ~/logseq --notebook 日志\ncollie vault export ~/notes                          # 全部笔记本\ncollie vault export ~/notes 日志 --overwrite         # 更新已有的导出\n```\n\n文件成为文档，文件夹成为带子文档的文档；front matter、页面之间的链接（`[[页面]]`、`[文字](page.md)`）、图片和附件都会带上，Obsidian 和 Logseq\n的写法都认识。带不过来的列在表里：文件、行、原因，最严重的在前，退出码是 6；原来的目录只读不写，什么也不会丢。导入会把写入的内容和读到的逐行\n对照：意思相同、写法不同的行（链接变成引用，`*` 变成 `-`）按种类计数，列在表下；其余每一行不同都在表里。`--json` 给出全部。\n隐藏的文件和文件夹不导入；里面有 Markdown 时，表里会说明。\n\n**再次导入。** 目录还在继续使用时，用同样的命令再导入。改过的文件更新它们的文档；文档保持 ID，没有变的块也保持 ID，引用因此有效。什么都没变时什么也不写。\n\n| | 结果 |\n|---|---|\n| 目录里改了 | 更新文档 |\n| 这里改了 | 保持不变 |\n| 两边都改了 | 保持不变，作为冲突列在表里，退出码是 6；加 `--theirs` 以文件为准，`collie vault undo` 可以撤销 |\n| 这里删除了 | 不再出现，会列出；`--theirs` 带回来 |\n| 目录里没有了 | 文档保留，会列出 |\n| 目录里移动或改名，内容没变 | 文档跟着移动，除非你在这里移动或改名过 |\n\n附件也一样；两边都改过的附件，加 `--theirs` 时放在你的旁边。`--dry-run` 只说会做什么，`--json` 给出每个文件的状态。中断甚至被杀掉的导入，用同样的命令\n继续；同时进行的第二个会等待。目录按位置识别。移走的目录，如果原处已经没有，就按其中的文件识别；原处还在时，`--moved-from DIR` 接着 DIR 的导入继续，\n`--copy` 全部再带入一份。有 ID 的文档（导出的目录、思源的压缩包）按 ID 识别，与位置无关。以前的 Collie 导入的内容：与文件相同的文档就当作它，不同的算冲突。\n\n导出的目录再导入，得到同样的笔记；再导出一次，每个文件逐字节相同。被引用的块才写 ID，加 `--all-ids` 则全部写。目录里有别的文件时不导出；已有的导出\n只有加 `--overwrite` 才会更新。导出是为了能再导回笔记库，哪里都能读，但不是 Obsidian 的库：链接是 `((id \'页面\'))`，标签是 `#标签#`，\n笔记库没有位置的 front matter 键以 `custom-` 开头。\n\n## 一直同步的目录\n\n```sh\ncollie vault sync ~/Obsidian --dry-run               # 会做什么\ncollie vault sync ~/Obsidian                         # 现在同步，之后由 collie serve 继续\ncollie vault sync ~/work --notebook Work --once      # 只同步这一次\ncollie vault sync list\ncollie vault sync stop ~/Obsidian\n```\n\nObsidian 的库或其他 Markdown 目录，与一个笔记本双向保持一致：上次以来一侧的改动会在另一侧执行。目录写入设置 `vault.sync`，`collie serve`\n运行时会一直同步它们；这项设置的改动立即生效。网络驱动器不会通知变化，因此每半分钟查看一次目录。`--once` 不改设置，`--watch` 在这个终端里持续同步，直到 Ctrl-C。\n\n| | 结果 |\n|---|---|\n| 文件或笔记被修改、新增、改名或移动 | 另一侧做同样的事；笔记在这里改名时，文件中指向它的链接随之更新 |\n| 两侧都改过 | 两份都保留：文件不变，笔记的内容放在旁边的 `名称 (conflict).md` 和同名的笔记中 |\n| 一侧删除 | 另一侧也删除，笔记先存入历史；最多十项不询问，而且从不清空一侧 |\n| 超过十项 | 询问终端前的人；否则等待，`collie vault sync list` 会说明，`--allow-deletions N` 会执行 |\n| 一侧删除，另一侧修改 | 改过的内容恢复 |\n| 附件 | 页面链接到的附件双向同步；一侧删除的附件在另一侧保留 |\n\n判断依据是内容，从不是时间：时钟倒退没有影响。只有笔记改过的文件才会被写入，而且没有改过的块的各行逐字节不变。引用写成 `[[链接]]`，标签写成\n`#标签`，被引用的块得到 `^名称`。Obsidian 无法表达的内容（例如块的属性）保持思源的形式 `{: bookmark="x"}`，可以读回。Markdown 完全无法\n表达的内容保留在笔记中，表格会列出，退出码为 6。\n\n隐藏的文件和目录（`.obsidian`、`.git`）以及没有页面链接的文件不受影响。不会跟随符号链接到目录之外。同步被终止后，下次会继续；一个笔记库同时只进行\n一次同步。Logseq 图谱和 Collie 的导出可以导入，但不能同步。笔记本被删除或关闭时同步停止：不会因此删除文件。\n\n`collie vault export --obsidian ~/notes Journal` 把一个笔记本写入供 Obsidian 使用的新目录：`[[链接]]`、`#标签`、块的 `^名称` 和普通的 front matter。\nObsidian 无法表达的内容不写入，并会列出。\n\n## 搬到思源，再搬回来\n\n1. `collie vault export --siyuan notes.sy.zip 日志` 写出一个压缩包。在思源里新建笔记本，右键，导入，SiYuan .sy.zip。\n2. `collie siyuan init` 设置思源，此后工具就在那里工作。它会询问是否带上你在笔记库里做过的决定、而思源没有的部分：权限（按相同的笔记本 ID 或\n   名称）、工具开关、你的规则和记忆（`/USER_RULES.md` 和 `/AGENTS.md`）。思源已有的保持不变，并会列出。脚本里用 `--carry` 和 `--no-carry`。\n3. `collie siyuan connection remove NAME` 移除最后一个连接，就回到笔记库，并反方向询问同样的问题。\n4. 笔记以压缩包搬回来：在思源里右键笔记本或文档，导出，SiYuan .sy.zip，然后 `collie vault import Garden.sy.zip`。文档和块保持 ID、属性、引用、顺序、\n   资源和数据库。思源不把闪卡放进压缩包；表里列出有过闪卡的文档。压缩包也可以像目录一样再次导入。\n\n笔记本身两边都不动：设置了思源时，笔记库不会被碰到。\n\n## 限制\n\n- 没有自己的编辑界面：通过客户端和命令行访问笔记。\n- 不在机器之间同步，文件不加密；需要时请加密磁盘。\n- 不要放在网络文件系统上：SQLite 需要可靠的文件锁。\n- 模板支持思源的文本、数字、日期、列表和条件函数，结果相同；`nospace` 还能保持中文完整，而思源不能。读取笔记的函数\n  （`queryBlocks`、`querySpans`、`querySQL`、`getBlock`、`getHPathByID`、`statBlock`）在没有隐藏笔记本时可用于日记、模板文件和\n  `file render`；在数据库的模板列中查不到内容，语句有误时报错（思源则返回空）。Sprig 中修改字典、生成密钥、用正则替换的函数不支持。一个模板最多运行两秒，最多写出 1 MiB。\n- SQL 自带的 `blocks_fts MATCH` 只能找到三个字符以上的文本；`search fulltext` 也能找到更短的。\n- 单个 `^` 和 `~` 是普通文本，和其他 Markdown 一样：`2^10`、`3~5`、脚注。思源把 `x^2^` 和 `H~2~O` 读作上标和下标；这里要写\n  `x<sup>2</sup>` 和 `H<sub>2</sub>O`，两边都认。表情的名字（`:heart:`）也是文本；表格和最宽的一行一样宽，而思源会丢掉多出的单元格；\n  行首的 `$$` 如果不在行尾结束，就是文本。\n- 思源在这些工具之外的功能不在其中：集市、主题、发布等。\n'});export{e as default};