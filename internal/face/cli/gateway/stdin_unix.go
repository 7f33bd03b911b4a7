//go:build unix

package gateway

import (
	"io"
	"os"
	"syscall"
)

// interruptible returns a reader of in for which Close ends a waiting read, if in is a pipe or a socket, so that collie
// stdio can stop. os.Stdin does not do that, because Go reads it in blocking mode.
func interruptible(in io.Reader) io.Reader {
	f, ok := in.(*os.File)
	if !ok {
		return in
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
		return in
	}
	fd := f.Fd()
	if syscall.SetNonblock(int(fd), true) != nil {
		return in
	}
	return os.NewFile(fd, f.Name())
}
