package backup_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"collie/internal/backup"
)

// writeFile writes a file and makes the folders above it.
func writeFile(t *testing.T, at, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// TestBackup writes a backup of a folder and restores it elsewhere. A second backup into the same folder, a restore
// over existing files and a file changed after the backup are refused.
func TestBackup(t *testing.T) {
	t.Parallel()
	home, dir, back := t.TempDir(), filepath.Join(t.TempDir(), "b"), t.TempDir()
	writeFile(t, filepath.Join(home, "a", "one.txt"), "one")
	writeFile(t, filepath.Join(home, "log.jsonl"), "{}\n{}\n{\"unfin")
	writeFile(t, filepath.Join(home, "skipped", "x"), "x")
	writeFile(t, filepath.Join(home, "in use.db"), "half")
	part := backup.Part{
		Name: "data", Dir: home, Skip: func(at string, _ bool) bool { return at == "skipped" },
		Copies: map[string]func(context.Context, string) error{"in use.db": func(_ context.Context, to string) error { return os.WriteFile(to, []byte("whole"), 0o600) }},
		Append: func(at string) bool { return strings.HasSuffix(at, ".jsonl") },
	}
	if _, err := backup.Write(t.Context(), dir, []backup.Part{part, {Name: "none", Dir: filepath.Join(home, "none")}}, backup.Manifest{}); err != nil {
		t.Fatal(err)
	}
	if _, err := backup.Write(t.Context(), dir, nil, backup.Manifest{}); !errors.Is(err, backup.ErrNotEmpty) {
		t.Errorf("a second time: %v", err)
	}
	b, err := backup.Open(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := b.Restore(t.Context(), "data", back, nil); n != 3 || err != nil {
		t.Errorf("%d files: %v", n, err)
	}
	for name, want := range map[string]string{"a/one.txt": "one", "log.jsonl": "{}\n{}\n", "in use.db": "whole"} {
		if got, err := os.ReadFile(filepath.Join(back, name)); string(got) != want {
			t.Errorf("%s is %q, want %q: %v", name, got, want, err)
		}
	}
	if _, err := b.Restore(t.Context(), "data", back, nil); !errors.Is(err, os.ErrExist) {
		t.Errorf("over files that are there: %v", err)
	}

	writeFile(t, filepath.Join(dir, "data", "a", "one.txt"), "eno")
	if _, err := backup.Open(t.Context(), dir, nil); !errors.Is(err, backup.ErrDamaged) {
		t.Errorf("a changed file: %v", err)
	}
}

// TestBackupFollowsLinks backs up two links to one folder, and folders that link to each other and to the one above.
func TestBackupFollowsLinks(t *testing.T) {
	t.Parallel()
	home, elsewhere, dir, back := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "b"), t.TempDir()
	writeFile(t, filepath.Join(home, "one.txt"), "one")
	writeFile(t, filepath.Join(elsewhere, "a", "two.txt"), "two")
	writeFile(t, filepath.Join(elsewhere, "b", "three.txt"), "three")
	for link, to := range map[string]string{
		filepath.Join(home, "first"): filepath.Join(elsewhere, "a"), filepath.Join(home, "second"): filepath.Join(elsewhere, "a"),
		filepath.Join(elsewhere, "a", "b"): filepath.Join(elsewhere, "b"), filepath.Join(elsewhere, "b", "a"): filepath.Join(elsewhere, "a"),
		filepath.Join(elsewhere, "b", "home"): home, filepath.Join(elsewhere, "a", "b again"): filepath.Join(elsewhere, "b"),
	} {
		if err := os.Symlink(to, link); err != nil {
			t.Skip("this system has no symbolic links for this user:", err)
		}
	}
	if _, err := backup.Write(t.Context(), dir, []backup.Part{{Name: "data", Dir: home}}, backup.Manifest{}); err != nil {
		t.Fatal(err)
	}
	b, err := backup.Open(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := b.Restore(t.Context(), "data", back, nil); n != 7 || err != nil {
		t.Errorf("%d files: %v", n, err)
	}
	for name, want := range map[string]string{
		"one.txt": "one", "first/two.txt": "two", "second/two.txt": "two", "first/b/three.txt": "three", "second/b/three.txt": "three", "first/b again/three.txt": "three",
	} {
		if got, err := os.ReadFile(filepath.Join(back, name)); string(got) != want {
			t.Errorf("%s is %q, want %q: %v", name, got, want, err)
		}
	}
}

// A backup names the links that it does not follow, which lie behind many other links.
func TestBackupNamesUnfollowedLinks(t *testing.T) {
	t.Parallel()
	home, elsewhere, dir := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "b")
	from := home
	for i := range 7 {
		to := filepath.Join(elsewhere, strconv.Itoa(i))
		writeFile(t, filepath.Join(to, "note.txt"), "note")
		if err := os.Symlink(to, filepath.Join(from, "on")); err != nil {
			t.Skip("this system has no symbolic links for this user:", err)
		}
		from = to
	}
	m, err := backup.Write(t.Context(), dir, []backup.Part{{Name: "data", Dir: home}}, backup.Manifest{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"data/on/on/on/on/on"}
	if len(m.Files) != 4 || !slices.Equal(m.Unfollowed, want) {
		t.Errorf("%d files, not followed %q; want 4 files and %q", len(m.Files), m.Unfollowed, want)
	}
	if b, err := backup.Open(t.Context(), dir, nil); err != nil || !slices.Equal(b.Unfollowed, want) {
		t.Errorf("the manifest: %v", err)
	}
}

// TestOpenRefuses opens folders without a manifest, and with manifests that Open must refuse.
func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		manifest string
		want     error
	}{
		"nothing":      {"", backup.ErrNone},
		"no JSON":      {"{", backup.ErrNone},
		"another kind": {`{"format": "x", "version": 1}`, backup.ErrNone},
		"newer":        {`{"format": "collie-backup", "version": 2}`, backup.ErrNewer},
		"out of it":    {`{"format": "collie-backup", "version": 1, "files": [{"path": "data/../../x"}]}`, backup.ErrDamaged},
		"absolute":     {`{"format": "collie-backup", "version": 1, "files": [{"path": "/etc/passwd"}]}`, backup.ErrDamaged},
		"missing":      {`{"format": "collie-backup", "version": 1, "files": [{"path": "data/x"}]}`, backup.ErrDamaged},
	} {
		dir := t.TempDir()
		if c.manifest != "" {
			writeFile(t, filepath.Join(dir, "collie-backup.json"), c.manifest)
		}
		if _, err := backup.Open(t.Context(), dir, nil); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}
