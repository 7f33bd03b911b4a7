package admin

import (
	"path/filepath"

	"golang.org/x/sys/windows"
)

// isRemote reports whether a folder is on a file system that does not report what others change.
func isRemote(dir string) bool {
	root, err := windows.UTF16PtrFromString(filepath.VolumeName(dir) + `\`)
	return err == nil && windows.GetDriveType(root) == windows.DRIVE_REMOTE
}
