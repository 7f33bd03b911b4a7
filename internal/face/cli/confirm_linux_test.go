package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"collie/internal/pipeline/gate"
	"collie/internal/tool"
	"collie/internal/tool/tooltest"
	"collie/test/binary"
)

// openPTY opens a pseudo-terminal and returns the person's end and the program's end.
func openPTY(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no pseudo terminals here: %v", err)
	}
	t.Cleanup(func() { _ = person.Close() })
	fd := int(person.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = program.Close() })
	return person, program
}

// The program reads the answer from its controlling terminal, whatever stdin is. Without a terminal it
// accepts no answer.
func TestConfirmAtARealTerminal(t *testing.T) {
	t.Parallel()
	program := binary.Build(t, binary.Collie)
	home := t.TempDir()
	s := gate.New(gate.Options{Dir: filepath.Join(home, "state", "pending")})
	call := func() error {
		a := tooltest.Action("drop")
		a.Dangerous = true
		_, err := tooltest.Checked(t.Context(), s.Check, &tool.Call{
			Request: tool.Request{Kind: tool.KindCall, Origin: tool.MCPLocal, Principal: "me"},
			Args:    json.RawMessage(`{"id":"工作"}`), Tool: "notes", Action: &a, Source: tooltest.NewFake("notes", tool.Offer{}),
		}, func(context.Context, *tool.Call) (tool.Result, error) { return tool.Result{}, nil })
		return err
	}
	e, ok := errors.AsType[*tool.Error](call())
	if !ok {
		t.Fatal("the call did not wait")
	}
	confirm := func(attr *syscall.SysProcAttr, files ...*os.File) (int, string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), program, "confirm", e.Facts["confirmationCode"].(string), "--home", home)
		cmd.Stdin, cmd.ExtraFiles, cmd.SysProcAttr = strings.NewReader("y\ny\ny\n"), files, attr
		out, err := cmd.CombinedOutput()
		if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
			t.Fatal(err)
		}
		return cmd.ProcessState.ExitCode(), string(out)
	}

	if exit, out := confirm(&syscall.SysProcAttr{Setsid: true}); exit != 5 || !strings.Contains(out, "no terminal") {
		t.Errorf("without a terminal: exit %d, %s", exit, out)
	}
	if err := call(); tool.KindOf(err) != tool.Unconfirmed {
		t.Errorf("what stdin said was taken: %v", err)
	}

	person, terminal := openPTY(t)
	var shown bytes.Buffer
	var reading sync.WaitGroup
	reading.Go(func() { // ends when the program has closed the terminal, or the test has
		buf := make([]byte, 4096)
		for {
			n, err := person.Read(buf)
			shown.Write(buf[:n])
			if err != nil {
				return
			}
			if bytes.HasSuffix(shown.Bytes(), []byte("[y/N] ")) {
				_, _ = person.WriteString("y\n")
			}
		}
	})
	exit, out := confirm(&syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 3}, terminal)
	_ = terminal.Close()
	reading.Wait()
	if exit != 0 || !strings.HasPrefix(out, "confirmed;") || !strings.Contains(shown.String(), `arguments: {"id":"工作"}`) {
		t.Errorf("exit %d, %s, shown:\n%s", exit, out, &shown)
	}
	if err := call(); err != nil {
		t.Errorf("the call that was confirmed: %v", err)
	}
	if err := call(); tool.KindOf(err) != tool.Unconfirmed {
		t.Errorf("and once more: %v", err)
	}
}
