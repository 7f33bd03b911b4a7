//go:build unix && !race

// Without the race detector, under which processor times mean nothing.

package folder_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"collie/internal/vault/folder"
)

// languages is how often each name occurs in the large folder.
const languages = 35

// writeTranslated makes a folder with the same pages, under the same names and with the same links, once for each language.
func writeTranslated(t testing.TB, n int) string {
	t.Helper()
	dir := t.TempDir()
	for lang := range n {
		for i := range 24 {
			var text strings.Builder
			fmt.Fprintf(&text, "---\naliases: [Alias %d]\n---\n# Page %d\n\n", i, i)
			for k := range 8 {
				fmt.Fprintf(&text, "## Part %d\n\nSee [[Page %d]], [[Page %d#Part %d]] and [[topic %d/Page %d|there]], or 文字 %d in language %d.\n\n- one\n- two ![p](pic %d.png)\n\n",
					k, (i+k)%24, (i+2*k)%24, k, (i+k)%24%4, (i+k)%24, i, lang, i%5)
			}
			at := filepath.Join(dir, fmt.Sprintf("l%02d/topic %d/Page %d.md", lang, i%4, i))
			if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(at, []byte(text.String()), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 5 {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("l%02d/pic %d.png", lang, i)), fmt.Append(nil, "PNG", i), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

// processorTime returns the processor time that this process has used so far, in seconds.
func processorTime(t testing.TB) float64 {
	t.Helper()
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		t.Fatal(err)
	}
	return float64(r.Utime.Nano()+r.Stime.Nano()) / 1e9
}

// TestManyLanguages imports a folder in which every name occurs 35 times. It must not cost much more than 35 imports of
// a folder in which each name occurs once.
func TestManyLanguages(t *testing.T) {
	one, all := writeTranslated(t, 1), writeTranslated(t, languages)
	cost := func(dir string) float64 {
		w := newVault(t)
		runtime.GC()
		before := processorTime(t)
		importFolder(t, w, dir, folder.ImportOptions{})
		return processorTime(t) - before
	}
	cost(one) // warms up what is computed only once
	single := 0.0
	for range 5 {
		single += cost(one) / 5
	}
	whole := cost(all)
	t.Logf("%.2f s for one, %.2f s for %d: %.2f times as much each", single, whole, languages, whole/single/languages)
	if whole > 2.5*single*languages { // the goal is 1.2, but other tests may run in parallel
		t.Errorf("%.2f s for one, %.2f s for %d", single, whole, languages)
	}
}
