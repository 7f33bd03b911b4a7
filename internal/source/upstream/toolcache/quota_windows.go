package toolcache

import "golang.org/x/sys/windows"

// errQuota is what Windows says of a full disk.
const errQuota = windows.ERROR_DISK_FULL
