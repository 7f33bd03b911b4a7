package cli

import (
	"errors"
	"io"
	"os"
	"runtime"
)

// console is the terminal itself, whatever the streams of the program are.
type console struct{ in, out *os.File }

func (c console) Read(b []byte) (int, error)  { return c.in.Read(b) }
func (c console) Write(b []byte) (int, error) { return c.out.Write(b) }

func (c console) Close() error { return errors.Join(c.in.Close(), c.out.Close()) }

// openTerminal opens the terminal that the person sits at: what a program pipes in does not
// come from there.
func openTerminal() (io.ReadWriteCloser, error) {
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
	c := console{in, out}
	if !terminal(in) || !terminal(out) {
		return nil, errors.Join(errors.New(names[0]+" is no terminal"), c.Close())
	}
	return c, nil
}
