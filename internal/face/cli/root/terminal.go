package root

import (
	"errors"
	"io"
	"os"
	"runtime"

	"collie/internal/face/cli/output"
)

// This file opens the terminal for questions that only a person may answer, such as those of collie confirm.

// terminal reads from and writes to the terminal of the person, whatever stdin and stdout are connected to.
type terminal struct{ in, out *os.File }

func (c terminal) Read(b []byte) (int, error) { return c.in.Read(b) }

func (c terminal) Write(b []byte) (int, error) { return c.out.Write(b) }

func (c terminal) Close() error { return errors.Join(c.in.Close(), c.out.Close()) }

// OpenTerminal opens the terminal of the person, which input from a pipe cannot reach.
func (p *Program) OpenTerminal() (io.ReadWriteCloser, error) {
	if p.TTY != nil {
		return p.TTY()
	}
	names := [2]string{"/dev/tty", "/dev/tty"}
	if runtime.GOOS == "windows" {
		names = [2]string{"CONIN$", "CONOUT$"}
	}
	in, err := os.OpenFile(names[0], os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	out, err := os.OpenFile(names[1], os.O_RDWR, 0)
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	c := terminal{in, out}
	if !output.IsTerminal(in) || !output.IsTerminal(out) {
		return nil, errors.Join(errors.New(names[0]+" is not a terminal"), c.Close())
	}
	return c, nil
}
