package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSmallVaults imports and exports each folder of testdata.
func TestSmallVaults(t *testing.T) {
	t.Parallel()
	entries, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		t.Run(e.Name(), func(t *testing.T) {
			t.Parallel()
			r, err := run(t.Context(), filepath.Join("testdata", e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			r.print(&out, true)
			if r.failed() || r.files == 0 || r.changed == 0 {
				t.Error(out.String())
			}
			for _, p := range r.report.Problems {
				if p.Code == "changed" {
					t.Errorf("%s:%d came in as another line: %s: %s", p.Path, p.Line, p.What, p.Why)
				}
			}
			t.Log(out.String())
		})
	}
}

// TestSeesWhatIsSilent checks that the comparison finds unannounced changes and lost words.
func TestSeesWhatIsSilent(t *testing.T) {
	t.Parallel()
	source := "one two\n\nthree\n\nfour"
	for _, c := range []struct {
		name, document string
		kinds          []string
		silent, lost   int
	}{
		{name: "the same", document: source},
		{name: "a line is otherwise", document: "one  two\n\nthree\n\nfour", silent: 1},
		{name: "it is announced", document: "one  two\n\nthree\n\nfour", kinds: []string{"layout"}},
		{name: "a word is lost behind an announcement", document: "one\n\nthree\n\nfour", kinds: []string{"layout"}, lost: 1},
		{name: "a line is lost", document: "one two\n\nfour", silent: 1, lost: 1},
		{name: "the order is another", document: "three\n\none two\n\nfour", silent: 1, lost: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := &result{}
			r.compareFile("a.md", source, c.document, &notes{kinds: map[int][]string{1: c.kinds}}, nil)
			if len(r.unannounced) != c.silent || len(r.lost) != c.lost {
				t.Errorf("%d silent and %d lost, want %d and %d: %q %q", len(r.unannounced), len(r.lost), c.silent, c.lost, r.unannounced, r.lost)
			}
		})
	}
}
