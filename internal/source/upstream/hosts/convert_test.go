package hosts_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/source/upstream/hosts"
)

// readOneServer reads the only server of a text.
func readOneServer(t *testing.T, name, text string) hosts.Found {
	t.Helper()
	found, err := hostNamed(t, name).Parse(hosts.Place{File: "file"}, []byte(text))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: found %v, %v", text, found, err)
	}
	return found[0]
}

// Variables in the spelling of each host become variables of Collie. A note says where the meaning differs.
func TestVariables(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ host, theirs, ours, note string }{
		{"claude-code", "a${B:-c}d", "a${B:-c}d", ""},
		{"claude-code", "${b c}", "$${b c}", ""},
		{"claude-desktop", "${B}", "$${B}", "as it is written"},
		{"cursor", "${env:B}${/}${userHome}", "${B}${/}${userHome}", ""},
		{"cursor", "${B}", "${B}", "variable of the environment"},
		{"vscode", "${input:tok-en}", "${input:tok-en}", "COLLIE_INPUT_TOK_EN"},
		{"vscode", "${command:x.y}", "${input:command-x-y}", "COLLIE_INPUT_COMMAND_X_Y"},
		{"vscode", "${workspaceFolder}/x", "${workspaceFolder}/x", "folder of the settings"},
		{"gemini", "$A-${B}-$5", "${A}-${B}-$5", ""},
		{"gemini", "$${A}", "${A}", "a $ before ${A}"},
		{"opencode", "{env:A}-${A}", "${A}-$${A}", ""},
		{"spring", "${A:b c}", "${A:-b c}", ""},
		{"zed", "$${A}", "$$${A}", "as it is written"},
	} {
		h := hostNamed(t, tc.host)
		args, err := json.Marshal([]string{tc.theirs})
		if err != nil {
			t.Fatal(err)
		}
		text := `{"` + h.Key + `": {"x": {"command": "y", "args": ` + string(args) + `}}}`
		switch tc.host {
		case "opencode":
			text = `{"mcp": {"x": {"type": "local", "command": ["y", ` + string(args[1:len(args)-1]) + `]}}}`
		case "spring":
			text = `spring.ai.mcp.client.stdio.connections.x: {command: y, args: ` + string(args) + `}`
		}
		f := readOneServer(t, tc.host, text)
		want, err := json.Marshal(map[string]any{"command": "y", "args": []string{tc.ours}})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(sorted(t, want), sorted(t, f.Entry.JSON())); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", tc.host, tc.theirs, diff)
		}
		if notes := strings.Join(f.Notes, "; "); !strings.Contains(notes, tc.note) || tc.note == "" && notes != "" {
			t.Errorf("%s %s: notes %q, want %q", tc.host, tc.theirs, notes, tc.note)
		}
	}
}

