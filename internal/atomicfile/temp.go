package atomicfile

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// createTemp makes a new file beside path, called .<base>.<pid>.<random>.tmp. The name tells which file and
// which process it belongs to, so that RemoveLeftovers can recognize those of dead processes.
func createTemp(path string, perm fs.FileMode) (*os.File, error) {
	dir, base := filepath.Split(path)
	for {
		name := fmt.Sprintf(".%s.%d.%s.tmp", base, os.Getpid(), rand.Text()[:10])
		f, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

// RemoveLeftovers removes temporary files of path that are older than age and whose process is gone. It
// returns how many it removed. A missing folder is not an error.
func RemoveLeftovers(path string, age time.Duration) (removed int, err error) {
	dir, base := filepath.Split(path)
	if dir == "" {
		dir = "."
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	for _, e := range entries {
		pid, ok := tempOwner(e.Name(), base)
		if !ok || pid == os.Getpid() {
			continue
		}
		info, failed := e.Info()
		if failed != nil || time.Since(info.ModTime()) < age || alive(pid) {
			continue
		}
		if failed := os.Remove(filepath.Join(dir, e.Name())); failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		removed++
	}
	return removed, err
}

// tempOwner returns the process that made the file name, if name is a temporary file of base.
func tempOwner(name, base string) (pid int, ok bool) {
	name, dotted := strings.CutPrefix(name, "."+base+".")
	name, temp := strings.CutSuffix(name, ".tmp")
	number, _, parted := strings.Cut(name, ".")
	pid, err := strconv.Atoi(number)
	return pid, dotted && temp && parted && err == nil && pid > 0
}
