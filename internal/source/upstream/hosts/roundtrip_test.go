package hosts_test

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"collie/internal/config"
	"collie/internal/source/upstream/hosts"
)

// carries lists which of our fields each host has besides command and args, and which forms of variables its texts
// may contain. After a field's colon stands the host's unit of a duration, ms or s, or a mark that the values of the
// field cannot hold variables.
var carries = map[string]struct {
	remote []string // transports besides stdio
	fields string
	vars   []string
}{
	"claude-code":    {[]string{"http", "sse"}, "env headers toolTimeout:ms auth.clientId auth.redirectPort", []string{"${A_B}", "${C:-text}"}},
	"claude-desktop": {nil, "env", nil},
	"cline":          {[]string{"http", "sse"}, "env cwd headers disabled autoApprove toolTimeout:s", []string{"${A_B}"}},
	"codex":          {[]string{"http"}, "env:fixed cwd headers:codex inheritEnv disabled startTimeout:s toolTimeout:s tools.include tools.exclude auth.scopes", nil},
	"cursor":         {[]string{"http"}, "env envFile headers auth.clientId auth.clientSecret auth.scopes", []string{"${A_B}", "${userHome}"}},
	"gemini":         {[]string{"http", "sse"}, "env cwd headers description toolTimeout:ms tools.include tools.exclude trust auth.clientId", []string{"${A_B}", "${C:-text}"}},
	"kilo":           {[]string{"http", "sse"}, "env cwd headers disabled autoApprove toolTimeout:s tools.exclude", []string{"${A_B}"}},
	"opencode":       {[]string{"http"}, "env cwd headers disabled startTimeout:ms auth.clientId auth.clientSecret", []string{"${A_B}"}},
	"roo":            {[]string{"http", "sse"}, "env cwd headers disabled autoApprove toolTimeout:s tools.exclude", []string{"${A_B}"}},
	"spring":         {[]string{"http", "sse"}, "env", []string{"${A_B}", "${C:-text}"}},
	"vscode":         {[]string{"http", "sse"}, "env envFile cwd headers auth.clientId", []string{"${A_B}", "${input:key}", "${userHome}"}},
	"windsurf":       {[]string{"http"}, "env headers disabled tools.exclude autoApprove", []string{"${A_B}"}},
	"xiaozhi":        {[]string{"http", "sse"}, "env headers tools.override", nil},
	"zed":            {[]string{"http"}, "env headers disabled toolTimeout:ms", nil},
}

// Whatever a host can express survives a round trip: our entry, written in the host's format and read again.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	for _, h := range hosts.All() {
		t.Run(h.Name, func(t *testing.T) {
			t.Parallel()
			if _, ok := carries[h.Name]; !ok {
				t.Fatal("it is not in carries: say there which fields, transports and variables it has")
			}
			rapid.Check(t, func(t *rapid.T) { roundTrip(t, h) })
		})
	}
}

// roundTrip writes a random entry in the format of h, and expects the same entry when it is read.
func roundTrip(t *rapid.T, h hosts.Host) {
	raw, err := json.Marshal(drawEntry(t, h.Name))
	if err != nil {
		t.Fatal(err)
	}
	e, others, err := hosts.ParseEntry(raw, "")
	if err != nil || len(others) > 0 {
		t.Fatalf("%s: %v, %v", raw, others, err)
	}
	w := h.Write("a b.数据", e, others, "")
	if w.Skip != "" || len(w.Notes) > 0 {
		t.Fatalf("%s: %s %q", raw, w.Skip, w.Notes)
	}
	text := h.Text([]hosts.Written{w})
	found, err := h.Parse(hosts.Place{File: "file"}, text)
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: found %v, %v", text, found, err)
	}
	if diff := cmp.Diff(string(e.JSON()), string(found[0].Entry.JSON())); diff != "" {
		t.Fatalf("through\n%s(-sent +came):\n%s", text, diff)
	}
	if found[0].Name != "a b.数据" || !hosts.Same(e, found[0].Entry, looks) {
		t.Fatalf("%s is not the same server", text)
	}
}

// drawEntry returns a random entry that a host can express.
func drawEntry(t *rapid.T, host string) map[string]any {
	c := carries[host]
	plain := rapid.StringMatching(`[a-z0-9 "'\\:=,#{}中文<&]{1,12}`)
	texts := plain
	if c.vars != nil {
		texts = rapid.OneOf(plain, rapid.SampledFrom(c.vars), rapid.Custom(func(t *rapid.T) string {
			return plain.Draw(t, "before") + rapid.SampledFrom(c.vars).Draw(t, "variable") + "/end"
		}))
	}
	texts = texts.Filter(func(s string) bool { return !strings.Contains(s, "{env:") && !strings.Contains(s, "{file:") })
	path := rapid.StringMatching(`/[a-z]{1,5}(/[a-z中]{1,5}){0,2}`)
	names := rapid.SliceOfN(rapid.StringMatching(`[a-z_]{1,8}`), 1, 3)
	e := map[string]any{}
	remote := c.remote != nil && rapid.Bool().Draw(t, "remote")
	if remote {
		transport := rapid.SampledFrom(c.remote).Draw(t, "type")
		e["type"] = transport
		e["url"] = "https://example.org/" + rapid.StringMatching(`[a-z]{1,6}/mcp`).Draw(t, "path")
		if c.vars != nil && host != "spring" && rapid.Bool().Draw(t, "variable host") {
			e["url"] = "https://" + c.vars[0] + ".example.org/mcp"
		}
	} else {
		e["command"] = rapid.OneOf(rapid.SampledFrom([]string{"npx", "uvx"}), path).Draw(t, "command")
		if args := rapid.SliceOfN(texts, 0, 4).Draw(t, "args"); len(args) > 0 {
			e["args"] = args
		}
	}
	for field := range strings.FieldsSeq(c.fields) {
		if !rapid.Bool().Draw(t, field) {
			continue
		}
		name, how, _ := strings.Cut(field, ":")
		of := map[bool]string{true: "env envFile cwd inheritEnv", false: "headers auth.clientId auth.clientSecret auth.scopes auth.redirectPort"}[remote]
		if slices.Contains(strings.Fields(of), name) {
			continue
		}
		setField(e, name, drawValue(t, name, how, texts, plain, path, names))
	}
	return e
}