// sorted returns a JSON value with the members of objects in alphabetical order.
func sorted(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// The value of a variable is never written, and what a host cannot express is reported.
func TestWriteNotes(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ host, entry, want, note string }{
		{"vscode", `{"command":"x","env":{"A":"${secret:T}"}}`, `"A":"${input:T}"`, "declare the input"},
		{"cursor", `{"command":"x","args":["${A:-b}"]}`, `"${env:A}"`, "knows no default"},
		{"claude-desktop", `{"command":"x","args":["${A}"]}`, `"${A}"`, "write the value there"},
		{"cursor", `{"command":"x","lifecycle":"eager","view":"grouped"}`, `"command":"x"`, "view: not carried"},
		{"cline", `{"command":"x","toolTimeout":"1500ms"}`, `"timeout":2`, "rounded up"},
		{"cursor", `{"url":"https://x/mcp","type":"sse"}`, `"url"`, "type: not carried"},
		{"codex", `{"url":"https://x/mcp","headers":{"Authorization":"Bearer ${T}","X-A":"${B}","X-C":"d"}}`, `"bearer_token_env_var":"T","http_headers":{"X-C":"d"},"env_http_headers":{"X-A":"B"}`, ""},
		{"codex", `{"command":"x","inheritEnv":"all"}`, `"command":"x"`, "inheritEnv: not carried"},
		{"gemini", `{"command":"x","autoApprove":["a"]}`, `"command":"x"`, "autoApprove: not carried"},
		{"zed", `{"command":"./x","cwd":"y"}`, `"command":"/cfg/x"`, "cwd: not carried"},
		{"windsurf", `{"httpUrl":"https://x/sse"}`, `"serverUrl":"https://x/sse"`, "type: not carried"},
		{"cline", `{"serverUrl":"https://x/mcp","alwaysAllow":["a"]}`, `"type":"streamableHttp","url":"https://x/mcp","autoApprove":["a"]`, ""},
	} {
		e, others, err := hosts.ParseEntry(json.RawMessage(tc.entry), "/cfg")
		if err != nil {
			t.Fatal(err)
		}
		w := hostNamed(t, tc.host).Write("s", e, others, "/cfg")
		if w.Skip != "" || !strings.Contains(string(w.Members[0].Value), tc.want) {
			t.Errorf("%s %s: %s %s, want %s", tc.host, tc.entry, w.Skip, w.Members[0].Value, tc.want)
		}
		if notes := strings.Join(w.Notes, "; "); !strings.Contains(notes, tc.note) || tc.note == "" && notes != "" {
			t.Errorf("%s %s: notes %q, want %q", tc.host, tc.entry, notes, tc.note)
		}
	}
	for host0, entry := range map[string]string{
		"claude-desktop": `{"url":"https://x/mcp"}`, "codex": `{"url":"https://x/sse"}`, "cursor": `{"command":"x","disabled":true}`,
	} {
		e, _, err := hosts.ParseEntry(json.RawMessage(entry), "")
		if w := hostNamed(t, host0).Write("s", e, nil, ""); err != nil || w.Skip == "" {
			t.Errorf("%s takes %s: %v", host0, entry, w.Members)
		}
	}
}

