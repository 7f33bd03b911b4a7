package atomicfile_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"collie/internal/atomicfile"
)

// names lists the files in dir, so that a temporary file left behind shows.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func TestWrite(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(string, []byte, fs.FileMode) error{
		"sync": atomicfile.Write, "no sync": atomicfile.WriteNoSync,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			path := filepath.Join(root, "a", "b", "state.json")
			for _, content := range []string{"first, and longer", "second"} {
				if err := write(path, []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
				got, err := os.ReadFile(path)
				if err != nil || string(got) != content {
					t.Errorf("content = %q, %v, want %q", got, err, content)
				}
			}
			if got := names(t, filepath.Dir(path)); len(got) != 1 {
				t.Errorf("folder holds %q, want only the file", got)
			}
			if runtime.GOOS == "windows" {
				return
			}
			for p, want := range map[string]fs.FileMode{path: 0o600, filepath.Join(root, "a"): 0o700, filepath.Dir(path): 0o700} {
				info, err := os.Stat(p)
				if err != nil {
					t.Fatal(err)
				}
				if info.Mode().Perm() != want {
					t.Errorf("mode of %s = %v, want %v", p, info.Mode().Perm(), want)
				}
			}
		})
	}
}

func TestWriteReplacesTheFileInsteadOfChangingIt(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	if err := atomicfile.Write(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	reader, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be replaced there")
	}
	if err := atomicfile.Write(path, []byte("new and longer"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 32)
	if n, _ := reader.Read(got); string(got[:n]) != "old" {
		t.Errorf("a reader of the old file sees %q, want %q", got[:n], "old")
	}
}

func TestWriteToReadOnlyFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("keep"), 0o400); err != nil {
		t.Fatal(err)
	}
	err := atomicfile.Write(path, []byte("lost"), 0o600)
	if !errors.Is(err, fs.ErrPermission) {
		t.Errorf("error = %v, want one of permission", err)
	}
	if got, _ := os.ReadFile(path); string(got) != "keep" {
		t.Errorf("content = %q, want it kept", got)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Write(path, []byte("next"), 0o600); err != nil {
		t.Errorf("after chmod: %v", err)
	}
}

func TestWriteToReadOnlyDir(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 || runtime.GOOS == "windows" {
		t.Skip("modes of folders do not bind this user")
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
	if err := atomicfile.Write(filepath.Join(dir, "f"), nil, 0o600); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("error = %v, want one of permission", err)
	}
}

// A folder at the target path makes the last step, the rename, fail even for root.
func TestFailedWriteLeavesNothing(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(string, []byte, fs.FileMode) error{
		"sync": atomicfile.Write, "no sync": atomicfile.WriteNoSync,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "taken")
			if err := os.MkdirAll(filepath.Join(path, "inner"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := write(path, []byte("x"), 0o600); err == nil {
				t.Fatal("a folder was replaced")
			}
			if got := names(t, dir); len(got) != 1 {
				t.Errorf("folder holds %q, want only %q", got, "taken")
			}
		})
	}
}

func TestParentIsAFile(t *testing.T) {
	t.Parallel()
	parent := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(parent, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Write(filepath.Join(parent, "f"), nil, 0o600); err == nil {
		t.Error("no error for a path below a file")
	}
}

// Readers always see one whole version while eight writers replace the file.
func TestConcurrentWriters(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	version := func(i int) []byte { return bytes.Repeat([]byte{'a' + byte(i)}, 32<<10) }
	if err := atomicfile.WriteNoSync(path, version(0), 0o600); err != nil {
		t.Fatal(err)
	}
	var writers sync.WaitGroup
	for i := range 8 {
		writers.Go(func() {
			for range 50 {
				if err := atomicfile.WriteNoSync(path, version(i), 0o600); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { writers.Wait(); close(done) }()
	for reading := true; reading; {
		select {
		case <-done:
			reading = false
		default:
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != 32<<10 || !bytes.Equal(got, bytes.Repeat(got[:1], len(got))) {
			t.Fatalf("a reader saw a mixture of %d bytes", len(got))
		}
	}
	if got := names(t, dir); len(got) != 1 {
		t.Errorf("folder holds %q, want only the file", got)
	}
}

func TestReplace(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	if err := atomicfile.Replace(path, []byte("old"), atomicfile.Options{}); err != nil {
		t.Fatal(err)
	}
	no := errors.New("no")
	err := atomicfile.Replace(path, []byte("new"), atomicfile.Options{Before: func() error { return no }})
	if got, _ := os.ReadFile(path); !errors.Is(err, no) || string(got) != "old" {
		t.Errorf("Before said no: error %v, content %q", err, got)
	}
	if got := names(t, filepath.Dir(path)); len(got) != 1 {
		t.Errorf("folder holds %q, want only the file", got)
	}
	if err := atomicfile.Replace(path, []byte("new"), atomicfile.Options{Perm: 0o666, KeepOwner: true}); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o666 {
		t.Errorf("mode %v, want 0666 whatever the umask says", info.Mode().Perm())
	}
}

func TestRemoveLeftovers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const dead = "999999999" // larger than any process id
	stays := []string{
		".f." + strconv.Itoa(os.Getpid()) + ".a.tmp", // its process is alive
		".g." + dead + ".a.tmp",                      // belongs to another file
		".f." + dead + ".tmp", ".f.x.a.tmp", "f",     // not names that createTemp gives
		".f." + dead + ".young.tmp",
	}
	for _, name := range append([]string{".f." + dead + ".a.tmp"}, stays...) {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		old := time.Now().Add(-2 * time.Minute)
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
	now := time.Now()
	if err := os.Chtimes(filepath.Join(dir, ".f."+dead+".young.tmp"), now, now); err != nil {
		t.Fatal(err)
	}
	n, err := atomicfile.RemoveLeftovers(filepath.Join(dir, "f"), time.Minute)
	if n != 1 || err != nil {
		t.Errorf("removed %d, %v, want 1", n, err)
	}
	slices.Sort(stays)
	if diff := cmp.Diff(stays, names(t, dir)); diff != "" {
		t.Errorf("what stays (-want +got):\n%s", diff)
	}
	if _, err := atomicfile.RemoveLeftovers(filepath.Join(dir, "none", "f"), 0); err != nil {
		t.Errorf("a missing folder: %v", err)
	}
}
