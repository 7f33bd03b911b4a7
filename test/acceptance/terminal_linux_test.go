package acceptance_test

import (
	"fmt"
	"testing"

	"collie/test/terminal"
)

// terminal runs `collie args…` in a new terminal, with a new home.
func (w *world) terminal(t *testing.T, args ...string) *terminal.Screen {
	t.Helper()
	return w.terminalIn(t, t.TempDir(), args...)
}

// terminalIn is like terminal, but uses the given home.
func (w *world) terminalIn(t *testing.T, home string, args ...string) *terminal.Screen {
	t.Helper()
	return terminal.Run(t, terminal.Size{}, w.Collie, append([]string{"--home", home, "--config", w.settings}, args...)...)
}

// TestPaging turns pages with keys.
func TestPaging(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 7 {
		w.Doc(w.work, fmt.Sprintf("/Paged %d", i), "x")
	}
	for _, quit := range []string{"q", "\x1b", "\x03"} {
		s := w.terminal(t, "notebook", "get-child-docs", "--notebook", w.work, "--page-size", "3")
		s.WaitFor("1/3")
		s.Type("\r")
		s.WaitFor("2/3")
		s.Type("n")
		s.WaitFor("3/3")
		s.Type("p")
		s.WaitFor("2/3")
		s.Type(quit)
		s.WaitForExit(0)
	}
}

// TestDangerousCallsAtATerminal asks the person at the terminal: only a yes runs the call.
func TestDangerousCallsAtATerminal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.terminal(t, "fs", "rm", "/Work/Plan")
	s.WaitFor("/Work/Plan")
	s.Type("n\r")
	s.WaitForExit(5)
	w.wantNoWrites(t)
	s = w.terminal(t, "fs", "rm", "/Work/Plan/Budget")
	s.WaitFor("/Work/Plan/Budget")
	s.Type("y\r")
	s.WaitForExit(0)
	if n := len(w.Writes()); n != 1 {
		t.Errorf("writes %v", endpointsOf(w.Writes()))
	}
}