// Secrets in an entry become references to the secret store, under names made from the server's name and the place.
// The original entry is not changed, and both count as the same server.
func TestSecrets(t *testing.T) {
	t.Parallel()
	const token = "0123456789abcdef0123456789abcdef"
	for _, tc := range []struct{ entry, want, names string }{
		{`{"command":"x","env":{"GITHUB_TOKEN":"short","DEBUG":"true","KEYS":"a"}}`, `"GITHUB_TOKEN":"${secret:GITHUB_TOKEN}"`, "GITHUB_TOKEN"},
		{`{"command":"x","env":{"OTHER":"{\"Authorization\": \"Bearer ` + token + `\"}"}}`, `Bearer ${secret:GITHUB_OTHER}`, "GITHUB_OTHER"},
		{`{"command":"x","env":{"API_KEY":"${KEY}","USE_AUTH":"true","SSH_KEY":"/home/ann/.ssh/id"}}`, `"API_KEY":"${KEY}"`, ""},
		{`{"command":"x","args":["--api-key","abc","--token=def","--flag","x"]}`, `["--api-key","${secret:GITHUB_API_KEY}","--token=${secret:GITHUB_TOKEN}","--flag","x"]`, "GITHUB_API_KEY GITHUB_TOKEN"},
		{`{"command":"x","args":["--header","Authorization: Bearer ` + token + `"]}`, `Authorization: Bearer ${secret:GITHUB_ARGUMENT}`, "GITHUB_ARGUMENT"},
		{`{"url":"https://u:pw@h/s/` + token + `/mcp?key=k&q=1"}`, `https://u:${secret:GITHUB_PASSWORD}@h/s/${secret:GITHUB_URL}/mcp?key=${secret:GITHUB_KEY}&q=1`, "GITHUB_PASSWORD GITHUB_URL GITHUB_KEY"},
		{`{"url":"https://h/mcp","headers":{"Authorization":"Bearer abc","X-A":"b"}}`, `{"Authorization":"Bearer ${secret:GITHUB_AUTHORIZATION}","X-A":"b"}`, "GITHUB_AUTHORIZATION"},
		{`{"url":"https://h/mcp","auth":{"type":"oauth","clientId":"i","clientSecret":"s"}}`, `"clientSecret":"${secret:GITHUB_CLIENTSECRET}"`, "GITHUB_CLIENTSECRET"},
		{
			`{"url":"https://h/mcp","oauth":{"grantType":"client_credentials","clientMetadataUrl":"https://h/c","clientSecret":"s"}}`,
			`{"clientSecret":"${secret:GITHUB_CLIENTSECRET}","clientMetadataUrl":"https://h/c","grantType":"client_credentials"}`, "GITHUB_CLIENTSECRET",
		},
		{`{"command":"x","args":["postgres://u:p@h/db"]}`, `postgres://u:${secret:GITHUB_PASSWORD}@h/db`, "GITHUB_PASSWORD"},
		{`{"command":"x","env":{"TOKEN":"$${literal}"}}`, `"TOKEN":"${secret:GITHUB_TOKEN}"`, "GITHUB_TOKEN"},
	} {
		e, _, err := hosts.ParseEntry(json.RawMessage(tc.entry), "")
		if err != nil {
			t.Fatal(err)
		}
		before := string(e.JSON())
		hidden := e.Hide("github", looks, func(suggested, _ string) string { return suggested })
		if !strings.Contains(string(hidden.JSON()), tc.want) {
			t.Errorf("%s became %s, want %s", tc.entry, hidden.JSON(), tc.want)
		}
		if got := strings.Join(e.Secrets("github", looks), " "); got != tc.names {
			t.Errorf("%s: secrets %s, want %s", tc.entry, got, tc.names)
		}
		if string(e.JSON()) != before {
			t.Errorf("%s was changed", tc.entry)
		}
		if !hosts.Same(e, hidden, looks) {
			t.Errorf("%s and %s are not the same", before, hidden.JSON())
		}
	}
	a, _, _ := hosts.ParseEntry(json.RawMessage(`{"command":"x","env":{"A":"1"}}`), "")
	b, _, _ := hosts.ParseEntry(json.RawMessage(`{"command":"x","env":{"A":"2"},"lifecycle":"eager"}`), "")
	c, _, _ := hosts.ParseEntry(json.RawMessage(`{"command":["x"],"env":{"A":"1"},"lifecycle":"eager","trust":"pin"}`), "")
	if hosts.Same(a, b, looks) || !hosts.Same(a, c, looks) {
		t.Error("another value of a variable is the same, or another lifecycle is not")
	}
}

// The sample file of each host is recognized by its path, and by its content alone.
func TestRecognize(t *testing.T) {
	t.Parallel()
	for name, place := range samples {
		file := filepath.Join("testdata", "import", name, filepath.FromSlash(place.File))
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		// By its name if that is enough, otherwise by its content.
		for _, as := range []string{file, "/tmp/any" + filepath.Ext(file)} {
			h, err := hosts.Recognize(as, text)
			alike := slices.Contains([]string{"claude-desktop", "kilo"}, name) && as != file // their content looks like that of other hosts
			if err != nil || h.Name != name && !alike {
				t.Errorf("%s of %s is taken for %q: %v; hints tell a host by its path, isOwnFile and the list in Recognize by what is in it", as, name, h.Name, err)
			}
		}
	}
	for _, text := range []string{"{", "[]", "{}", `{"name": "x"}`, "\xff\xfe{\x00}\x00", strings.Repeat("[", 5_000_000)} {
		if h, err := hosts.Recognize("/tmp/x.json", []byte(text)); err == nil {
			t.Errorf("%.20q is %s's", text, h.Name)
		}
	}
	if _, err := hosts.Recognize("/tmp/x.json", []byte(`{"a": 1}`)); err == nil || !strings.Contains(err.Error(), "no known program") {
		t.Errorf("got %v", err)
	}
}

