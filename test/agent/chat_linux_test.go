package agent_test

import (
	"strings"
	"testing"

	"collie/test/fakellm/provider"
	"collie/test/terminal"
)

// A person talks at a terminal: an answer, a question of the gate, a draft that outlives the program.
func TestChatAtATerminal(t *testing.T) {
	t.Parallel()
	p, settings := world(t, answers(
		provider.Turn{Say: "# 茶\n\n乌龙 **at** four"},
		calls("fs", `{"action":"mv","from":"/Welcome/Writing","to":"/Welcome/Minutes"}`), provider.Turn{Say: "it is there"},
	))
	home := t.TempDir()
	chat := func(size terminal.Size, args ...string) *terminal.Screen {
		return terminal.Run(t, size, p.Collie, append([]string{"chat", "--home", home, "--config", settings}, args...)...)
	}
	s := chat(terminal.Size{Columns: 80, Rows: 24})
	s.Shows("collie chat")
	s.Types("你好\r") // most likely before the conversation is open
	s.Shows("乌龙", "tokens in")
	s.Types("rename it\r")
	s.Shows("Run it?")
	s.Resize(terminal.Size{Columns: 40, Rows: 12})
	s.Types("y")
	s.Shows("it is there", "tokens in")
	s.Types("half typed")
	s.Types("\x03")
	s.Shows("again leaves")
	s.Types("\x03")
	s.Ends(0)

	s = chat(terminal.Size{Columns: 200, Rows: 60}, "--continue")
	s.Shows("half typed")
	s.Types("\x04\x03\x03")
	s.Ends(0)

	out, stderr, code := p.RunOn(t, home, strings.NewReader("/fs ls --path /Welcome\n"), "chat", "--continue", "--config", settings)
	if code != 0 || !strings.Contains(out, "Minutes") {
		t.Errorf("exit %d, want the document by the name that was agreed to\n%s\n%s", code, out, stderr)
	}
	p.AwaitNone(t, leaveLimit)
}
