package toolcache

import (
	"io/fs"

	"golang.org/x/sys/windows"
)

// mayWrite is not known there before it is tried; the attribute of a folder says nothing.
func mayWrite(string, fs.FileInfo) bool { return true }

// errQuota is what Windows says of a full disk.
const errQuota = windows.ERROR_DISK_FULL
