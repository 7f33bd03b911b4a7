//go:build unix

package mcp

import (
	"errors"
	"os"
	"syscall"
)

// tryWrite writes what fits without waiting. A file in blocking mode may wait all the same; a writer that is
// not a file is written with a deadline.
func (l *lineWriter) tryWrite(buf []byte) (n int, err error) {
	f, ok := l.w.(*os.File)
	if !ok {
		return l.deadlineWrite(buf)
	}
	if l.raw == nil {
		if l.raw, err = f.SyscallConn(); err != nil {
			return 0, err
		}
	}
	cerr := l.raw.Write(func(fd uintptr) bool {
		for {
			n, err = syscall.Write(int(fd), buf)
			if !errors.Is(err, syscall.EINTR) {
				return true
			}
		}
	})
	if errors.Is(err, syscall.EAGAIN) {
		n, err = 0, nil
	}
	if err == nil && cerr != nil { // a raw connection reports errors separately
		err = os.ErrClosed
	}
	return max(n, 0), err
}
