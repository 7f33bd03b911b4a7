package dirstore_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"collie/internal/source/upstream/toolcache/dirstore"
)

func lease(t *testing.T, s *dirstore.Store, holder string, d time.Duration) bool {
	t.Helper()
	ok, err := s.Lease(t.Context(), "github", holder, d)
	if err != nil {
		t.Fatal(err)
	}
	return ok
}

// date sets when the newest version of the only lease was written, as a file server whose
// clock is off by that much would.
func date(t *testing.T, dir string, off time.Duration) {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, "leases", "*", "*", "head.json"))
	if err != nil || len(all) == 0 {
		t.Fatal(all, err)
	}
	when := time.Now().Add(off)
	if err := os.Chtimes(all[len(all)-1], when, when); err != nil {
		t.Fatal(err)
	}
}

// A holder that died while nobody watched is not waited for: the folder dates its lease.
func TestLeaseThatEndedBeforeWeCame(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if !lease(t, open(t, dir, dirstore.Options{}), "dead", time.Minute) {
		t.Fatal("a free lease was refused")
	}
	date(t, dir, -59*time.Second)
	s := open(t, dir, dirstore.Options{})
	if lease(t, s, "alive", time.Minute) {
		t.Error("a lease was taken over before its end")
	}
	date(t, dir, -61*time.Second)
	if !lease(t, s, "alive", time.Minute) {
		t.Error("a lease that had ended was not taken over")
	}
}

// A file server that dates files by the clock of who writes them is not believed for ever.
func TestLeaseFromTheFuture(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const d = 200 * time.Millisecond
	lease(t, open(t, dir, dirstore.Options{}), "ahead", d)
	date(t, dir, time.Hour)
	s, start := open(t, dir, dirstore.Options{}), time.Now()
	for !lease(t, s, "we", time.Minute) {
		if time.Since(start) > 10*time.Second {
			t.Fatal("a lease from the future is never taken over")
		}
	}
	if took := time.Since(start); took < d {
		t.Errorf("taken over after %v, want %v to be waited", took, d)
	}
}

func TestDamagedLeaseIsFree(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	lease(t, open(t, dir, dirstore.Options{}), "a", time.Minute)
	all, err := filepath.Glob(filepath.Join(dir, "leases", "*", "*", "head.json"))
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	if err := os.WriteFile(all[0], nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if !lease(t, open(t, dir, dirstore.Options{}), "b", time.Minute) {
		t.Error("nobody gets a damaged lease")
	}
}

func TestLeasesDoNotPileUp(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir, dirstore.Options{})
	for range 100 {
		if !lease(t, s, "we", time.Minute) {
			t.Fatal("not renewed")
		}
	}
	for range 100 {
		if lease(t, s, "others", time.Minute) {
			t.Fatal("taken over")
		}
	}
	left, err := os.ReadDir(filepath.Join(dir, "leases", filepath.Base(only(t, filepath.Join(dir, "leases")))))
	if err != nil {
		t.Fatal(err)
	}
	if len(left) > 10 {
		t.Errorf("%d files after 100 renewals and refusals", len(left))
	}
}

// only returns the one thing in a folder.
func only(t *testing.T, dir string) string {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	return filepath.Join(dir, all[0].Name())
}
