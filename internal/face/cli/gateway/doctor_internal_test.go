package gateway

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// The doctor tells private folders from readable, unwritable and missing ones, and leaves no file behind.
func TestCheckFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	made := func(name string, mode fs.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, path string
		want       health
		detail     string
		unix       bool
	}{
		{"private", made("private", 0o700), healthy, "private", false},
		{"not made", filepath.Join(dir, "a", "b"), healthy, "created when needed", false},
		{"a file", file, broken, "is not a folder", false},
		{"below a file", filepath.Join(file, "x"), broken, "file", true},
		{"open to others", made("open", 0o755), odd, "mode 0755", true},
	}
	if os.Getuid() > 0 { // root may write anywhere
		tests = append(tests, tests[0])
		last := &tests[len(tests)-1]
		last.name, last.path, last.want, last.detail = "read only", made("readonly", 0o500), broken, "nothing can be written"
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.unix && runtime.GOOS == "windows" {
				t.Skip("modes mean nothing here")
			}
			c := checkFolder("x", tt.path, true)
			if c.Health != tt.want || !strings.Contains(c.Detail, tt.detail) {
				t.Errorf("got %+v, want %s with %q", c, tt.want, tt.detail)
			}
		})
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*", ".collie-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
