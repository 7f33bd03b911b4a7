package toolcache

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Place decides where the cache file lies: at path, or at fallback where the folder of path
// cannot be written and no file is there. A file that is there is used, read-only or not:
// a container image may come with one. An empty fallback leaves no choice.
func Place(path, fallback string) (chosen string, fellBack bool) {
	if path == "" || fallback == "" {
		return path, false
	}
	if _, err := os.Stat(path); err == nil {
		return path, false
	}
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if errors.Is(err, fs.ErrNotExist) && dir != filepath.Dir(dir) {
			continue // it can be made if the one above can be written
		}
		if err == nil && info.IsDir() && mayWrite(dir, info) {
			return path, false
		}
		return fallback, true
	}
}
