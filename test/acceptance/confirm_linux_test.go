package acceptance_test

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// TestWhoAnswersAtATerminal confirms a person's own commands, and a client's call with "collie confirm". What is typed
// at a terminal counts, what is piped in does not. The answer counts only for the client that was shown the code.
func TestWhoAnswersAtATerminal(t *testing.T) {
	t.Parallel()
	w, s, _ := confirmWorld(t)
	tb := newOutcomeTable()
	tb.addRow("call of", "answered by", "outcome", "then session 2")
	for _, own := range []struct {
		name  string
		types string
		code  int
	}{{name: "terminal, y", types: "y\r"}, {name: "terminal, n", types: "n\r", code: 5}, {name: "terminal, Enter", types: "\r", code: 5}} {
		sc := w.terminalIn(t, s.Home, "system", "workspace-info")
		sc.WaitFor("Run it?")
		sc.Type(own.types)
		sc.WaitForExit(own.code)
		tb.addRow("own command", own.name, map[int]string{0: "ran", 5: "not confirmed"}[own.code], "")
	}
	for _, own := range []struct {
		name string
		args []string
		code int
	}{{name: "nobody", code: 5}, {name: "--yes", args: []string{"--yes"}}} {
		args := append([]string{"--config", w.settings, "system", "workspace-info"}, own.args...)
		w.runCLIIn(t, s.Home, nil, args...).wantCode(t, own.code)
		tb.addRow("own command", own.name, map[int]string{0: "ran", 5: "not confirmed"}[own.code], "")
	}
	second := s.openLegacy(t, s.token, `{}`)
	for _, by := range []struct{ name, types, want string }{
		{name: "confirm, y piped in", want: "code"},
		{name: "confirm, n at a terminal", types: "n\r", want: "confirmation_declined"},
		{name: "confirm, y at a terminal", types: "y\r", want: "ran"},
	} {
		first := s.openLegacy(t, s.token, `{}`)
		code, ok := strings.CutPrefix(outcomeOf(first.call(t, nil)), "code ")
		if !ok {
			t.Fatalf("%s: no code but %s", by.name, code)
		}
		if by.types == "" {
			cmd := exec.CommandContext(t.Context(), w.Collie, "--home", s.Home, "--config", w.settings, "confirm", code)
			cmd.Stdin = strings.NewReader("y\n")
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // without a terminal
			if out, err := cmd.CombinedOutput(); err == nil {
				t.Errorf("%s: it answers %s", by.name, out)
			}
		} else {
			sc := w.terminalIn(t, s.Home, "confirm", code)
			sc.WaitFor("Let it run once?")
			sc.Type(by.types)
			sc.WaitForExit(map[bool]int{true: 0, false: 5}[by.want == "ran"])
		}
		other, _, _ := strings.Cut(outcomeOf(second.call(t, nil)), " ")
		got, _, _ := strings.Cut(outcomeOf(first.call(t, nil)), " ")
		tb.addRow("session 1", by.name, got, other)
		if got != by.want || other != "code" {
			t.Errorf("%s: %s for the client that asked, want %s; %s for another one, want a code", by.name, got, by.want, other)
		}
	}
	t.Log(tb.text())
}
