package terminal

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"collie/test/binary"
)

// Xterm is a terminal emulator: xterm.js without a window, run by Node.
type Xterm struct{ script string }

// NewXterm installs the emulator from npm. dir is the path of this folder, relative to the folder of the test.
func NewXterm(t *testing.T, dir string) Xterm {
	t.Helper()
	dir = filepath.Join(dir, "xterm")
	binary.Packages(t, dir)
	return Xterm{filepath.Join(dir, "screen.mjs")}
}

// View is what a terminal shows.
type View struct {
	Above  []string // lines that have scrolled off
	Screen []string // as many lines as the terminal has rows
	Column int      // column and row of the cursor, from 0
	Row    int
}

// String returns all lines, without empty ones at the end.
func (v *View) String() string {
	return strings.TrimRight(strings.Join(append(append([]string(nil), v.Above...), v.Screen...), "\n"), "\n") + "\n"
}

// View returns what xterm.js would show after everything that has happened to the terminal of s.
func (x Xterm) View(s *Screen) *View {
	s.t.Helper()
	var in bytes.Buffer
	s.mu.Lock()
	for _, e := range s.all {
		line, err := json.Marshal(e)
		if err != nil {
			s.t.Fatal(err)
		}
		in.Write(append(line, '\n'))
	}
	s.mu.Unlock()
	cmd := exec.CommandContext(s.t.Context(), "node", x.script)
	cmd.Stdin = &in
	out, err := cmd.Output()
	if err != nil {
		s.t.Fatal(err)
	}
	var got struct {
		Lines  []string
		Top    int
		Cursor [2]int
	}
	if err := json.Unmarshal(out, &got); err != nil {
		s.t.Fatalf("%v in %s", err, out)
	}
	return &View{Above: got.Lines[:got.Top], Screen: got.Lines[got.Top:], Column: got.Cursor[0], Row: got.Cursor[1]}
}
