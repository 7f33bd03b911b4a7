package cli

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/config"
)

func TestLeaves(t *testing.T) {
	t.Parallel()
	got := leaves([]byte(`{"b":{"y":"text","x":[1,"二"]},"a":12345678901234567890,"c":{},"d":null,"e":""}`))
	want := []setting{{"a", "12345678901234567890"}, {"b.x", `[1,"二"]`}, {"b.y", "text"}, {"d", "null"}, {"e", `""`}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(setting{})); diff != "" {
		t.Error(diff)
	}
}

func TestStdioArgs(t *testing.T) {
	t.Parallel()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	env := config.EnvOf("COLLIE_HOME=/env/home", "COLLIE_CONFIG=/env/c.json")
	tests := []struct {
		name    string
		program program
		profile string
		want    []string
	}{
		{"nothing said", program{}, "", []string{"stdio"}},
		{"flags", program{home: "h", files: []string{"a.json", "/b.json"}, env: env}, "p", []string{
			"stdio", "--home", filepath.Join(here, "h"), "--config", filepath.Join(here, "a.json"), "--config", "/b.json", "--profile", "p",
		}},
		{"environment", program{env: env}, "", []string{"stdio", "--home", "/env/home", "--config", "/env/c.json"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := tt.program.stdioArgs(tt.profile)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

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
		{"not made", filepath.Join(dir, "a", "b"), healthy, "made when needed", false},
		{"a file", file, broken, "is no folder", false},
		{"below a file", filepath.Join(file, "x"), broken, "file", true},
		{"open to others", made("open", 0o755), odd, "mode 0755", true},
	}
	if os.Getuid() > 0 { // the superuser may write anywhere
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
