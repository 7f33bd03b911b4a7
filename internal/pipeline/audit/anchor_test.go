package audit_test

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"collie/internal/pipeline/audit"
)

// writeAnchoredChains returns a folder with two chains, their anchor, and the later chain.
func writeAnchoredChains(t *testing.T) (dir, anchor, newest string) {
	t.Helper()
	dir, anchor = filepath.Join(t.TempDir(), "audit"), filepath.Join(t.TempDir(), "anchor")
	for range 2 {
		newest = writeChain(t, dir, 10, &audit.Options{Anchor: anchor})
	}
	return dir, anchor, newest
}

func verifyAnchored(t *testing.T, dir, anchor string) audit.Report {
	t.Helper()
	r, err := audit.Verify(t.Context(), dir, anchor)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestAnchor(t *testing.T) {
	t.Parallel()
	dir, anchor, _ := writeAnchoredChains(t)
	r := verifyAnchored(t, dir, anchor)
	if !r.OK() || r.Anchor.Chains != 2 || r.Anchor.Unnamed != 0 {
		t.Errorf("report = %+v, want two chains that are intact and anchored", r)
	}
	text, err := os.ReadFile(anchor)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(text, []byte("\n")); n < 2 || n > 4 {
		t.Errorf("the anchor has %d lines, want at most two for each of two short chains:\n%s", n, text)
	}
}

// Each change is found with the anchor, and not without it.
func TestAnchorShows(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		spoil func(t *testing.T, dir, anchor, newest string)
		want  audit.Fault
	}{
		"the folder is put back from an earlier day": {spoil: func(t *testing.T, dir, anchor, _ string) {
			t.Helper()
			before := t.TempDir()
			if err := os.CopyFS(before, os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			writeChain(t, dir, 3, &audit.Options{Anchor: anchor})
			removeAll(t, dir)
			if err := os.CopyFS(dir, os.DirFS(before)); err != nil {
				t.Fatal(err)
			}
		}, want: audit.ChainMissing},
		"a chain is put back from an earlier moment": {spoil: func(t *testing.T, dir, anchor, _ string) {
			t.Helper()
			log := openLog(t, dir, &audit.Options{Anchor: anchor})
			known := chainFolders(t, dir)
			if err := log.AppendSync(t.Context(), newRecord(1)); err != nil {
				t.Fatal(err)
			}
			chain := slices.DeleteFunc(chainFolders(t, dir), func(f string) bool { return slices.Contains(known, f) })[0]
			before := t.TempDir()
			if err := os.CopyFS(before, os.DirFS(chain)); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(log.AppendSync(t.Context(), newRecord(2)), log.Close()); err != nil {
				t.Fatal(err)
			}
			removeAll(t, chain)
			if err := os.CopyFS(chain, os.DirFS(before)); err != nil {
				t.Fatal(err)
			}
		}, want: audit.Cut},
		"the newest chains are removed": {spoil: func(t *testing.T, _, _, newest string) {
			t.Helper()
			removeAll(t, newest)
		}, want: audit.ChainMissing},
		"the whole folder is removed": {spoil: func(t *testing.T, dir, _, _ string) {
			t.Helper()
			removeAll(t, dir)
		}, want: audit.AnchorForged}, // the key is gone too, so no line of the anchor can be checked
		"all is written anew with another key": {spoil: func(t *testing.T, dir, _, _ string) {
			t.Helper()
			removeAll(t, dir)
			writeChain(t, dir, 10, nil)
		}, want: audit.AnchorForged},
		"a line is made up": {spoil: func(t *testing.T, _, anchor, _ string) {
			t.Helper()
			replaceInFile(t, anchor, `"seq":12,`, `"seq":11,`) // 10 records, chain.start and chain.end
		}, want: audit.AnchorForged},
		"the anchor is removed": {spoil: func(t *testing.T, _, anchor, _ string) {
			t.Helper()
			removeAll(t, anchor)
		}, want: audit.AnchorForged},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, anchor, newest := writeAnchoredChains(t)
			tt.spoil(t, dir, anchor, newest)
			r := verifyAnchored(t, dir, anchor)
			found := r.Anchor.Problems
			for _, c := range r.Chains {
				found = append(found, c.Problems...)
			}
			if len(found) == 0 || found[0].Fault != tt.want {
				t.Errorf("found %v, want %q", found, tt.want)
			}
			if alone := verify(t, dir); !alone.OK() {
				t.Errorf("found without the anchor too: %+v", alone)
			}
		})
	}
}

// A missing disk does not hold up records. Once the disk is back, the report counts the chains that were not anchored.
func TestAnchorOutOfReach(t *testing.T) {
	t.Parallel()
	dir, mount := t.TempDir(), filepath.Join(t.TempDir(), "disk")
	anchor := filepath.Join(mount, "anchor")
	var said bytes.Buffer
	writeChain(t, dir, 10, &audit.Options{Anchor: anchor, Logger: slog.New(slog.NewTextHandler(&said, nil))})
	if n := strings.Count(said.String(), "cannot be anchored"); n != 1 {
		t.Errorf("the log says it %d times, want once:\n%s", n, said.String())
	}
	if r := verifyAnchored(t, dir, anchor); r.OK() || !r.Anchor.Missing {
		t.Errorf("report = %+v, want the missing anchor as a problem", r.Anchor)
	}
	if err := os.Mkdir(mount, 0o700); err != nil {
		t.Fatal(err)
	}
	writeChain(t, dir, 10, &audit.Options{Anchor: anchor})
	if r := verifyAnchored(t, dir, anchor); !r.OK() || r.Anchor.Chains != 1 || r.Anchor.Unnamed != 1 {
		t.Errorf("report = %+v, want one chain that the anchor does not name, and no problem", r.Anchor)
	}
}

func removeAll(t *testing.T, path string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
}

// replaceInFile replaces the first old in a file.
func replaceInFile(t *testing.T, path, old, replacement string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(text), old, replacement, 1)
	if changed == string(text) {
		t.Fatalf("%s has no %q:\n%s", path, old, text)
	}
	if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
}
