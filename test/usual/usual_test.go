package usual_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/tool"
	"collie/test/catalogs"
	"collie/test/gateway"
)

func TestMain(m *testing.M) { os.Exit(gateway.BuildAndRun(m)) }

// sendJSON sends a request with a token and a JSON body.
func sendJSON(t *testing.T, method, url, token, body string) (status int, answer gjson.Result) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, gjson.ParseBytes(raw)
}

// runAction runs an action through the API, as a command at a terminal does, and returns its result.
func runAction(t *testing.T, g *gateway.Gateway, name string, args map[string]any) gjson.Result {
	t.Helper()
	body, err := json.Marshal(map[string]any{"name": name, "args": args})
	if err != nil {
		t.Fatal(err)
	}
	status, answer := sendJSON(t, "POST", g.URL+"/api/v1/calls", g.Control(t), string(body))
	if status != http.StatusOK || answer.Get("isError").Bool() {
		t.Fatalf("%s: status %d, %s", name, status, answer.Raw)
	}
	return gjson.Parse(answer.Get("result.content.0.text").String())
}

// serveRecorded runs an MCP server with the recorded tools of a public server, which all answer "ok", and returns its entry
// for the settings.
func serveRecorded(t *testing.T, recorded string) string {
	t.Helper()
	var definitions []json.RawMessage
	for _, s := range catalogs.Servers() {
		if s.Name == recorded {
			definitions = s.Tools
		}
	}
	if definitions == nil {
		t.Fatalf("no recording of %s", recorded)
	}
	at := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		in := gjson.ParseBytes(raw)
		if err != nil || r.Method != http.MethodPost || !in.Get("id").Exists() {
			w.WriteHeader(map[bool]int{true: http.StatusAccepted, false: http.StatusMethodNotAllowed}[r.Method == http.MethodPost])
			return
		}
		out := map[string]any{"jsonrpc": "2.0", "id": json.RawMessage(in.Get("id").Raw)}
		switch in.Get("method").String() {
		case "initialize":
			out["result"] = map[string]any{
				"protocolVersion": "2025-06-18", "capabilities": map[string]any{"tools": map[string]any{}}, "serverInfo": map[string]any{"name": recorded, "version": "1"},
			}
		case "tools/list":
			out["result"] = map[string]any{"tools": definitions}
		case "tools/call":
			out["result"] = map[string]any{"content": []map[string]any{{"type": "text", "text": "ok"}}}
		case "ping":
			out["result"] = map[string]any{}
		default:
			out["error"] = map[string]any{"code": -32601, "message": "no such method"}
		}
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(out); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(at.Close)
	return fmt.Sprintf(`{"type":"http","url":%q}`, at.URL)
}

// firstBlock returns the id of the first block that a condition selects.
func firstBlock(t *testing.T, g *gateway.Gateway, where string) string {
	t.Helper()
	return runAction(t, g, "search/query_sql", map[string]any{"stmt": "SELECT id FROM blocks WHERE " + where}).Get("data.0.id").String()
}

// TestUsualCalls makes the calls of calls.jsonl, as MCP clients usually make them, and checks for each one whether it
// runs, a person is asked, or it is refused.
func TestUsualCalls(t *testing.T) {
	p := gateway.LinkPrograms(t)
	settings := p.Settings(t, []gateway.Server{
		{Name: "commander", Entry: serveRecorded(t, "desktop-commander")},
		{Name: "git", Entry: serveRecorded(t, "git")},
		{Name: "browser", Entry: serveRecorded(t, "playwright")},
		{Name: "pages", Entry: serveRecorded(t, "notion")},
	}, `"siyuan":{}`)
	g := p.Serve(t, settings)
	box := runAction(t, g, "notebook/create", map[string]any{"name": "Box"}).Get("id").String()
	for _, title := range []string{"Plans", "Diary", "Recipes", "读书笔记", "Projects", "Kept", "Kept/Child"} {
		runAction(t, g, "fs/write", map[string]any{"path": "/Box/" + title, "markdown": "words about #tea# and others\n\nmore words in " + title})
	}
	if out, stderr, code := p.Run(t, g.Home, "siyuan", "permission", "set", box, "rwd", "--config", settings); code != 0 {
		t.Fatalf("set a level: %s%s", out, stderr)
	}
	stands := strings.NewReplacer(
		"$box", box, "$doc", firstBlock(t, g, "type='d' AND content='Plans'"), "$other", firstBlock(t, g, "type='d' AND content='Diary'"),
		"$kept", firstBlock(t, g, "type='d' AND content='Kept'"), "$child", firstBlock(t, g, "type='d' AND content='Child'"),
		"$block", firstBlock(t, g, "type='p' AND content='more words in Kept'"),
	)
	token, _, _ := g.Keys(t)
	f, err := os.Open("calls.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	counted, failed := map[string]int{}, 0
	for lines := bufio.NewScanner(f); lines.Scan(); {
		c := gjson.Parse(lines.Text())
		name := strings.Replace(c.Get("name").String(), "__", "/", 1)
		_, answer := sendJSON(t, "POST", g.URL+"/api/v1/calls", token, fmt.Sprintf(`{"name":%q,"args":%s}`, name, stands.Replace(c.Get("args").Raw)))
		got := "run"
		switch answer.Get("error.type").String() {
		case string(tool.Unconfirmed):
			got = "ask"
		case string(tool.Denied), string(tool.Disabled):
			got = "refuse"
		case "":
		default:
			failed++
			t.Logf("failed: %s %s", lines.Text(), answer.Raw)
		}
		if answer.Get("isError").Bool() {
			failed++
			t.Logf("failed: %s %s", lines.Text(), answer.Raw)
		}
		if counted[c.Get("risk").String()]++; got != c.Get("want").String() {
			t.Errorf("%s: %s, %s", lines.Text(), got, answer.Raw)
		}
	}
	checkNoStore(t, g)
	if fmt.Sprint(counted) != "map[high:15 low:40 medium:25 none:120]" || failed > 0 {
		t.Errorf("%v calls, %d failed by themselves", counted, failed)
	}
}

// checkNoStore fails the test if the database of conversations and grants was made.
func checkNoStore(t *testing.T, g *gateway.Gateway) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(g.Home, "data", "collie.db")); !os.IsNotExist(err) {
		t.Errorf("calls of clients have opened the store: %v", err)
	}
}
