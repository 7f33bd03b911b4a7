package cli_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"collie/test/binary"
)

// TestConnectAtATerminal tests the questions of connect.
func TestConnectAtATerminal(t *testing.T) {
	t.Parallel()
	program := binary.Build(t, binary.Collie)
	t.Run("the settings of the gateway", func(t *testing.T) { testConnectAsksWhichSettings(t, program) })
	t.Run("the tools for notes", func(t *testing.T) { testConnectAsksForNotes(t, program) })
}

// The questions that connect asks.
const (
	notesQuestion    = "Give Cursor the tools for your notes too? [Y/n] "
	settingsQuestion = "Connect the client to those? [Y/n] "
)

// The answer about notes is stored as a profile of the client, and is not asked for again.
func testConnectAsksForNotes(t *testing.T, program string) {
	t.Parallel()
	home := t.TempDir()
	file := filepath.Join(home, ".cursor", "mcp.json")
	if exit, shown := runAtTerminal(t, program, home, [][2]string{{notesQuestion, "what\n"}, {notesQuestion, "n\n"}}, nil, "connect", "cursor"); exit != 0 {
		t.Fatalf("exit code %d:\n%s", exit, shown)
	}
	if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), `"--profile", "cursor"`) {
		t.Errorf("%v: %s", err, text)
	}
	if got := readSettings(t, home); !strings.Contains(got, `"cursor"`) || !strings.Contains(got, `"fs"`) {
		t.Errorf("the settings are %s", got)
	}
	if exit, shown := runAtTerminal(t, program, home, nil, nil, "connect", "cursor"); exit != 0 || !strings.Contains(shown, "has it already") {
		t.Errorf("again: exit code %d:\n%s", exit, shown)
	}
	other := t.TempDir()
	if exit, shown := runAtTerminal(t, program, other, [][2]string{{notesQuestion, "\n"}}, nil, "connect", "cursor"); exit != 0 || readSettings(t, other) != "" {
		t.Errorf("with notes: exit code %d:\n%s", exit, shown)
	}
	if exit, shown := runAtTerminal(t, program, t.TempDir(), nil, nil, "connect", "cursor", "--dry-run"); exit != 0 || strings.Contains(shown, "[Y/n]") {
		t.Errorf("a dry run: exit code %d:\n%s", exit, shown)
	}
}

// If a gateway is running with other settings, the person is asked which ones the client should use.
func testConnectAsksWhichSettings(t *testing.T, program string) {
	t.Parallel()
	home := t.TempDir()
	served := filepath.Join(t.TempDir(), "served.json")
	if err := os.WriteFile(served, []byte(`{}`), 0o600); err != nil {
		t.Fatal(err)
	}
	gateway := exec.CommandContext(t.Context(), program, "serve", "--config", served, "--http", "127.0.0.1:0")
	gateway.Env = append(os.Environ(), "COLLIE_HOME="+home, "HOME="+home, "SIYUAN_API_URL=")
	said, err := gateway.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := gateway.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = gateway.Process.Signal(syscall.SIGTERM)
		_ = gateway.Wait()
	})
	lines := bufio.NewScanner(said)
	for lines.Scan() && !strings.Contains(lines.Text(), "ready:") {
		continue
	}
	file := filepath.Join(home, ".cursor", "mcp.json")
	exit, shown := runAtTerminal(t, program, home, [][2]string{{settingsQuestion, "\n"}, {notesQuestion, "y\n"}}, nil, "connect", "cursor")
	if text, err := os.ReadFile(file); exit != 0 || err != nil || !strings.Contains(string(text), `"--config", "`+served+`"`) {
		t.Errorf("exit code %d, %v: %s\n%s", exit, err, text, shown)
	}
	exit, shown = runAtTerminal(t, program, home, [][2]string{{settingsQuestion, "no\n"}, {notesQuestion, "y\n"}}, nil, "connect", "cursor", "--force")
	if text, err := os.ReadFile(file); exit != 0 || err != nil || strings.Contains(string(text), "--config") {
		t.Errorf("exit code %d, %v: %s\n%s", exit, err, text, shown)
	}
}
