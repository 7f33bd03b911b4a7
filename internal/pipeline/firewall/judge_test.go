package firewall_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"collie/internal/pipeline/firewall"
	"collie/internal/tool"
)

func TestArguments(t *testing.T) {
	t.Parallel()
	for _, line := range readLines(t, "arguments.txt") {
		fields := strings.SplitN(line, " ", 4)
		decision, rule, action, args := fields[0], fields[1], fields[2], fields[3]
		if rule == "-" { // no rule applies
			rule = ""
		}
		if v := judge(newCall(t, action, args)); v.Decision.String() != decision || v.Rule != rule {
			t.Errorf("%s %s: %s by %q (%s), want %s by %q", action, args, v.Decision, v.Rule, v.Reason, decision, rule)
		}
	}
}

// A verdict has a JSON pointer to the argument that caused it.
func TestPointer(t *testing.T) {
	t.Parallel()
	if v := judge(newCall(t, "read", `{"a":{"b/c":["x","/etc/shadow"]}}`)); v.At != "/a/b~1c/1" {
		t.Errorf("found at %q", v.At)
	}
}

func TestMarkedArguments(t *testing.T) {
	t.Parallel()
	c := newCall(t, "note", `{"body":"rm -rf /","where":"sub/.env","path":"/etc/shadow"}`)
	if v := judge(c); v.At != "/path" {
		t.Errorf("without marks: found %s at %q", v.Rule, v.At)
	}
	c.Action.InputSchema = json.RawMessage(`{"type":"object","properties":{"body":{"x-collie-kind":"command"},"path":{"x-collie-kind":"text"}}}`)
	if v := judge(c); v.Rule != "command.everything" || v.At != "/body" {
		t.Errorf("marked as a command: %s at %q", v.Rule, v.At)
	}
	c.Action.InputSchema = json.RawMessage(`{"type":"object","properties":{"where":{"x-collie-kind":"path"},"path":{"x-collie-kind":"text"}}}`)
	if v := judge(c); v.Rule != "path.secret" || v.At != "/where" {
		t.Errorf("marked as a path: %s at %q", v.Rule, v.At)
	}
}

// A harmless command makes a call harmless only if the tool's schema has it: a tool may ignore what it does not know.
func TestUndeclaredCommands(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		properties, args string
		decision         firewall.Decision
		rule             string
	}{
		{`{"command":{}}`, `{"command":"ls"}`, firewall.Allow, "command.known"},
		{`{"command":{},"args":{}}`, `{"command":"make","args":["--version"]}`, firewall.Allow, "command.known"},
		{`{"options":{}}`, `{"options":{"command":"ls"}}`, firewall.Allow, "command.known"},
		{`{"pid":{}}`, `{"pid":1,"command":"ls"}`, firewall.Allow, ""},
		{`{}`, `{"command":"ls"}`, firewall.Allow, ""},
		{`{"x":{}}`, `{"options":{"command":"ls"}}`, firewall.Allow, ""},
		{`{"command":{}}`, `{"command":"make","args":["--version"]}`, firewall.Ask, "command.unknown"},
		{`{"argv":{}}`, `{"command":"ls","argv":["rm","-rf","/"]}`, firewall.Deny, "command.everything"},
	} {
		c := newCall(t, "run", tt.args)
		c.Action.InputSchema = json.RawMessage(`{"type":"object","properties":` + tt.properties + `}`)
		if v := judge(c); v.Decision != tt.decision || v.Rule != tt.rule {
			t.Errorf("%s of %s: %s by %q (%s), want %s by %q", tt.args, tt.properties, v.Decision, v.Rule, v.Reason, tt.decision, tt.rule)
		}
	}
}

// A text is judged as the JSON that it holds only if the schema lets the tool read it as such.
func TestJSONInTexts(t *testing.T) {
	t.Parallel()
	for schema, read := range map[string]bool{
		`{"type":"array"}`: true, `{"type":["array","null"]}`: true, `{"anyOf":[{"type":"array"},{"type":"string"}]}`: true, `{"$ref":"#/$defs/x"}`: true,
		`{"type":"string"}`: false, `{"type":["string","null"]}`: false, `{"anyOf":[{"type":"string"},{"type":"null"}]}`: false,
	} {
		for name, args := range map[string]string{"x": `{"x":"[\"/etc/shadow\"]"}`, "text": `{"text":"[\"/etc/shadow\"]"}`, "list": `{"list":[{"x":"[\"/etc/shadow\"]"}]}`} {
			c := newCall(t, "get", args)
			c.Action.InputSchema = json.RawMessage(`{"type":"object","properties":{"` + name + `":` + schema + `}}`)
			if name == "list" {
				c.Action.InputSchema = json.RawMessage(`{"type":"object","properties":{"list":{"type":"array","items":{"type":"object","properties":{"x":` + schema + `}}}}}`)
			}
			if v := judge(c); (v.Rule == "path.secret") != read {
				t.Errorf("%s as %s: %s by %q", args, schema, v.Decision, v.Rule)
			}
		}
	}
}

