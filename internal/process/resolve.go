package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// This file finds the program that a name means, as a shell would.

// Resolve returns the absolute path of the program that name means to a child with environment env and
// working directory dir. PATH is taken from env, not from this process; if env has several, the last counts.
// Empty and relative entries of PATH are skipped, because they depend on the working directory. The error is
// a [*StartError].
func Resolve(name string, env []string, dir string) (string, error) {
	if name == "" {
		return "", &StartError{Reason: commandNotFound, Err: errors.New("no command given")}
	}
	if isPath(name) {
		return resolvePath(name, env, dir)
	}
	fail := &StartError{Reason: commandNotFound, Name: name}
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
		reason := commandNotFound
		if errors.Is(err, fs.ErrPermission) {
			reason = PermissionDenied
		}
		return "", &StartError{Reason: reason, Name: name, Err: err}
	}
	return path, nil
}

// isPath reports whether name is a path, which is not looked up in PATH.
func isPath(name string) bool {
	return strings.ContainsRune(name, '/') || strings.ContainsRune(name, filepath.Separator) ||
		filepath.VolumeName(name) != ""
}

// lookup returns the last value of key in env.
func lookup(env []string, key string) string {
	for _, e := range slices.Backward(env) {
		if k, v, ok := strings.Cut(e, "="); ok && sameEnvName(k, key) {
			return v
		}
	}
	return ""
}

// checkDir returns an error if the child could not enter the working directory.
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

// Reason says why a start failed.
type Reason string

// The reasons of a [StartError]. Trying again does not help with the first two.
const (
	commandNotFound  Reason = "command_not_found" // no such program, or no interpreter for the script
	PermissionDenied Reason = "permission_denied" // found, but this user may not execute it
	BadDir           Reason = "bad_dir"           // the working directory is missing or is not a directory
	spawnFailed      Reason = "spawn_failed"      // anything else: no memory, no file descriptors, bad format
)

// StartError says why a command could not be started. No process exists in that case.
type StartError struct {
	Reason Reason
	// Name is the program as the command names it. Dir is the working directory, for BadDir.
	Name, Dir string
	// Searched holds the directories of PATH that were searched, in order, if Name is not a path.
	Searched []string
	Err      error // the cause; may be nil
}

// Error names the program, the reason and the directories searched.
func (e *StartError) Error() string {
	problem := "cannot be run"
	switch e.Reason {
	case commandNotFound:
		problem = "command not found"
	case PermissionDenied:
		problem = "not executable"
	case BadDir:
		problem = fmt.Sprintf("working directory %q cannot be used", e.Dir)
	case spawnFailed:
	}
	if len(e.Searched) > 0 {
		problem = fmt.Sprintf("%s (searched %s)", problem, strings.Join(e.Searched, ", "))
	} else if e.Reason == commandNotFound && e.Err == nil {
		problem = fmt.Sprintf("%s (PATH is empty)", problem)
	}
	if e.Err != nil {
		problem += ": " + e.Err.Error()
	}
	return fmt.Sprintf("start %q: %s", e.Name, problem)
}

// Unwrap returns the cause.
func (e *StartError) Unwrap() error { return e.Err }
