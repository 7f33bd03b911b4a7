package atomicfile

import (
	"os"
	"path/filepath"
)

// FollowLinks follows the symbolic links of path, up to a target that may not exist.
func FollowLinks(path string) string {
	for range 40 { // Linux's limit
		to, err := os.Readlink(path)
		if err != nil {
			return path
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	return path
}