// drawValue returns a random value of a field. A field with a mark other than a unit gets texts without variables.
func drawValue(t *rapid.T, name, how string, texts, plain, path *rapid.Generator[string], names *rapid.Generator[[]string]) any {
	switch name {
	case "env", "headers":
		if how != "" {
			texts = plain
		}
		return rapid.MapOfN(rapid.StringMatching(`[A-Z][A-Z_-]{0,6}`), texts, 1, 3).Draw(t, name)
	case "cwd", "envFile":
		return path.Draw(t, name)
	case "tools.include", "tools.exclude", "autoApprove", "auth.scopes", "inheritEnv":
		return names.Draw(t, name)
	case "tools.override":
		return map[string]any{"tool": map[string]any{"enabled": rapid.Bool().Draw(t, "enabled"), "description": plain.Draw(t, "description")}}
	case "trust", "disabled":
		return true
	case "auth.redirectPort":
		return rapid.IntRange(1, 65535).Draw(t, name)
	case "toolTimeout", "startTimeout":
		n := rapid.IntRange(1, 600).Draw(t, name)
		if how == "ms" && n%1000 != 0 {
			return strconv.Itoa(n) + "ms"
		}
		return strconv.Itoa(n) + "s"
	}
	return plain.Draw(t, name)
}

// setField sets a field, or with a dot in its name a field of an object.
func setField(e map[string]any, name string, v any) {
	if outer, inner, nested := strings.Cut(name, "."); nested {
		if e[outer] == nil {
			e[outer] = map[string]any{}
		}
		e[outer].(map[string]any)[inner] = v
		return
	}
	e[name] = v
}

// Writing a server into an existing file keeps what its owner wrote.
func TestWriteAll(t *testing.T) {
	t.Parallel()
	e, _, err := hosts.ParseEntry(json.RawMessage(`{"command":"npx","args":["-y","x"],"env":{"KEY":"${KEY}","REGION":"eu"},"trust":"pin"}`), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ host, before, after string }{
		{
			"codex", "# mine\n[mcp_servers.x]\ncommand = \"old\"\n[mcp_servers.x.env]\nA = \"1\"\n[other]\na = 1 # one\n",
			"# mine\n[other]\na = 1 # one\n\n[mcp_servers.x]\nenv_vars = [\"KEY\"]\ncommand = \"npx\"\nargs = [\"-y\", \"x\"]\n\n[mcp_servers.x.env]\nREGION = \"eu\"\n",
		},
		{
			"zed", "{ // mine\n  \"context_servers\": {}\n}\n",
			"{ // mine\n  \"context_servers\": {\n    \"x\": {\n      \"command\": \"npx\",\n      \"args\": [\"-y\", \"x\"],\n      \"env\": {\n        \"KEY\": \"${KEY}\",\n        \"REGION\": \"eu\"\n      }\n    }\n  }\n}\n",
		},
		{
			"spring", "",
			"spring:\n  ai:\n    mcp:\n      client:\n        stdio:\n          connections:\n            x:\n              command: npx\n              args:\n                - -y\n                - x\n              env:\n                KEY: ${KEY}\n                REGION: eu\n",
		},
	} {
		h := hostNamed(t, tc.host)
		file := writeNewFile(t, tc.before)
		w := h.Write("x", e, nil, "")
		p, err := hosts.PrepareAll(h, file, []hosts.Written{w}, config.SetInText, true)
		if err != nil {
			t.Fatal(tc.host, err)
		}
		if err := p.Apply(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tc.after, readFile(t, file)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.host, diff)
		}
		if tc.host == "spring" {
			continue
		}
		again, err := hosts.PrepareAll(h, file, []hosts.Written{w}, config.SetInText, false)
		if err != nil || again.Changed() {
			t.Errorf("%s: a second time changes something: %v", tc.host, err)
		}
	}
}

// A file that cannot be changed safely is left as it is.
func TestTOMLThatIsNotTables(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"mcp_servers = { collie = { command = \"x\" } }\n",
		"mcp_servers.collie.command = \"x\"\n",
		"[mcp_servers]\ncollie = { command = \"x\" }\n",
	} {
		file := writeNewFile(t, text)
		if _, err := preparePlan(t, hostNamed(t, "codex"), file, true); err == nil || !strings.Contains(err.Error(), "by hand") {
			t.Errorf("%q: %v", text, err)
		}
		if readFile(t, file) != text {
			t.Errorf("%q changed", text)
		}
	}
	text := "note = \"\"\"\n[mcp_servers.collie]\ncommand = \"in a text\"\n\"\"\"\n"
	connectClient(t, hostNamed(t, "codex"), writeNewFile(t, "a = 1\n"), false)
	if _, err := preparePlan(t, hostNamed(t, "codex"), writeNewFile(t, text), false); err == nil {
		t.Error("a text that looks like a table was cut")
	}
}
