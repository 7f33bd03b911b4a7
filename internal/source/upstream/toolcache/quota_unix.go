//go:build unix

package toolcache

import "syscall"

const errQuota = syscall.EDQUOT
