//go:build unix

package process

import (
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// executable returns path if it is a file this user may execute.
func executable(path string, _ []string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if info.IsDir() || info.Mode().Perm()&0o111 == 0 || unix.Access(path, unix.X_OK) != nil {
		return "", &fs.PathError{Op: "execute", Path: path, Err: fs.ErrPermission}
	}
	return path, nil
}

func sameKey(a, b string) bool { return a == b }