// The arguments of Collie's own tools are not judged: their paths and texts are those of notes.
func TestOwnTools(t *testing.T) {
	t.Parallel()
	c := newCall(t, "read", `{"path":"/etc/shadow","command":"rm -rf /","url":"http://169.254.169.254/"}`)
	c.Action.Risk, c.Action.Effects = tool.RiskNone, tool.EffectRead
	if v := judge(c); v.Rule != "" {
		t.Errorf("%s by %s", v.Decision, v.Rule)
	}
}

func TestChangedDefinition(t *testing.T) {
	t.Parallel()
	c := newCall(t, "get", `{}`)
	c.Action.Changed = true
	if v := judge(c); v.Decision != firewall.Ask || v.Rule != "tool.changed" {
		t.Errorf("%s by %q", v.Decision, v.Rule)
	}
}

func TestSizes(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 300<<10)
	for rule, args := range map[string]any{
		"shape.string": map[string]string{"x": long},
		"shape.size":   map[string]string{"content": strings.Repeat("a", 2<<20)},
		"shape.utf8":   "{\"x\":\"\xff\"}",
		"":             map[string]string{"content": long},
	} {
		if v := judge(newCall(t, "x", args)); v.Rule != rule {
			t.Errorf("%s by %q, want %q", v.Decision, v.Rule, rule)
		}
	}
	for _, name := range []string{"Content", "TEXT", "Markdown"} {
		if v := judge(newCall(t, "x", map[string]string{name: long})); v.Rule != "" {
			t.Errorf("%s: %s by %q", name, v.Decision, v.Rule)
		}
	}
	items, members := make([]int, 10_001), map[string]int{}
	for i := range 1001 {
		members["k"+strings.Repeat("x", i)] = 1
	}
	for rule, args := range map[string]any{"shape.items": map[string]any{"x": items}, "shape.keys": map[string]any{"x": members}} {
		if v := judge(newCall(t, "x", args)); v.Rule != rule {
			t.Errorf("%s by %q, want %q", v.Decision, v.Rule, rule)
		}
	}
}

func TestPolicy(t *testing.T) {
	t.Parallel()
	p := firewall.Policy{
		ReadRoots: []string{"/srv/docs"}, WriteRoots: []string{"~/desk"}, DenyPaths: []string{"**/private/**"},
		AllowCommands: []string{"go test", "make"}, DenyCommands: []string{"git status"},
		AllowHosts: []string{"localhost:3000", "*.lan"}, DenyHosts: []string{"*.example.org"},
	}
	for _, tt := range []struct {
		name, args string
		decision   firewall.Decision
		rule       string
	}{
		{"read_file", `{"path":"/srv/docs/x"}`, firewall.Allow, ""},
		{"read_file", `{"path":"~/desk/x"}`, firewall.Allow, ""},
		{"read_file", `{"path":"/srv/docs2/x"}`, firewall.Deny, "path.outside"},
		{"read_file", `{"path":"/srv/docs/../x"}`, firewall.Deny, "path.outside"},
		{"read_file", `{"path":"relative"}`, firewall.Allow, ""},
		{"read_file", `{"note":"/srv/x"}`, firewall.Allow, ""},
		{"write_file", `{"path":"/srv/docs/x"}`, firewall.Deny, "path.outside"},
		{"write_file", `{"path":"/home/ada/desk/x"}`, firewall.Allow, ""},
		{"write_file", `{"path":"/home/ada/desk/private/x"}`, firewall.Deny, "path.denied"},
		{"run", `{"command":"go test ./..."}`, firewall.Allow, "command.known"},
		{"run", `{"command":"make"}`, firewall.Allow, "command.known"},
		{"run", `{"command":"make && mv x y"}`, firewall.Ask, "command.unknown"},
		{"run", `{"command":"go vet"}`, firewall.Ask, "command.unknown"},
		{"run", `{"command":"make ~/.ssh/id_rsa"}`, firewall.Deny, "path.secret"},
		{"run", `{"command":"git status"}`, firewall.Deny, "command.denied"},
		{"fetch", `{"url":"http://localhost:3000/x"}`, firewall.Allow, ""},
		{"fetch", `{"url":"http://localhost:3001/x"}`, firewall.Ask, "url.private"},
		{"fetch", `{"url":"http://nas.lan/"}`, firewall.Allow, ""},
		{"fetch", `{"url":"https://a.example.org/"}`, firewall.Deny, "url.denied"},
	} {
		if v := p.Judge(newCall(t, tt.name, tt.args), &firewall.Files{Home: home}, nil); v.Decision != tt.decision || v.Rule != tt.rule {
			t.Errorf("%s %s: %s by %q (%s), want %s by %q", tt.name, tt.args, v.Decision, v.Rule, v.Reason, tt.decision, tt.rule)
		}
	}
}

