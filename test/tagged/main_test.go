package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// A module with a package that the tag adds a test to, one where it puts a file in the place of another, one that has
// nothing but tests with the tag, and one that knows nothing of it.
func TestRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tests := "import \"testing\"\n\nfunc TestMain(m *testing.M) { m.Run() }\n\nfunc Testimony(t *testing.T) {}\n\nfunc Test"
	for name, text := range map[string]string{
		"go.mod":              "module m\n\ngo 1.26\n",
		"adds/plain_test.go":  "package adds\n\nimport \"testing\"\n\nfunc TestPlain(t *testing.T) {}\n",
		"adds/tagged_test.go": "//go:build x && linux\n\npackage adds\n\n" + tests + "Added(t *testing.T) {}\n",
		"only/only_test.go":   "//go:build x\n\npackage only_test\n\nimport \"testing\"\n\nfunc TestOnly(t *testing.T) {}\n\nfunc TestAdded(t *testing.T) {}\n",
		"long/long_test.go":   "//go:build x\n\npackage long\n\nconst rounds = 100\n",
		"long/short_test.go":  "//go:build !x\n\npackage long\n\nconst rounds = 1\n",
		"long/rounds_test.go": "package long\n\nimport \"testing\"\n\nfunc TestRounds(t *testing.T) { _ = rounds }\n",
		"none/none.go":        "package none\n\nfunc TestNone() {}\n",
		"help/help.go":        "package help\n",
		"help/more.go":        "//go:build x\n\npackage help\n\nfunc TestHelp() {}\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for other, want := range map[bool]string{
		false: "-run ^(TestAdded|TestOnly)$\nm/adds\nm/only\n",
		true:  "m/long\n",
	} {
		var out bytes.Buffer
		if err := run(&out, dir, "x", other); err != nil {
			t.Fatal(err)
		}
		if out.String() != want {
			t.Errorf("-other=%t lists\n%swant\n%s", other, &out, want)
		}
	}
}