// A member that cannot be converted is left out with a note. An entry without anything to run is skipped.
func TestBrokenEntriesAreTold(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ host, text, note string }{
		{"cursor", `{"mcpServers": {"x": {"command": "y", "args": "z"}}}`, "args: expected a list of texts; not carried"},
		{"cline", `{"mcpServers": {"x": {"command": "y", "timeout": "soon"}}}`, "timeout: expected a number of seconds; not carried"},
		{"gemini", `{"mcpServers": {"x": {"command": "y", "timeout": 1e300}}}`, "timeout: expected"},
		{"cursor", `{"mcpServers": {"x": {"command": "y", "url": "https://z"}}}`, "url: not carried beside a command"},
		{"roo", `{"mcpServers": {"x": {"type": "websocket", "url": "https://z"}}}`, `type "websocket": not known`},
		{"vscode", `{"servers": {"x": {"type": "http", "url": "pipe:///x"}}}`, "a named pipe"},
	} {
		if f := readOneServer(t, tc.host, tc.text); !strings.Contains(strings.Join(f.Notes, "; "), tc.note) {
			t.Errorf("%s: %q, want %q", tc.text, f.Notes, tc.note)
		}
	}
	for _, text := range []string{`{"mcpServers": {"x": 1}}`, `{"mcpServers": {"x": {}}}`} {
		if f := readOneServer(t, "cursor", text); f.Skip == "" {
			t.Errorf("%s is not skipped", text)
		}
	}
}

// A small YAML text cannot expand to a huge document.
func TestYAMLBomb(t *testing.T) {
	t.Parallel()
	text := "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
	for c := 'b'; c < 'j'; c++ {
		p := string(c - 1)
		text += string(c) + ": &" + string(c) + " [*" + strings.Repeat(p+", *", 9) + p + "]\n"
	}
	if _, err := hostNamed(t, "spring").Parse(hosts.Place{File: "file"}, []byte(text)); err == nil {
		t.Error("no error")
	}
	if _, err := hostNamed(t, "spring").Parse(hosts.Place{File: "file"}, []byte("a: &a {b: *a}\n")); err == nil {
		t.Error("an alias of itself: no error")
	}
}

// fuzzHost feeds a host's parser with variations of its sample file. What it reads must be the same after writing and
// parsing.
func fuzzHost(f *testing.F, name string) {
	dir := filepath.Join("testdata", "import", name, filepath.FromSlash(samples[name].File))
	text, err := os.ReadFile(dir)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	for _, seed := range []string{"", "{}", "[]", "\xef\xbb\xbf{}", "{\"a\":1}//", "a = [[[]]]", "a: &b [*b]", "a.b: 1\na: {b: {c: 2}}", "mcpServers: null"} {
		f.Add([]byte(seed))
	}
	h, err := hosts.Find(name)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		found, err := h.Parse(hosts.Place{File: "/nowhere/at/all"}, text)
		if err != nil {
			return
		}
		for _, s := range found {
			if s.Skip != "" {
				continue
			}
			raw := s.Entry.JSON()
			again, others, err := hosts.ParseEntry(raw, "")
			if err != nil || len(others) > 0 || !hosts.Same(s.Entry, again, looks) {
				t.Errorf("%s is not read as it was written: %s, %v, %v", raw, again.JSON(), others, err)
			}
			s.Entry.Secrets(s.Name, looks)
			_ = h.Text([]hosts.Written{h.Write("x", s.Entry.WithoutApprovals(), nil, "")})
		}
	})
}

func FuzzJSON(f *testing.F)   { fuzzHost(f, "vscode") }
func FuzzTOML(f *testing.F)   { fuzzHost(f, "codex") }
func FuzzYAML(f *testing.F)   { fuzzHost(f, "spring") }
func FuzzKilo(f *testing.F)   { fuzzHost(f, "kilo") }
func FuzzGemini(f *testing.F) { fuzzHost(f, "gemini") }
