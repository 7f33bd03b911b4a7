package process

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// executable returns path, or path with the first extension of PATHEXT that exists.
func executable(path string, env []string) (string, error) {
	exts := filepath.SplitList(cmp.Or(lookup(env, "PATHEXT"), ".COM;.EXE;.BAT;.CMD"))
	if has := filepath.Ext(path); has != "" {
		for _, ext := range exts {
			if strings.EqualFold(ext, has) {
				exts = append([]string{""}, exts...)
				break
			}
		}
	}
	for _, ext := range exts {
		if info, err := os.Stat(path + ext); err == nil && !info.IsDir() {
			return path + ext, nil
		}
	}
	return "", &fs.PathError{Op: "find", Path: path, Err: fs.ErrNotExist}
}

func sameKey(a, b string) bool { return strings.EqualFold(a, b) }
