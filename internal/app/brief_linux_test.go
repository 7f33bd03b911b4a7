package app_test

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime/pprof"
	"testing"

	"collie/internal/app"
	"collie/test/await"
)

// A command of one call does not ask the system for notices of changed files: Linux would end the process ten
// milliseconds later.
func TestBriefAsksForNoNotices(t *testing.T) { //nolint:paralleltest // it counts the notices of the whole process
	cfg := writeSettings(t, `{"secrets":{"store":"file"}}`)
	for brief, want := range map[bool]bool{false: true, true: false} {
		a, err := app.Open(t.Context(), cfg, app.Options{Brief: brief})
		if err != nil {
			t.Fatal(err)
		}
		await.Until(t, "the cache and the pins are followed", func() bool {
			var stacks bytes.Buffer
			if err := pprof.Lookup("goroutine").WriteTo(&stacks, 2); err != nil {
				t.Fatal(err)
			}
			return follows(stacks.Bytes(), "toolcache.(*file).Watch(") && follows(stacks.Bytes(), "pins.(*watcher).run(")
		})
		if got := hasNotices(t); got != want {
			t.Errorf("brief %v: notices %v, want %v", brief, got, want)
		}
		if err := a.Close(t.Context()); err != nil {
			t.Error(err)
		}
		await.Until(t, "the notices are given back", func() bool { return !hasNotices(t) })
	}
}

// follows reports whether a goroutine waits in function.
func follows(stacks []byte, function string) bool {
	for one := range bytes.SplitSeq(stacks, []byte("\n\n")) {
		if bytes.Contains(one, []byte("[select")) && bytes.Contains(one, []byte(function)) {
			return true
		}
	}
	return false
}

// hasNotices reports whether this process has an inotify instance.
func hasNotices(t *testing.T) bool {
	t.Helper()
	const dir = "/proc/self/fd"
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if to, err := os.Readlink(filepath.Join(dir, f.Name())); err == nil && to == "anon_inode:inotify" {
			return true
		}
	}
	return false
}
