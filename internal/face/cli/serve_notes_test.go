package cli_test

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/test/binary"
)

// A gateway that offers only notes says so, and does not suggest adding servers.
func TestServeTellsOfNotes(t *testing.T) {
	t.Parallel()
	k := kerneltest.New(t)
	k.Notebook("工作")
	home, program := t.TempDir(), binary.Build(t, binary.Collie) // building may take a while
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "serve", "--http", "127.0.0.1:0", "--no-auth")
	cmd.Env = append(os.Environ(), "COLLIE_HOME="+home, "HOME="+home, "SIYUAN_API_URL="+k.URL())
	out, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	said := ""
	for lines := bufio.NewScanner(out); !strings.Contains(said, "ready: ") && lines.Scan(); {
		said += lines.Text() + "\n"
	}
	cancel()
	_ = cmd.Wait() // it was told to end
	if !strings.Contains(said, "serving your SiYuan notes") || !strings.Contains(said, "connect claude-code") || !strings.Contains(said, "ready: 11 tools of SiYuan at http://127.0.0.1:") {
		t.Errorf("it says\n%s", said)
	}
	if strings.Contains(said, "no MCP server") {
		t.Errorf("it asks for a server:\n%s", said)
	}
}
