package firewall_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"collie/internal/pipeline/firewall"
	"collie/internal/tool"
)

const home = "/home/ada"

// readLines returns the lines of a file of testdata that are not comments.
func readLines(t testing.TB, name string) (out []string) {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if line := s.Text(); line != "" && !strings.HasPrefix(line, "# ") {
			out = append(out, strings.ReplaceAll(line, "⏎", "\n"))
		}
	}
	return out
}

// newCall returns a call of a tool of a foreign MCP server.
func newCall(t testing.TB, name string, args any) *tool.Call {
	t.Helper()
	raw, ok := args.(string)
	if !ok {
		b, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		raw = string(b)
	}
	return &tool.Call{
		Request: tool.Request{Kind: tool.KindCall, Name: "srv__" + name, Origin: tool.Chat}, Tool: "srv", Args: json.RawMessage(raw),
		Action: &tool.Action{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)},
	}
}

func newShellCall(t testing.TB, command string) *tool.Call {
	return newCall(t, "run_command", map[string]string{"command": command})
}

func judge(c *tool.Call) firewall.Verdict {
	return (&firewall.Policy{}).Judge(c, &firewall.Files{Home: home}, nil)
}

func TestDangerousCommands(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"dangerous.txt", "bypasses.txt"} {
		for _, line := range readLines(t, name) {
			want, command, _ := strings.Cut(line, " ")
			if v := judge(newShellCall(t, command)); v.Decision.String() != want {
				t.Errorf("%s: %q: %s by %q (%s), want %s", name, command, v.Decision, v.Rule, v.Reason, want)
			}
		}
	}
}

func TestHarmlessCommands(t *testing.T) {
	t.Parallel()
	for _, command := range readLines(t, "harmless.txt") {
		if v := judge(newShellCall(t, command)); v.Decision != firewall.Allow || v.Rule != "command.known" || v.Risk != tool.RiskLow {
			t.Errorf("%q: %s by %q (%s)", command, v.Decision, v.Rule, v.Reason)
		}
	}
}

// A secret file is found even behind many other files.
func TestManyPaths(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"~/.ssh/id_ed25519", "deep/id_rsa", "/etc/shadow"} {
		if v := judge(newShellCall(t, "cat"+strings.Repeat(" a.txt", 500)+" "+file)); v.Decision != firewall.Deny || v.Rule != "path.secret" {
			t.Errorf("cat … %s: %s by %q", file, v.Decision, v.Rule)
		}
		paths := append(strings.Fields(strings.Repeat("a.txt ", 500)), file)
		if v := judge(newCall(t, "read_files", map[string][]string{"paths": paths})); v.Decision != firewall.Deny || v.Rule != "path.secret" {
			t.Errorf("paths, the last one %s: %s by %q", file, v.Decision, v.Rule)
		}
	}
}

// A destructive command is found before and after many harmless commands, and in a text that is too long to be parsed.
func TestPadding(t *testing.T) {
	t.Parallel()
	const harm = "rm -rf /"
	for name, pad := range map[string]string{
		"commands": strings.Repeat("true; ", 200), "lines": strings.Repeat("true\n", 2000), "a long word": "echo " + strings.Repeat("a", 20<<10) + "; ",
		"words": "x" + strings.Repeat(" a", 5000) + "; ", "comments": strings.Repeat("# a\n", 6000),
	} {
		for _, command := range []string{pad + harm, harm + "; " + pad} {
			if v := judge(newShellCall(t, command)); v.Decision != firewall.Deny || v.Rule != "command.everything" {
				t.Errorf("%s: %s by %q", name, v.Decision, v.Rule)
			}
		}
	}
}
