//go:build unix

package gateway

import (
	"io"
	"os"
	"syscall"
)

// interruptible returns in such that closing it ends a read that waits, if it is a pipe or
// a socket. Go's own standard input does not do that: it is read in blocking mode.
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
