package cli

import (
	"os"
	"path/filepath"
)

// self is the absolute path of this program, empty if it is not known.
func self() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}
