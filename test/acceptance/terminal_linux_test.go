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
		s.Shows("1/3")
		s.Types("\r")
		s.Shows("2/3")
		s.Types("n")
		s.Shows("3/3")
		s.Types("p")
		s.Shows("2/3")
		s.Types(quit)
		s.Ends(0)
	}
}

// TestDangerousCallsAtATerminal asks the person at the terminal: only a yes runs the call.
func TestDangerousCallsAtATerminal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.terminal(t, "fs", "rm", "/Work/Plan")
	s.Shows("/Work/Plan")
	s.Types("n\r")
	s.Ends(5)
	w.wantNoWrites(t)
	s = w.terminal(t, "fs", "rm", "/Work/Plan/Budget")
	s.Shows("/Work/Plan/Budget")
	s.Types("y\r")
	s.Ends(0)
	if n := len(w.Writes()); n != 1 {
		t.Errorf("writes %v", paths(w.Writes()))
	}
}
