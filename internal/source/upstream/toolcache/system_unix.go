//go:build unix

package toolcache

import (
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"
)

// mayWrite asks the mode and the kernel: root could, and a read-only file system cannot.
func mayWrite(dir string, info fs.FileInfo) bool {
	return writable(info) && unix.Access(dir, unix.W_OK) == nil
}

const errQuota = syscall.EDQUOT
