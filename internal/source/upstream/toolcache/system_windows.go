package toolcache

import (
	"io/fs"

	"golang.org/x/sys/windows"
)

// mayWrite always returns true: on Windows a folder's attributes do not tell.
func mayWrite(string, fs.FileInfo) bool { return true }

// errQuota is the error of Windows for a full disk.
const errQuota = windows.ERROR_DISK_FULL
