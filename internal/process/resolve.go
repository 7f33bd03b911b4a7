package process

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Resolve returns the absolute path of the program that name means to a child with this
// environment and working directory: PATH is taken from env, not from this process. The
// last PATH in env counts. Empty and relative entries of PATH are passed over, because
// what they mean depends on where one stands. The error is a [*StartError].
func Resolve(name string, env []string, dir string) (string, error) {
	if name == "" {
		return "", &StartError{Reason: CommandNotFound, Err: errors.New("no command given")}
	}
	if isPath(name) {
		return resolvePath(name, env, dir)
	}
	fail := &StartError{Reason: CommandNotFound, Name: name}
	for _, d := range filepath.SplitList(lookup(env, "PATH")) {
		if !filepath.IsAbs(d) {
			continue
		}
		fail.Searched = append(fail.Searched, d)
		path, err := executable(filepath.Join(d, name), env)
		if err == nil {
			return path, nil
		}
		if errors.Is(err, fs.ErrPermission) && fail.Err == nil {
			fail.Reason, fail.Err = PermissionDenied, err
		}
	}
	return "", fail
}

func resolvePath(name string, env []string, dir string) (string, error) {
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	path, err := filepath.Abs(path)
	if err == nil {
		path, err = executable(path, env)
	}
	if err != nil {
		reason := CommandNotFound
		if errors.Is(err, fs.ErrPermission) {
			reason = PermissionDenied
		}
		return "", &StartError{Reason: reason, Name: name, Err: err}
	}
	return path, nil
}

// isPath reports whether name says where the program lies.
func isPath(name string) bool {
	return strings.ContainsRune(name, '/') || strings.ContainsRune(name, filepath.Separator) ||
		filepath.VolumeName(name) != ""
}

// lookup returns the last value of key in env.
func lookup(env []string, key string) string {
	for _, e := range slices.Backward(env) {
		if k, v, ok := strings.Cut(e, "="); ok && sameKey(k, key) {
			return v
		}
	}
	return ""
}

// checkDir refuses a working directory that the child could not enter.
func checkDir(name, dir string) error {
	if dir == "" {
		return nil
	}
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = errors.New("not a directory")
	}
	if err != nil {
		return &StartError{Reason: BadDir, Name: name, Dir: dir, Err: err}
	}
	return nil
}
