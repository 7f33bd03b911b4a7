//go:build stories

package agent_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"collie/test/binary"
	"collie/test/fakellm/provider"
	"collie/test/gateway"
)

// fileServerEntries returns two entries of mcpServers for the public filesystem server, the second in the form that web pages show,
// and a file that the server may read.
func fileServerEntries(t *testing.T) (entry, page, file string) {
	t.Helper()
	modules := binary.Packages(t, "../conformance")
	folder := t.TempDir()
	file = filepath.Join(folder, "tea.txt")
	if err := os.WriteFile(file, []byte("oolong at four"), 0o600); err != nil {
		t.Fatal(err)
	}
	args, err := json.Marshal([]string{filepath.Join(modules, "@modelcontextprotocol", "server-filesystem", "dist", "index.js"), folder})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(`{"command":%q,"args":%s}`, binary.Node(t, modules), args), fmt.Sprintf(
		`{"command":"npx","args":["-y","@modelcontextprotocol/server-filesystem",%q],"cwd":%q}`, folder, filepath.Dir(modules)), file
}

// noteFileScript returns a script in which the model reads a file and writes its content into a note.
func noteFileScript(file string) provider.Script {
	return scriptOf(
		callTurn("read_text_file", fmt.Sprintf(`{"path":%q}`, file)),
		callTurn("notebook", `{"action":"create","name":"Tea"}`),
		callTurn("fs", `{"action":"write","path":"/Tea/When","markdown":"oolong at four"}`),
		provider.Turn{Say: "got $RESULTS"},
	)
}

// A model reads a file through a public server and writes a note: from the command line, with the server in the settings
// or as an entry that stands alone in a file, and over HTTP.
func TestModelReadsFile(t *testing.T) {
	entry, page, file := fileServerEntries(t)
	allow := []string{"notebook.create", "fs.write"}
	for name, bare := range map[string]bool{"settings": false, "an entry alone": true} {
		t.Run(name, func(t *testing.T) {
			servers := []gateway.Server{{Name: "files", Entry: entry}}
			if bare {
				servers = nil
			}
			p, settings := newPrograms(t, noteFileScript(file), servers...)
			args := []string{"agent", "run", "note what the file says", "--allow", allow[0], "--allow", allow[1], "--config", settings, "--json"}
			server := "files"
			if bare {
				alone := filepath.Join(t.TempDir(), "mcp-servers.json")
				if err := os.WriteFile(alone, []byte(page), 0o600); err != nil {
					t.Fatal(err)
				}
				args = append(args, "--config", alone)
				server = "filesystem" // after its package
			}
			home := t.TempDir()
			out, stderr, code := p.Run(t, home, args...)
			if code != 0 || !strings.Contains(out, "oolong at four") || !strings.Contains(out, "/Tea/When") {
				t.Errorf("exit %d\n%.4000s\n%s", code, out, stderr)
			}
			for _, tool := range []string{server, "notebook", "fs.write"} {
				wantAuditedCalls(t, home, tool, 1)
			}
			p.AwaitNone(t, leaveLimit)
		})
	}
	t.Run("HTTP", func(t *testing.T) {
		p, settings := newPrograms(t, noteFileScript(file), gateway.Server{Name: "files", Entry: entry})
		g := p.Serve(t, settings)
		control := g.Control(t)
		_, made := post(t, g.URL+"/api/v1/sessions", control, "application/json", `{"title":"tea"}`)
		_, accepted := post(t, g.URL+"/api/v1/sessions/"+made.Get("id").String()+"/turns", control, "application/json",
			`{"userMessage":{"text":"note what the file says"},"overrides":{"allow":["notebook.create","fs.write"]}}`)
		turn := accepted.Get("turnId").String()
		var f heardTurn
		f.listen(t, t.Context(), g, control, "/events?sessions="+made.Get("id").String(), turn, 0)
		end := awaitTurnEnd(t, g, turn)
		if f.state != "done" || !f.started || f.text != textOf(end) || !strings.Contains(f.text, "/Tea/When") {
			t.Errorf("heard %+v of %s", f, end.Raw)
		}
		if !strings.Contains(end.Raw, "oolong at four") {
			t.Errorf("the file was not read: %s", end.Raw)
		}
		if note := callAsPerson(t, g, "fs/read", map[string]any{"path": "/Tea/When"}).Raw; !strings.Contains(note, "oolong at four") {
			t.Errorf("the note says %s", note)
		}
		g.Signal(os.Interrupt)
		g.ExitCode()
		for tool, want := range map[string]int{"files": 1, "notebook": 1, "fs.write": 1} {
			wantAuditedCalls(t, g.Home, tool, want)
		}
		p.AwaitNone(t, leaveLimit)
	})
}
