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

// A model reads a file through a public server and writes a note.
func TestModelReadsFile(t *testing.T) {
	modules := binary.Packages(t, "../conformance")
	folder := t.TempDir()
	file := filepath.Join(folder, "tea.txt")
	if err := os.WriteFile(file, []byte("oolong at four"), 0o600); err != nil {
		t.Fatal(err)
	}
	args, err := json.Marshal([]string{filepath.Join(modules, "@modelcontextprotocol", "server-filesystem", "dist", "index.js"), folder})
	if err != nil {
		t.Fatal(err)
	}
	entry := fmt.Sprintf(`{"command":%q,"args":%s}`, binary.Node(t, modules), args)
	p, settings := world(t, answers(
		calls("read_text_file", fmt.Sprintf(`{"path":%q}`, file)),
		calls("notebook", `{"action":"create","name":"Tea"}`),
		provider.Turn{Say: "got $RESULTS"},
	), gateway.Server{Name: "files", Entry: entry})
	home := t.TempDir()
	out, stderr, code := p.Run(t, home, "agent", "run", "note what the file says", "--allow", "notebook.create", "--config", settings, "--json")
	if code != 0 || !strings.Contains(out, "oolong at four") || !strings.Contains(out, "Tea") {
		t.Errorf("exit %d\n%.4000s\n%s", code, out, stderr)
	}
	pairs(t, home, "files", 1)
	pairs(t, home, "notebook", 1)
	p.AwaitNone(t, leaveLimit)
}
