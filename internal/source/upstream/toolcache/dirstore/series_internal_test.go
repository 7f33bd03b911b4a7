package dirstore

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"collie/internal/source/upstream/toolcache"
)

func openOne(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Open(dir, Options{Keep: time.Nanosecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// A writer that slept for long takes a number that was used and cleaned away: its commit must
// neither count nor be reported as one.
func TestLateWriter(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openOne(t, dir)
	entry := []toolcache.Change{{Server: "a", Entry: json.RawMessage(`{}`)}}
	g, err := s.Commit(t.Context(), 0, entry)
	if err != nil {
		t.Fatal(err)
	}
	below, err := s.standing(t.Context(), g)
	if err != nil {
		t.Fatal(err)
	}
	late, files := below.with([]toolcache.Change{{Server: "late", Entry: json.RawMessage(`{}`)}}, "000000000002")
	if files[head], err = json.Marshal(late); err != nil {
		t.Fatal(err)
	}
	for {
		if g, err = s.Commit(t.Context(), g, entry); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(s.generations.path(2)); errors.Is(err, os.ErrNotExist) {
			break
		}
	}
	folder, err := s.generations.stage(t.Context(), files)
	if err != nil {
		t.Fatal(err)
	}
	won, err := s.generations.publish(t.Context(), folder, 2, files[head])
	if err != nil || !won {
		t.Fatalf("publish: %v, %v; the number was free", won, err)
	}
	if won, err = s.confirm(t.Context(), 2, late.ID); err != nil || won {
		t.Errorf("confirm: %v, %v; want the commit to be refused", won, err)
	}
	snap, err := s.Load(t.Context())
	if err != nil || snap.Generation != g || snap.Entries["late"] != nil {
		t.Errorf("loaded %+v, %v; want generation %d without the late entry", snap, err, g)
	}
	for {
		if g, err = s.Commit(t.Context(), g, entry); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(s.generations.path(2)); errors.Is(err, os.ErrNotExist) {
			break
		}
	}
}

// A commit that another builds on before we look again is ours all the same.
func TestConfirmBelowAnother(t *testing.T) {
	t.Parallel()
	s := openOne(t, t.TempDir())
	s.opts.Keep = time.Hour
	for g := range uint64(2) {
		if _, err := s.Commit(t.Context(), g, nil); err != nil {
			t.Fatal(err)
		}
	}
	first, found, err := s.manifest(1)
	if err != nil || !found {
		t.Fatal(found, err)
	}
	if won, err := s.confirm(t.Context(), 1, first.ID); err != nil || !won {
		t.Errorf("confirm: %v, %v; want our commit back", won, err)
	}
}

// A network file system may do a rename and report that it failed.
func TestPublishThatWorkedAndFailed(t *testing.T) {
	t.Parallel()
	line := series{filepath.Join(t.TempDir(), "s"), 0o600}
	content := []byte(`{"id":"x"}`)
	folder, err := line.stage(t.Context(), map[string][]byte{head: content})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(folder, line.path(1)); err != nil {
		t.Fatal(err)
	}
	if won, err := line.publish(t.Context(), folder, 1, content); err != nil || !won {
		t.Errorf("publish: %v, %v; want the version that is ours", won, err)
	}
	if won, err := line.publish(t.Context(), folder, 1, []byte(`{"id":"y"}`)); err != nil || won {
		t.Errorf("publish: %v, %v; want the version to be another's", won, err)
	}
}

// Watch may keep silent only where every commit that it has not told is ours.
func TestOwn(t *testing.T) {
	t.Parallel()
	var o own
	if o.covers(0, 1) {
		t.Error("before any commit of ours, another's is ours")
	}
	o.add(5, 6) // 1 to 5 are others'
	o.add(6, 7)
	o.add(8, 9) // 8 is another's
	o.add(9, 10)
	for _, c := range []struct {
		told, now uint64
		want      bool
	}{
		{8, 10, true},
		{9, 10, true},
		{8, 9, true},
		{7, 10, false},
		{7, 9, false},
		{8, 11, false},
		{10, 11, false},
		{10, 3, false},
		{8, 9, false}, // after the place was emptied
	} {
		if got := o.covers(c.told, c.now); got != c.want {
			t.Errorf("covers(%d, %d) = %v", c.told, c.now, got)
		}
	}
}

// Slugs are names that every file system takes, and never the same but for case.
func TestSlug(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.String().Draw(t, "name")
		got := slug(name)
		if before, taken := seen[strings.ToLower(got)]; taken && before != name {
			t.Fatalf("%q and %q are both %q", before, name, got)
		}
		seen[strings.ToLower(got)] = name
		if len(got) > 60 || strings.Trim(got, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			t.Fatalf("slug(%q) = %q", name, got)
		}
	})
}

func FuzzHeads(f *testing.F) {
	f.Add([]byte(`{"format":1,"id":"a","totalWrites":1,"entries":{"a":{"file":"000000000001/a.json","sha256":"00"}}}`))
	f.Add([]byte(`{"format":1,"entries":{"a":{"file":"../../../etc/passwd"}}}`))
	f.Add([]byte(`{"holder":"x","forNano":-1}`))
	f.Add([]byte("\x00"))
	dir := f.TempDir()
	s, err := Open(dir, Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = s.Close() })
	line := series{filepath.Join(s.leases, slug("x")), 0o600}
	for _, path := range []string{s.generations.path(1), line.path(1)} {
		if err := os.MkdirAll(path, 0o700); err != nil {
			f.Fatal(err)
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, path := range []string{s.generations.path(1), line.path(1)} {
			if err := os.WriteFile(filepath.Join(path, head), raw, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if snap, err := s.load(t.Context()); err == nil && (snap.Generation != 1 || len(snap.Entries) != 0) {
			t.Errorf("loaded %+v", snap)
		}
		readLease(line, 1)
	})
}
