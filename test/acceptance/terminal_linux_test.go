package acceptance_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"collie/test/await"
)

// screen is a terminal with a program at it.
type screen struct {
	t      *testing.T
	person *os.File
	exited chan struct{}
	cmd    *exec.Cmd

	mu   sync.Mutex
	seen bytes.Buffer
}

// terminal runs `collie args…` at a terminal of its own, with a home of its own.
func (w *world) terminal(t *testing.T, args ...string) *screen {
	t.Helper()
	return w.terminalIn(t, t.TempDir(), args...)
}

// terminalIn is terminal for a home.
func (w *world) terminalIn(t *testing.T, home string, args ...string) *screen {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no pseudo terminals here: %v", err)
	}
	fd := int(person.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	s := &screen{t: t, person: person, exited: make(chan struct{})}
	s.cmd = exec.CommandContext(t.Context(), w.Collie, append([]string{"--home", home, "--config", w.settings}, args...)...)
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = program, program, program
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = program.Close() // the child has its own
	var reading sync.WaitGroup
	reading.Go(func() { // ends when both ends are closed
		buf := make([]byte, 4096)
		for {
			n, err := person.Read(buf)
			s.mu.Lock()
			s.seen.Write(buf[:n])
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	})
	go func() {
		_ = s.cmd.Wait() // the exit code is what counts
		close(s.exited)
	}()
	t.Cleanup(func() {
		<-s.exited
		_ = person.Close()
		reading.Wait()
	})
	return s
}

// shows waits until something is on the screen that was not there before, and forgets all.
func (s *screen) shows(text string) {
	s.t.Helper()
	await.Until(s.t, fmt.Sprintf("%q shows", text), func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		found := strings.Contains(s.seen.String(), text)
		if found {
			s.seen.Reset()
		}
		return found
	}, func() string {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.seen.String()
	})
}

func (s *screen) types(keys string) {
	s.t.Helper()
	if _, err := s.person.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

// ends waits for the end and wants an exit code.
func (s *screen) Ends(code int) {
	s.t.Helper()
	select {
	case <-s.exited:
	case <-time.After(limit):
		s.t.Fatal("the program does not end")
	}
	if got := s.cmd.ProcessState.ExitCode(); got != code {
		s.t.Errorf("exit code %d, want %d; on the screen\n%s", got, code, s.seen.String())
	}
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
		s.shows("1/3")
		s.types("\r")
		s.shows("2/3")
		s.types("n")
		s.shows("3/3")
		s.types("p")
		s.shows("2/3")
		s.types(quit)
		s.Ends(0)
	}
}

// TestDangerousCallsAtATerminal asks the person at the terminal: only a yes does it.
func TestDangerousCallsAtATerminal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.terminal(t, "fs", "rm", "/Work/Plan")
	s.shows("/Work/Plan")
	s.types("n\r")
	s.Ends(5)
	w.wantNoWrites(t)
	s = w.terminal(t, "fs", "rm", "/Work/Plan/Budget")
	s.shows("/Work/Plan/Budget")
	s.types("y\r")
	s.Ends(0)
	if n := len(w.Writes()); n != 1 {
		t.Errorf("writes %v", paths(w.Writes()))
	}
}