// A destructive command is denied even if the settings allow its program.
func TestAllowedCommands(t *testing.T) {
	t.Parallel()
	p := firewall.Policy{AllowCommands: []string{"npm run", "sudo", "rm", "find", "bash", "git"}}
	for command, rule := range map[string]string{
		"npm run format src":                    "",
		"rm -r build":                           "",
		"sudo apt update":                       "",
		"git rm -r --cached .":                  "",
		"git commit -m 'never rm -rf /'":        "",
		"find . -name '*.o' -delete":            "",
		"bash -c 'npm run build'":               "",
		"rm -rf /":                              "command.everything",
		"sudo rm -rf ~":                         "command.everything",
		"sudo mkfs.ext4 /dev/sda1":              "path.device",
		"bash -c 'timeout 9 rm -rf /'":          "command.everything",
		"find / -delete":                        "command.everything",
		"find / -exec rm -r {} +":               "command.everything",
		"find / -exec chmod -R 777 / ';'":       "command.everything",
		"npm run x; sudo cat ~/.ssh/id_ed25519": "path.secret",
	} {
		v := p.Judge(newShellCall(t, command), &firewall.Files{Home: home}, nil)
		if want := map[bool]firewall.Decision{true: firewall.Allow, false: firewall.Deny}[rule == ""]; v.Decision != want || rule != "" && v.Rule != rule {
			t.Errorf("%s: %s by %q (%s), want %s by %q", command, v.Decision, v.Rule, v.Reason, want, rule)
		}
	}
}

// A path is judged by the target of its symbolic links, even if its last parts do not exist yet.
func TestLinks(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	keys, work := filepath.Join(dir, ".ssh"), filepath.Join(dir, "work")
	for _, d := range []string{keys, work} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"in": keys, "gone": filepath.Join(dir, "nowhere"), "fine": work} {
		if err := os.Symlink(to, filepath.Join(work, link)); err != nil {
			t.Skip("no symbolic links here: ", err)
		}
	}
	files := &firewall.Files{Home: dir, Resolve: firewall.Resolve}
	p := firewall.Policy{WriteRoots: []string{work}}
	for name, rule := range map[string]string{
		"in/new.txt": "path.secret", "gone": "path.outside", "gone/x": "path.outside", "fine/fine/new/x.txt": "", "new/deep/x.txt": "",
	} {
		args := map[string]string{"path": work + "/" + name}
		if v := p.Judge(newCall(t, "write_file", args), files, nil); v.Rule != rule {
			t.Errorf("%s: %s by %q, want %q", name, v.Decision, v.Rule, rule)
		}
	}
}

func TestSteps(t *testing.T) {
	t.Parallel()
	var steps []firewall.Verdict
	v := (&firewall.Policy{}).Judge(newCall(t, "run", `{"command":"sudo ls > x; cat ~/.ssh/id_rsa"}`), &firewall.Files{Home: home}, &steps)
	if v.Decision != firewall.Deny || len(steps) < 3 {
		t.Errorf("%s, steps %+v", v.Decision, steps)
	}
}

// FuzzJudge: the same arguments always get the same verdict, and no arguments cause a panic.
func FuzzJudge(f *testing.F) {
	for _, name := range []string{"dangerous.txt", "bypasses.txt", "harmless.txt"} {
		for _, line := range readLines(f, name) {
			f.Add(line)
		}
	}
	for _, line := range readLines(f, "arguments.txt") {
		f.Add(strings.SplitN(line, " ", 4)[3])
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, c := range []*tool.Call{
			newCall(t, "run_command", map[string]string{"command": s}), newCall(t, "read_file", map[string]string{"path": s, "url": s}),
			newCall(t, "db_query", map[string]any{"sql": s, "argv": []string{s}, "command": s}), newCall(t, "x", s),
		} {
			if one, two := judge(c), judge(c); one != two {
				t.Errorf("%q: %+v, then %+v", s, one, two)
			}
		}
	})
}
