package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"collie/test/binary"
)

// What a VS Code file calls ${input:id} is asked for at a terminal when its server is to start here, once, and reaches the
// server. A password is not shown. An input that is left out is asked for again.
func TestInputsAreAsked(t *testing.T) {
	t.Parallel()
	program, home := binary.Build(t, binary.Collie), t.TempDir()
	got := filepath.Join(home, "got")
	settings := fmt.Sprintf(`{
		"secrets": {"store": "file"},
		"servers": {
			"one": {"command": "/bin/sh", "args": ["-c", "echo \"$0 $KEY\" > \"$1\"", "${input:region}", %q], "env": {"KEY": "${input:key}"}},
			"two": {"command": "/bin/sh", "args": ["${input:other}"]}
		},
		"inputs": [
			{"id": "region", "type": "pickString", "description": "地区", "options": ["eu", "us"]},
			{"id": "key", "type": "promptString", "password": true}
		]
	}`, got)
	if err := os.WriteFile(filepath.Join(home, "collie.json"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	const region, key = "region, 地区: ", "key: "
	_, shown := runAtTerminal(t, program, home, [][2]string{{region, "3\n"}, {region, "2\n"}, {key, "\r"}}, nil, "call", "one", "echo")
	if raw, err := os.ReadFile(got); err == nil || !strings.Contains(shown, "input:key") {
		t.Errorf("without its key the server got %s, shown:\n%s", raw, shown)
	}
	_, shown = runAtTerminal(t, program, home, [][2]string{{key, "geheim\r"}}, nil, "call", "one", "echo")
	if raw, err := os.ReadFile(got); err != nil || string(raw) != "us geheim\n" {
		t.Errorf("the server got %s, %v; shown:\n%s", raw, err, shown)
	}
	if strings.Contains(shown, region) || strings.Contains(shown, "geheim") {
		t.Errorf("asked again, or the password is shown:\n%s", shown)
	}
	for _, args := range [][]string{{"call", "one", "echo"}, {"call", "one", "echo", "--json"}} {
		if _, shown = runAtTerminal(t, program, home, nil, nil, args...); strings.Contains(shown, key) {
			t.Errorf("%v: asked again:\n%s", args, shown)
		}
	}
}
