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
	tb := newTable()
	tb.row("call of", "answered by", "outcome", "then session 2")
	for _, own := range []struct {
		name  string
		types string
		code  int
	}{{"terminal, y", "y\r", 0}, {"terminal, n", "n\r", 5}, {"terminal, Enter", "\r", 5}} {
		sc := w.terminalIn(t, s.Home, "system", "workspace-info")
		sc.Shows("Run it?")
		sc.Types(own.types)
		sc.Ends(own.code)
		tb.row("own command", own.name, map[int]string{0: "ran", 5: "not confirmed"}[own.code], "")
	}
	for _, own := range []struct {
		name string
		args []string
		code int
	}{{"nobody", nil, 5}, {"--yes", []string{"--yes"}, 0}} {
		args := append([]string{"--config", w.settings, "system", "workspace-info"}, own.args...)
		w.cliIn(t, s.Home, nil, args...).wantCode(t, own.code)
		tb.row("own command", own.name, map[int]string{0: "ran", 5: "not confirmed"}[own.code], "")
	}
	second := s.session(t, s.token, `{}`)
	for _, by := range []struct{ name, types, want string }{
		{"confirm, y piped in", "", "code"},
		{"confirm, n at a terminal", "n\r", "confirmation_declined"},
		{"confirm, y at a terminal", "y\r", "ran"},
	} {
		first := s.session(t, s.token, `{}`)
		code, ok := strings.CutPrefix(verdict(first.call(t, nil)), "code ")
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
			sc.Shows("Let it run once?")
			sc.Types(by.types)
			sc.Ends(map[bool]int{true: 0, false: 5}[by.want == "ran"])
		}
		other, _, _ := strings.Cut(verdict(second.call(t, nil)), " ")
		got, _, _ := strings.Cut(verdict(first.call(t, nil)), " ")
		tb.row("session 1", by.name, got, other)
		if got != by.want || other != "code" {
			t.Errorf("%s: %s for the client that asked, want %s; %s for another one, want a code", by.name, got, by.want, other)
		}
	}
	t.Log(tb.text())
}
