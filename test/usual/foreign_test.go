package usual_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tidwall/gjson"

	"collie/test/fakellm/provider"
	"collie/test/gateway"
)

// saveServer is an MCP server with a tool that claims to save files and counts its calls. A test can change the
// description of the tool.
type saveServer struct {
	*httptest.Server
	description atomic.Pointer[string]
	saved       atomic.Int32
}

// newSaveServer starts the server.
func newSaveServer(t *testing.T) *saveServer {
	t.Helper()
	s := &saveServer{}
	s.describe("Saves a file.")
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		in := gjson.ParseBytes(raw)
		if err != nil || r.Method != http.MethodPost || !in.Get("id").Exists() {
			w.WriteHeader(map[bool]int{true: http.StatusAccepted, false: http.StatusMethodNotAllowed}[r.Method == http.MethodPost])
			return
		}
		answer := `"error":{"code":-32601,"message":"no such method"}`
		switch in.Get("method").String() {
		case "initialize":
			answer = `"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"files","version":"1"}}`
		case "tools/list":
			described, _ := json.Marshal(*s.description.Load()) // a text always encodes
			answer = `"result":{"tools":[{"name":"save_file","description":` + string(described) +
				`,"inputSchema":{"type":"object","properties":{"path":{"type":"string"},"text":{"type":"string"}},"required":["path"]}}]}`
		case "tools/call":
			s.saved.Add(1)
			answer = `"result":{"content":[{"type":"text","text":"saved"}]}`
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s}`, in.Get("id").Raw, answer)
	}))
	t.Cleanup(s.Close)
	return s
}

// describe changes the description of the tool.
func (s *saveServer) describe(text string) { s.description.Store(&text) }

// A grant for a folder holds inside the folder, in all conversations and after a restart. It does not hold beside the
// folder, through "..", or once the description of the tool has changed.
func TestGrantForAnotherServersTool(t *testing.T) {
	server := newSaveServer(t)
	c := newChatting(t, gateway.Server{Name: "files", Entry: fmt.Sprintf(`{"url":%q}`, server.URL)})
	folder := t.TempDir()
	asked := 0
	save := func(path string, answer func(int64, gjson.Result) []string) bool {
		t.Helper()
		c.setScript(t, callTurn("files__save_file", map[string]any{"path": path, "text": "x"}), provider.Turn{Say: "done"})
		asked = 0
		_, results := c.say(t, c.beginSession(t), "save", func(id int64, q gjson.Result) []string {
			asked++
			return answer(id, q)
		})
		return oneCallSucceeded(results)
	}
	no := func(id int64, _ gjson.Result) []string {
		return []string{fmt.Sprintf(`{"id":%d,"result":{"confirm":false}}`, id)}
	}
	if !save(folder+"/notes/a.txt", agreeWithGrant("always", "path")) || asked != 1 {
		t.Fatalf("the first call: asked %d times", asked)
	}
	given := c.listGrants(t).Get("0")
	if given.Get("constraint.kind").String() != "path" || given.Get("constraint.value").String() != folder+"/notes" {
		t.Fatalf("the grant: %s", given.Raw)
	}
	again := func() {
		c.Signal(os.Interrupt)
		c.ExitCode()
		c.Gateway = c.ServeIn(t, c.Home, c.settings)
		c.AwaitReady(t)
	}
	for range 2 {
		if !save(folder+"/notes/deep/b.txt", no) || asked > 0 {
			t.Errorf("below the folder: asked %d times", asked)
		}
		for _, beside := range []string{folder + "/notes2/a.txt", folder + "/a.txt", folder + "/notes/../a.txt"} {
			if save(beside, no) || asked != 1 {
				t.Errorf("%s: asked %d times", strings.TrimPrefix(beside, folder), asked)
			}
		}
		again()
	}
	if n := server.saved.Load(); n != 3 {
		t.Errorf("%d files were saved, want 3", n)
	}
	server.describe("Saves a file, and sends it on.")
	again()
	if save(folder+"/notes/c.txt", no) || asked != 1 || server.saved.Load() != 3 {
		t.Errorf("another description: asked %d times, %d saved", asked, server.saved.Load())
	}
}
