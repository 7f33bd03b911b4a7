package safety_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"collie/internal/source/siyuan/safety"
	"collie/internal/tool"
)

// newKeyedFixture returns a fixture whose records are in dir, encrypted with key unless it is empty.
func newKeyedFixture(t *testing.T, dir, key string) *writeFixture {
	t.Helper()
	b := newWriteFixture(t, safety.Auto)
	b.writes = safety.Open(safety.Options{Dir: dir, Key: key})
	return b
}

// readRecords returns the contents of the records in a folder, by path.
func readRecords(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "writes", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no records: %v", err)
	}
	out := map[string][]byte{}
	for _, f := range files {
		if out[f], err = os.ReadFile(f); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func TestRecordsUnderAKey(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := newKeyedFixture(t, dir, "correct horse battery staple")
	id := fmt.Sprintf(`,"requestId":%q`, "write-to-be-sealed")
	if _, err := b.updateBlock(t, 1, "新的 words", id); err != nil {
		t.Fatal(err)
	}
	for f, text := range readRecords(t, dir) {
		for _, secret := range []string{"second", "新的", "update", string(b.blocks[1].ID)} {
			if bytes.Contains(text, []byte(secret)) {
				t.Errorf("%s tells %q", filepath.Base(f), secret)
			}
		}
	}
	// The same request again is not run again: its record can be read.
	again, err := b.updateBlock(t, 1, "新的 words", id)
	if err != nil || !again.Get("replayed").Bool() {
		t.Errorf("again: %s, %v", again.Raw, err)
	}

	for _, key := range []string{"", "another key, as long"} {
		other := safety.Open(safety.Options{Dir: dir, Key: key})
		if _, err := other.Get("write-to-be-sealed"); tool.KindOf(err) != tool.Conflicting {
			t.Errorf("key %q: got %v, want a conflict", key, err)
		}
		list, err := other.List()
		if err != nil || len(list) != 1 || list[0].State != safety.Sealed || list[0].CanUndo() {
			t.Errorf("key %q: list %+v, %v", key, list, err)
		}
	}

	if err := b.undo(t, "write-to-be-sealed"); err != nil {
		t.Fatal(err)
	}
	if got := b.documentText(t); !strings.Contains(got, "second") || strings.Contains(got, "新的") {
		t.Errorf("after undo the document says %q", got)
	}
}

// A record is bound to its id, and one that was cut or changed is refused.
func TestSealedRecordsCannotBeSwapped(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := newKeyedFixture(t, dir, "correct horse battery staple")
	for n, id := range []string{"the-first-write", "the-second-write"} {
		if _, err := b.updateBlock(t, n, "changed", fmt.Sprintf(`,"requestId":%q`, id)); err != nil {
			t.Fatal(err)
		}
	}
	place := func(id string) string { return filepath.Join(dir, "writes", id+".json") }
	one, two := readRecords(t, dir)[place("the-first-write")], readRecords(t, dir)[place("the-second-write")]
	for what, text := range map[string][]byte{
		"another's": two, "cut": one[:len(one)-1], "only the mark": one[:20], "changed": append(bytes.Clone(one[:len(one)-1]), one[len(one)-1]^1),
	} {
		if err := os.WriteFile(place("the-first-write"), text, 0o600); err != nil {
			t.Fatal(err)
		}
		if e, err := b.writes.Get("the-first-write"); tool.KindOf(err) != tool.Conflicting {
			t.Errorf("%s: got %+v, %v", what, e, err)
		}
	}
}

func TestPlainRecordsStayReadable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := newKeyedFixture(t, dir, "")
	if _, err := b.updateBlock(t, 0, "changed", `,"requestId":"before-the-key"`); err != nil {
		t.Fatal(err)
	}
	b.writes = safety.Open(safety.Options{Dir: dir, Key: "correct horse battery staple"})
	if err := b.undo(t, "before-the-key"); err != nil {
		t.Error(err)
	}
}
