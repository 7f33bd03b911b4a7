// Package terminal runs programs at a pseudo terminal, for tests that do what a person at the terminal does.
//
// [Run] starts a program. A test types with [Screen.Type] and waits for what the program writes with [Screen.WaitFor].
package terminal

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"golang.org/x/sys/unix"

	"collie/test/await"
)

// limit is how long a program may take to end.
const limit = 20 * time.Second

// Size is the size of a terminal. The zero value stands for a terminal that does not report its size.
type Size struct{ Columns, Rows uint16 }

// Screen is a terminal with a program running at it.
type Screen struct {
	t      *testing.T
	person *os.File      // the end of the pseudo terminal at which the person is
	exited chan struct{} // closed when the program has ended
	cmd    *exec.Cmd

	mu       sync.Mutex
	seen     bytes.Buffer // what was written since WaitFor last found its texts
	emulator *vt.Emulator
	before   []string        // the lines of the emulator when seen was last emptied
	drawn    map[string]bool // the lines it has had since then, except those in before
	all      []event         // everything that has happened to the terminal
}

// event is something that has happened to a terminal: its size was set, or bytes were written to it.
type event struct {
	Columns uint16 `json:"columns,omitempty"`
	Rows    uint16 `json:"rows,omitempty"`
	Write   []byte `json:"write,omitempty"`
}

// Run runs a program at a terminal of its own. The program is killed when the test ends, unless it has ended;
// [Screen.WaitForExit] waits for that.
func Run(t *testing.T, size Size, program string, args ...string) *Screen {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no pseudo terminals here: %v", err)
	}
	s := &Screen{t: t, person: person, exited: make(chan struct{}), drawn: map[string]bool{}, emulator: vt.NewEmulator(cmp.Or(int(size.Columns), 80), cmp.Or(int(size.Rows), 24))}
	var n int
	s.withDescriptor(func(fd int) (err error) {
		n, err = unix.IoctlGetInt(fd, unix.TIOCGPTN)
		return errors.Join(err, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	})
	s.Resize(size)
	device, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	s.cmd = exec.CommandContext(t.Context(), program, args...)
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = device, device, device
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = device.Close() // the child has its own
	var reading sync.WaitGroup
	reading.Go(func() { _, _ = io.Copy(io.Discard, s.emulator) }) // drops what the emulator answers to queries of the program: tests answer themselves
	reading.Go(func() {                                           // ends when both ends of the terminal are closed
		buf := make([]byte, 4096)
		for {
			n, err := person.Read(buf)
			s.mu.Lock()
			s.draw(buf[:n])
			s.all = append(s.all, event{Write: bytes.Clone(buf[:n])})
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	})
	go func() {
		_ = s.cmd.Wait() // only the exit code counts
		close(s.exited)
	}()
	t.Cleanup(func() {
		<-s.exited
		_ = person.Close()
		_ = s.emulator.InputPipe().(io.Closer).Close() // Close of the emulator itself races with its Read
		reading.Wait()
	})
	return s
}

// withDescriptor calls f with the descriptor of the terminal. It does not use Fd, which would make reads block, and closing
// wait for them.
func (s *Screen) withDescriptor(f func(fd int) error) {
	s.t.Helper()
	raw, err := s.person.SyscallConn()
	if err != nil {
		s.t.Fatal(err)
	}
	var failed error
	if err := raw.Control(func(fd uintptr) { failed = f(int(fd)) }); err != nil || failed != nil {
		s.t.Fatal(errors.Join(err, failed))
	}
}

// Resize changes the size of the terminal; the program is told.
func (s *Screen) Resize(size Size) {
	s.t.Helper()
	s.withDescriptor(func(fd int) error {
		return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: size.Rows, Col: size.Columns})
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	if size != (Size{}) {
		s.emulator.Resize(int(size.Columns), int(size.Rows))
	}
	s.all = append(s.all, event{Columns: size.Columns, Rows: size.Rows})
}

// frameEnd is the sequence that shows the cursor, with which programs end each frame that they draw.
const frameEnd = "\x1b[?25h"

// draw records what the program has written. It looks at the screen after each frame, because the next frame may come
// before a test looks. The caller holds s.mu.
func (s *Screen) draw(written []byte) {
	s.seen.Write(written)
	for frame := range bytes.SplitAfterSeq(written, []byte(frameEnd)) {
		_, _ = s.emulator.Write(frame) // never fails
		for _, line := range s.lines() {
			if !slices.Contains(s.before, line) {
				s.drawn[line] = true
			}
		}
	}
}

// lines returns the lines of the screen. The caller holds s.mu.
func (s *Screen) lines() []string { return strings.Split(s.emulator.String(), "\n") }

// WaitFor waits until all texts show, and forgets what has shown so far. A text shows if it was written since the last
// call, or if it was in a new line of the screen since then. Looking at what was written is not enough: programs
// write only the cells that change, so a text that shares letters with what was there, or that is typed slowly, is
// written in pieces.
func (s *Screen) WaitFor(texts ...string) {
	s.t.Helper()
	await.Until(s.t, fmt.Sprintf("%q shows", texts), func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		written := s.seen.String()
		for _, text := range texts {
			if !strings.Contains(written, text) && !s.hasDrawn(text) {
				return false
			}
		}
		s.seen.Reset()
		s.before = s.lines()
		clear(s.drawn)
		return true
	}, func() string {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.seen.String() + "\non the screen:\n" + s.emulator.String()
	})
}

// hasDrawn reports whether a new line of the screen has contained a text. The caller holds s.mu.
func (s *Screen) hasDrawn(text string) bool {
	for line := range s.drawn {
		if strings.Contains(line, text) {
			return true
		}
	}
	return false
}

// WaitForMatch waits until what was written since the last [Screen.WaitFor] matches a pattern, and returns what its group
// matches.
func (s *Screen) WaitForMatch(pattern *regexp.Regexp) (found string) {
	s.t.Helper()
	await.Until(s.t, fmt.Sprintf("%v shows", pattern), func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		m := pattern.FindSubmatch(s.seen.Bytes())
		if m != nil {
			found = string(m[1])
		}
		return m != nil
	})
	return found
}

// Type types keys, such as "y\r".
func (s *Screen) Type(keys string) {
	s.t.Helper()
	if _, err := s.person.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

// Kill ends the program at once with SIGKILL.
func (s *Screen) Kill() {
	_ = s.cmd.Process.Kill()
	<-s.exited
}

// HangUp closes the terminal, as a closed window or a broken connection does, and waits for the end of the program.
func (s *Screen) HangUp() {
	_ = s.person.Close()
	<-s.exited
}

// WaitForExit waits for the end of the program, and fails the test unless it exits with code.
func (s *Screen) WaitForExit(code int) {
	s.t.Helper()
	select {
	case <-s.exited:
	case <-time.After(limit):
		s.t.Fatal("the program does not end")
	}
	if got := s.cmd.ProcessState.ExitCode(); got != code {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.t.Errorf("exit code %d, want %d; on the screen\n%s", got, code, s.seen.String())
	}
}
