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
			dir := filepath.Dir(path)
			if real, err := filepath.EvalSymlinks(dir); err == nil {
				dir = real // where .. leads from a folder that is a link
			}
			to = filepath.Join(dir, to)
		}
		path = to
	}
	return path
}
