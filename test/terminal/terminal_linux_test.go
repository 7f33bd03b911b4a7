package terminal_test

import (
	"testing"

	"collie/test/terminal"
)

// WaitFor finds a text that was drawn in pieces, also if it was cleared before the test looked, and finds it only once.
func TestWaitFor(t *testing.T) {
	t.Parallel()
	s := terminal.Run(t, terminal.Size{Columns: 40, Rows: 5}, "sh", "-c",
		`printf 'half a lin\033[1G\033[11Ge\033[?25h\033[2J\033[Hready\033[?25h'; read x; printf '\033[1Ggo\033[K\033[?25h'`)
	s.WaitFor("half a line", "ready")
	s.Type("\n")
	s.WaitFor("go")
	s.WaitForExit(0)
}
