package pages_test

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// In the sources of the pages, one module alone makes requests, and two components alone insert HTML: it has gone
// through DOMPurify or was made from the text of a formula. Nothing is loaded from other hosts, and no code is made
// from text.
func TestSourcesOfThePages(t *testing.T) {
	t.Parallel()
	rules := []struct {
		name  string
		found *regexp.Regexp
		free  []string
	}{
		{name: "a request", found: regexp.MustCompile(`\bfetch\(|\bXMLHttpRequest\b|\bEventSource\b|\bWebSocket\b|\bsendBeacon\b`), free: []string{"services/api.ts"}},
		{name: "HTML", found: regexp.MustCompile(`@html|\b(inner|outer)HTML\b|insertAdjacentHTML|document\.write|createContextualFragment`), free: []string{"features/chat/Markdown.svelte", "features/chat/Formulas.svelte"}},
		{name: "code from text", found: regexp.MustCompile(`\beval\(|\bnew Function\b|setTimeout\(['"]`)},
		{name: "another host", found: regexp.MustCompile(`(src|href)=["']https?:|import\(['"]https?:|url\(['"]?https?:`)},
	}
	seen := 0
	err := fs.WalkDir(os.DirFS("../../web/src"), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !slices.Contains([]string{".ts", ".svelte", ".css"}, path.Ext(name)) {
			return err
		}
		raw, err := fs.ReadFile(os.DirFS("../../web/src"), name)
		seen++
		for i, line := range strings.Split(string(raw), "\n") {
			for _, r := range rules {
				if r.found.MatchString(line) && !slices.Contains(r.free, name) {
					t.Errorf("%s:%d: %s: %s", name, i+1, r.name, strings.TrimSpace(line))
				}
			}
		}
		return err
	})
	if err != nil || seen < 50 {
		t.Fatalf("%d files, %v", seen, err)
	}
}
