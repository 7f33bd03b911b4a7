// Package terminal runs programs at a terminal, for tests that are the person there.
package terminal

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"collie/test/await"
)

// limit is how long a program may take to end.
const limit = 20 * time.Second

// Size is that of a terminal; the zero value is one that says nothing of its size.
type Size struct{ Columns, Rows uint16 }

// Screen is a terminal with a program at it.
type Screen struct {
	t      *testing.T
	person *os.File
	exited chan struct{}
	cmd    *exec.Cmd

	mu   sync.Mutex
	seen bytes.Buffer
}

// Run runs a program at a terminal of its own. The test waits for its end by [Screen.Ends], or kills it.
func Run(t *testing.T, size Size, program string, args ...string) *Screen {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no pseudo terminals here: %v", err)
	}
	s := &Screen{t: t, person: person, exited: make(chan struct{})}
	fd := int(person.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
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

// Resize gives the terminal another size, and the program hears of it.
func (s *Screen) Resize(size Size) {
	s.t.Helper()
	if err := unix.IoctlSetWinsize(int(s.person.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: size.Rows, Col: size.Columns}); err != nil {
		s.t.Fatal(err)
	}
}

// Shows waits until all texts are on the screen that were not there before, and forgets what is.
func (s *Screen) Shows(texts ...string) {
	s.t.Helper()
	await.Until(s.t, fmt.Sprintf("%q shows", texts), func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, text := range texts {
			if !strings.Contains(s.seen.String(), text) {
				return false
			}
		}
		s.seen.Reset()
		return true
	}, func() string {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.seen.String()
	})
}

// Finds waits until a pattern is on the screen and returns what its group matches.
func (s *Screen) Finds(pattern *regexp.Regexp) (found string) {
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

// Types presses keys.
func (s *Screen) Types(keys string) {
	s.t.Helper()
	if _, err := s.person.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

// Kill ends the program at once, as a machine that goes down does.
func (s *Screen) Kill() {
	_ = s.cmd.Process.Kill()
	<-s.exited
}

// Ends waits for the end and wants an exit code.
func (s *Screen) Ends(code int) {
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
