//go:build unix

package docs_test

// A play holds what is needed to run the commands of a document.
type play struct {
	notes   bool // there is a kernel of SiYuan with the notes of the guide; its address is in the file kernel
	gateway bool // a gateway runs
	web     bool // there is a server that wants a sign-in
	acts    []act
}

// An act holds what is needed to run one command of a document. If a document has the same line several times, the
// acts for it apply in order.
type act struct {
	line   string   // as it is shown, without its comment
	why    string   // why it cannot run here; its command and flags are looked up alone
	as     []string // pairs of a text in the line and its replacement; a replacement "/EXPR" stands for what the group of that regular expression matches in the last command's output
	before string   // a script that runs before it
	stdin  string
	until  string // it does not end by itself: it is interrupted once its output matches this
	stays  bool   // it is a gateway, which runs to the end of the document
	fine   bool   // it succeeds here, although the document shows an error
	code   int    // the wanted exit code, where the document shows a question or a table of problems
}

const (
	cacheFile = ".config/collie/collie.cache.json"
	forget    = "rm -rf .config/collie .local/share/collie .local/state/collie"
	anID      = `/(\d{14}-[a-z0-9]{7})`
)

// plays has the play of each document, by the document's name without its language. [TestPlayed] uses it.
var plays = map[string]play{
	"README": {acts: []act{
		{line: "collie mcp add files -- npx -y @modelcontextprotocol/server-filesystem ~/notes", before: `sed -i.old 's/"files"/"other"/' .config/collie/collie.json`},
		{line: "make run", why: "it serves until it is interrupted, and CI runs make build, and collie serve below"},
		{line: "make test", why: "this is a part of it"},
	}},
	"agents": {gateway: true, acts: []act{
		{line: "collie agent run --allow fs.mv 'put the notes on this list into /Work/Archive' < done.txt", before: "echo Minutes > done.txt"},
		{line: "collie agent run --allow fs.mv '把清单上的笔记移到 /Work/Archive' < done.txt", before: "echo 纪要 > done.txt"},
		{line: "collie agent run --agent opencode 'tidy up this folder'", why: "it needs opencode and its model; make clients runs it"},
		{line: "collie agent run --agent opencode '整理这个文件夹'", why: "it needs opencode and its model; make clients runs it"},
		{
			line:   `curl -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d '{}' http://127.0.0.1:7420/api/v1/sessions`,
			before: "collie token add program --scope chat > token", as: []string{"curl", "curl -sSf", "$TOKEN", "$(cat token)"},
		},
		{
			line: `curl -N -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -H 'Accept: text/event-stream'   -d '{"userMessage":{"text":"what is new?"}}' http://127.0.0.1:7420/api/v1/sessions/ID/turns`,
			as:   []string{"curl", "curl -sSf", "$TOKEN", "$(cat token)", "ID", `/"id": *"([^"]+)"`},
		},
		{
			line: `curl -N -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -H 'Accept: text/event-stream'   -d '{"userMessage":{"text":"有什么新内容？"}}' http://127.0.0.1:7420/api/v1/sessions/ID/turns`,
			as:   []string{"curl", "curl -sSf", "$TOKEN", "$(cat token)", "ID", `/"id": *"([^"]+)"`},
		},
	}},
	"audit": {acts: []act{
		{line: "collie audit tail -f", before: "collie fs ls /", until: "fs"},
		{line: "collie audit prune --older-than 90d", as: []string{"90d", "90d --yes"}},
	}},
	"backup": {acts: []act{
		{line: "collie restore ~/Backups/monday", before: forget},
		{line: "collie restore ~/Backups/monday", before: forget},
		{line: "collie restore ~/Backups/monday --overwrite", as: []string{"--overwrite", "--overwrite --yes"}},
		{line: `0 3 * * * collie backup ~/Backups/collie-$(date +\%F)`, as: []string{"0 3 * * * ", "", `\%`, "%"}},
	}},
	"guard": {acts: []act{
		{line: "collie grants revoke ID", why: "nobody has granted anything; testdata/script/grants.txtar has one"},
	}},
	"import": {acts: []act{
		{line: "collie mcp import --dry-run", before: `mkdir -p .cursor Downloads .collie
			echo '{"mcpServers":{"github":{"command":"npx","args":["github"]},"notes":{"command":"npx","args":["notes"]}}}' > .cursor/mcp.json
			echo '{"mcpServers":{"more":{"command":"npx","args":["more"]}}}' > Downloads/mcp.json
			echo '{"mcpServers":{"mine":{"command":"npx","args":["mine"]}}}' > .collie/collie.json`},
		{line: "collie mcp trust .", as: []string{"trust .", "trust . --yes"}},
	}},
	"notes": {notes: true, acts: []act{
		{line: "collie siyuan init", as: []string{"init", `init --url "$(cat kernel)"`}},
		{line: "collie siyuan doctor", fine: true},
		{line: "collie fs write /Work/Minutes --markdown @minutes.md", before: "echo 'We met.' > minutes.md"},
		{line: "collie fs write /工作/纪要 --markdown @纪要.md", before: "echo 开会。 > 纪要.md"},
		{line: "collie block get-kramdown --id 20210808180117-czj9bvb", as: []string{"20210808180117-czj9bvb", anID}},
		{line: `collie fs write /Work/Idea --markdown "…"`, before: "collie siyuan permission set Work r"},
		{line: `collie fs write /工作/想法 --markdown "…"`, before: "collie siyuan permission set 工作 r"},
		{line: "collie fs rm /Work/Minutes", before: "collie siyuan permission set Work rwd", code: 5}, // there is no person to ask
		{line: "collie confirm YPEKJT", why: "no call waits; test/pages and test/acceptance confirm some"},
		{
			line: "collie siyuan undo 01a1fed4-0978-7abe-9685-8bf2c7a33290", before: "collie siyuan config set readOnlyTools off",
			as: []string{"01a1fed4-0978-7abe-9685-8bf2c7a33290", `/([0-9a-f]{8}-[0-9a-f-]{27}) .*fs\.replace`, "undo", "undo --yes"},
		},
		{line: "collie fs ls / --connection home", as: []string{"home", "default"}},
	}},
	"pages": {acts: []act{
		{line: "collie serve", stays: true},
		{line: "collie open", why: "it needs a terminal; test/pages has one"},
		{line: "collie open --phone", why: "it needs a terminal; test/pages has one"},
		{line: "collie open --end ID", why: "no browser is signed in; test/pages signs some in and out"},
	}},
	"panel": {notes: true, acts: []act{
		{line: "collie siyuan panel install", before: `collie siyuan init --url "$(cat kernel)"`},
		{line: "collie open --show", why: "it needs a terminal; test/pages has one"},
	}},
	"providers": {acts: []act{
		{line: "collie provider add openai", why: "it asks api.openai.com"},
		{line: "collie provider add ollama --model qwen3:8b --context 16384", as: []string{"16384", "16384 --no-test"}},
		{line: "collie keys add openai --label spare --weight 2", stdin: "sk-spare\n"},
		{line: "collie provider add work --kind openai --url https://llm.example.org/v1 < key.txt", before: "echo sk-work > key.txt"},
	}},
	"remote": {acts: []act{
		{line: "collie service install", why: "it needs systemd or launchd; make release-check installs the service"},
		{line: "loginctl enable-linger", why: "it needs systemd"},
		{line: "ssh -N -L 7420:127.0.0.1:7420 home.example.org", why: "it needs another machine"},
		{line: "collie serve --http 0.0.0.0:7420 --tls-cert fullchain.pem --tls-key privkey.pem", stays: true},
		{line: "collie serve --home /srv/collie/ada --http 127.0.0.1:7421", stays: true},
		{line: "collie serve --home /srv/collie/lin --http 127.0.0.1:7422", stays: true},
	}},
	"servers": {gateway: true, acts: []act{
		{line: "collie mcp add io.github.example/weather", as: []string{"add", "add --yes --no-warm"}},
		{line: "collie mcp logs NAME -f", as: []string{"NAME", "files"}, before: "collie mcp restart files", until: "started"},
		{line: "collie mcp doctor NAME", as: []string{"NAME", "files"}},
		{line: "collie mcp restart NAME", as: []string{"NAME", "files"}},
		{line: "collie mcp refresh NAME", as: []string{"NAME", "files"}},
		{line: "collie mcp disable NAME", as: []string{"NAME", "files"}},
		{line: "collie mcp rename OLD NEW", as: []string{"OLD", "files", "NEW", "trains"}},
		{line: "collie mcp doctor quits", before: `sed -i.old 's/"mcpServers": *{/"mcpServers":{"quits":{"command":"quits-server"},/' .config/collie/collie.json`},
		{line: "collie mcp approve NAME", as: []string{"NAME", "trains"}},
	}},
	"sign-in": {web: true, acts: []act{
		{line: "collie secret set GITHUB_TOKEN", stdin: "geheim\n"},
		{line: "collie mcp auth web", why: "it needs a browser and a person; test/living signs in"},
		{line: "collie mcp auth web --no-browser", why: "it needs a browser and a person; test/living signs in"},
		{line: "collie mcp auth web --code 'http://127.0.0.1:45319/callback?code=…&state=…'", why: "it needs a browser and a person; test/living signs in"},
	}},
	"tool-cache": {acts: []act{
		{line: "collie cache warm", before: "collie mcp add trains -- files-server; collie mcp add notes -- files-server"},
		{line: "collie cache show"},
		{line: "collie cache show"},
		{line: "collie cache show", before: "rm " + cacheFile + "; collie cache refresh trains"},
		{line: "collie cache show gone", before: `sed -i.old 's/"mcpServers": *{/"mcpServers":{"gone":{"command":"nosuchprogram"},/' .config/collie/collie.json`},
		{line: "collie mcp doctor gone", code: 3},
		{line: "collie cache refresh trains"},
		{line: "collie cache refresh trains", why: "root may write to a file that is read-only; testdata/script/cache_readonly.txtar has it for others"},
		{line: "collie cache verify", before: `collie cache refresh trains; sed -i.old 's/"lastUpdated": *"[^"]*"/"lastUpdated":"yesterday"/' ` + cacheFile, code: 2},
		{line: "collie cache verify", before: `echo '{"version" "1.1.0"}' > ` + cacheFile, code: 2},
		{line: "collie cache show [NAME]", as: []string{"[NAME]", "trains"}},
		{line: "collie cache verify [FILE]", as: []string{"[FILE]", cacheFile}},
		{line: "collie cache refresh NAME", as: []string{"NAME", "trains"}},
		{line: "collie cache clear [NAME]", as: []string{"[NAME]", "trains"}},
		{line: "collie cache import FILE", as: []string{"FILE", "other.json"}, before: "cp " + cacheFile + " other.json"},
	}},
	"vault": {acts: []act{
		{line: "collie vault backup ~/Backups", before: "mkdir Backups"},
		{line: "collie vault backup /mnt/usb/notes.db", before: "mkdir -p mnt/usb"},
		{line: "collie vault restore ~/Backups/vault-20261121-185700.db", as: []string{"vault-20261121-185700.db", "vault-*.db --yes"}},
		{line: "collie vault import ~/Obsidian", before: "mkdir -p Obsidian logseq/pages work; echo '# Tea' > Obsidian/Tea.md; echo '- green' > logseq/pages/Tea.md; echo Plan > work/Plan.md"},
	}},
}
