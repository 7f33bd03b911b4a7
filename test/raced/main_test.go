package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestRun lists a module with packages that start goroutines in each way, that import one that does, and that do
// neither.
func TestRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":              "module m\n\ngo 1.26\n",
		"calm/calm.go":        "package calm\n\nfunc Do() {}\n",
		"calm/calm_test.go":   "package calm_test\n\nimport (\n\t\"testing\"\n\n\t\"m/calm\"\n)\n\nfunc Test(t *testing.T) { calm.Do() }\n",
		"busy/busy.go":        "package busy\n\nfunc Do() { go func() {}() }\n",
		"group/group.go":      "package group\n\nimport \"sync\"\n\nfunc Do() { new(sync.WaitGroup).Go(func() {}) }\n",
		"timer/timer.go":      "package timer\n\nimport \"time\"\n\nfunc Do() { time.AfterFunc(0, func() {}) }\n",
		"above/above.go":      "package above\n\nimport \"m/middle\"\n\nfunc Do() { middle.Do() }\n",
		"middle/middle.go":    "package middle\n\nimport \"m/busy\"\n\nfunc Do() { busy.Do() }\n",
		"tests/tests.go":      "package tests\n",
		"tests/tests_test.go": "package tests\n\nimport \"testing\"\n\nfunc Test(t *testing.T) { go func() {}() }\n",
		"uses/uses.go":        "package uses\n",
		"uses/uses_test.go":   "package uses_test\n\nimport (\n\t\"testing\"\n\n\t\"m/busy\"\n)\n\nfunc Test(t *testing.T) { busy.Do() }\n",
		"less/less.go":        "package less\n\nfunc Do() { go func() {}() }\n",
		"less/less_test.go":   "package less\n\nimport \"testing\"\n\nvar await struct{ Race bool }\n\nfunc Test(t *testing.T) { _ = await.Race }\n",
		"last/last.go":        "package last\n\nimport \"m/tests\"\n\nvar _ = tests.X\n", // the tests of an imported package do not count
	} {
		path := filepath.Join(dir, name)
		if name == "tests/tests.go" {
			text += "\nconst X = 1\n"
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for not, want := range map[bool]string{
		false: "m/above\nm/busy\nm/group\nm/less\nm/middle\nm/tests\nm/timer\nm/uses\n",
		true:  "m/calm\nm/last\nm/less\n",
	} {
		var out bytes.Buffer
		if err := run(&out, dir, not); err != nil {
			t.Fatal(err)
		}
		if out.String() != want {
			t.Errorf("-not=%t lists\n%swant\n%s", not, &out, want)
		}
	}
}
