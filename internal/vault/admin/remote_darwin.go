package admin

import "golang.org/x/sys/unix"

// isRemote reports whether a folder is on a file system that does not report what others change.
func isRemote(dir string) bool {
	var s unix.Statfs_t
	return unix.Statfs(dir, &s) == nil && s.Flags&unix.MNT_LOCAL == 0
}
