//go:build unix

package toolcache

import (
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"
)

// mayWrite checks the mode and asks the kernel: the mode also binds root, and the file system may be read-only.
func mayWrite(dir string, info fs.FileInfo) bool {
	return isWritable(info) && unix.Access(dir, unix.W_OK) == nil
}

const errQuota = syscall.EDQUOT
