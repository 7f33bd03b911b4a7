package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWatch runs flake on a module with a test that fails every third time, one whose subtest fails once, and one that
// never fails.
func TestWatch(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module shaky\n\ngo 1.26\n",
		"shaky_test.go": `package shaky

import "testing"

var n, m int

func TestShaky(t *testing.T) {
	if n++; n%3 == 0 {
		t.Errorf("round %d", n)
	}
}

func TestParent(t *testing.T) {
	t.Run("child", func(t *testing.T) {
		if m++; m == 2 {
			t.Error("only once")
		}
	})
}

func TestSteady(t *testing.T) {}
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var progress, out bytes.Buffer
	failures, err := runBusily(t.Context(), 1, []string{"-C", dir, "test", "-json", "-count=9", "."}, &progress)
	if err != nil {
		t.Fatal(err)
	}
	if len(failures) != 2 || failures[0].name != "shaky TestShaky" || failures[0].times != 3 || failures[1].name != "shaky TestParent/child" || failures[1].times != 1 {
		t.Errorf("failed: %+v", failures)
	}
	report(&out, failures, 9)
	for _, want := range []string{"round 3", "only once", "  3 of 9  shaky TestShaky\n  1 of 9  shaky TestParent/child\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, &out)
		}
	}
	if strings.Contains(out.String(), "round 6") || !strings.Contains(progress.String(), "fail\tshaky") {
		t.Errorf("the report is %s, the progress %s", &out, &progress)
	}
	if failures, err := runBusily(t.Context(), 0, []string{"-C", dir, "test", "-json", "-run", "Steady", "."}, &progress); err != nil || len(failures) > 0 {
		t.Errorf("steady: %v, %v", failures, err)
	}
	if failures, err := runBusily(t.Context(), 0, []string{"-C", dir, "test", "-json", "./nowhere"}, &progress); err == nil && len(failures) == 0 {
		t.Error("a package that is not there passes")
	}
}
