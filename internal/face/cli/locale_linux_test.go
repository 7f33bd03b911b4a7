package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"collie/test/binary"
)

// A question at a terminal is in the terminal's language and can be answered in it. A Chinese character takes
// two columns of a table.
func TestChineseAtATerminal(t *testing.T) {
	t.Parallel()
	program := binary.Build(t, binary.Collie)
	home := t.TempDir()
	chinese := []string{"LC_ALL=zh_CN.UTF-8"}
	const question = "也让 Cursor 使用你的笔记工具吗？ [Y/n] "
	exit, shown := runAtTerminal(t, program, home, [][2]string{{question, "否\n"}}, chinese, "connect", "cursor")
	if text, err := os.ReadFile(filepath.Join(home, ".cursor", "mcp.json")); exit != 0 || err != nil || !strings.Contains(string(text), `"--profile", "cursor"`) {
		t.Errorf("exit code %d, %v: %s\n%s", exit, err, text, shown)
	}
	_, shown = runAtTerminal(t, program, home, nil, chinese, "connect", "--list")
	lines := strings.Split(strings.ReplaceAll(shown, "\r", ""), "\n")
	if len(lines) < 2 || !strings.HasPrefix(strings.TrimPrefix(lines[0], "\x1b[1m"), "客户端") || !strings.Contains(shown, "已连接") {
		t.Errorf("the connections are shown as\n%s", shown)
	}
}
