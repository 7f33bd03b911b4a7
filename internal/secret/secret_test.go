package secret_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/zalando/go-keyring"

	"collie/internal/secret"
	"collie/test/await"
)

const canary = "canary-5e0c9d7b1f"

// windowsLimit is how many bytes the keyring of Windows takes, the smallest one.
const windowsLimit = 2560

// ring is an in-memory keyring with the size limit of the smallest real one.
type ring struct {
	mu     sync.Mutex
	items  map[string]string
	broken error         // error of every access
	closed error         // error of every write
	wait   chan struct{} // if not nil, every access waits for it
	asked  int
}

func newRing() *ring { return &ring{items: map[string]string{}} }

// beginCall counts an access, waits as the test wants, and returns the error of every access.
func (r *ring) beginCall() error {
	r.mu.Lock()
	r.asked++
	wait, err := r.wait, r.broken
	r.mu.Unlock()
	if wait != nil {
		<-wait
	}
	return err
}

func (r *ring) Get(service, user string) (string, error) {
	if err := r.beginCall(); err != nil {
		return "", err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	v, ok := r.items[service+"/"+user]
	if !ok {
		return "", keyring.ErrNotFound
	}
	return v, nil
}

func (r *ring) Set(service, user, value string) error {
	if err := r.beginCall(); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.closed != nil:
		return r.closed
	case len(value) > windowsLimit:
		return keyring.ErrSetDataTooBig
	}
	r.items[service+"/"+user] = value
	return nil
}

func (r *ring) Delete(service, user string) error {
	if err := r.beginCall(); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.items[service+"/"+user]; !ok {
		return keyring.ErrNotFound
	}
	delete(r.items, service+"/"+user)
	return nil
}

func (r *ring) DeleteAll(string) error { return errors.New("nobody may ask that") }

func (r *ring) callCount() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.asked
}

func (r *ring) itemCount() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.items)
}

func mustOpen(t *testing.T, dir string, o secret.Options) *secret.Store {
	t.Helper()
	s, err := secret.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustGet(t *testing.T, s *secret.Store, name string) string {
	t.Helper()
	v, ok, err := s.Get(t.Context(), name)
	if err != nil {
		t.Fatalf("get %s: %v", name, err)
	}
	if !ok {
		return "(none)"
	}
	return v
}

func mustSet(t *testing.T, s *secret.Store, name, value string) {
	t.Helper()
	if err := s.Set(t.Context(), name, value); err != nil {
		t.Fatalf("set %s: %v", name, err)
	}
}

// TestContract checks what holds for secrets in a keyring as for those in a file.
func TestContract(t *testing.T) {
	t.Parallel()
	for _, kind := range []secret.Kind{secret.Keyring, secret.File} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			dir, r := t.TempDir(), newRing()
			o := secret.Options{Kind: kind, Ring: r}
			s := mustOpen(t, dir, o)
			if got, err := s.Kind(t.Context()); got != kind || err != nil {
				t.Errorf("Kind = %v, %v, want %v", got, err, kind)
			}
			if got := mustGet(t, s, "none"); got != "(none)" {
				t.Errorf("a secret that nobody set is %q", got)
			}
			if err := s.Delete(t.Context(), "none"); err != nil {
				t.Errorf("delete what is not there: %v", err)
			}
			values := map[string]string{
				"github": "first", "密钥": "值 ✓ 中文", "input:api-key": "line\nbreak", "empty": "",
				"long":  strings.Repeat("0123456789abcdef", 4000),
				"wide":  strings.Repeat("犬", 3000),
				"trick": "collie-split:abc:2",
			}
			for name, v := range values {
				mustSet(t, s, name, "old "+strings.Repeat("x", 5000))
				mustSet(t, s, name, v)
			}
			other := mustOpen(t, dir, o) // stands for another process
			for name, v := range values {
				if got := mustGet(t, other, name); got != v {
					t.Errorf("%s = %.40q, want %.40q", name, got, v)
				}
				if has, err := other.Has(t.Context(), name); !has || err != nil {
					t.Errorf("Has %s = %v, %v", name, has, err)
				}
			}
			want := []string{"empty", "github", "input:api-key", "long", "trick", "wide", "密钥"}
			if got, err := other.List(t.Context()); err != nil || !cmp.Equal(got, want) {
				t.Errorf("List = %q, %v, want %q", got, err, want)
			}
			for name := range values {
				if err := other.Delete(t.Context(), name); err != nil {
					t.Errorf("delete %s: %v", name, err)
				}
				if got := mustGet(t, s, name); got != "(none)" {
					t.Errorf("%s after its delete = %.40q", name, got)
				}
			}
			if got, err := s.List(t.Context()); err != nil || len(got) != 0 {
				t.Errorf("List after all deletes = %q, %v", got, err)
			}
			if n := r.itemCount(); n != 0 {
				t.Errorf("%d items are left in the keyring", n)
			}
		})
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, t.TempDir(), secret.Options{Kind: secret.File})
	for _, bad := range []string{"", "a b", "a}", "${x}", "a#1", "a\nb", "\x00", "\xff", strings.Repeat("x", secret.MaxName+1)} {
		if err := s.Set(t.Context(), bad, "v"); err == nil {
			t.Errorf("name %q was taken", bad)
		}
	}
	if err := s.Set(t.Context(), "big", strings.Repeat("x", secret.MaxValue+1)); err == nil {
		t.Error("a value over the limit was taken")
	}
	if _, err := secret.Open(t.TempDir(), secret.Options{Kind: "vault"}); err == nil {
		t.Error("an unknown kind was taken")
	}
}

// Only the owner can read the file and its key, and no value appears in any file in plain text.
func TestFileHidesValues(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := mustOpen(t, dir, secret.Options{Kind: secret.File})
	for i := range 50 {
		mustSet(t, s, fmt.Sprint("name-", i), canary)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		raw, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(raw, []byte(canary)) {
			t.Errorf("%s holds a value in the clear", e.Name())
		}
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, want 0600", e.Name(), info.Mode().Perm())
		}
	}
}

func TestFileThatIsWrong(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		spoil func(dir string) error
		want  string
	}{
		"truncated": {func(dir string) error { return os.Truncate(filepath.Join(dir, "secrets.age"), 100) }, "damaged"},
		"foreign":   {func(dir string) error { return os.WriteFile(filepath.Join(dir, "secrets.age"), []byte("{}"), 0o600) }, "damaged"},
		"empty":     {func(dir string) error { return os.WriteFile(filepath.Join(dir, "secrets.age"), []byte{}, 0o600) }, "damaged"},
		"no key":    {func(dir string) error { return os.Remove(filepath.Join(dir, "secrets.key")) }, "without"},
		"bad key": {func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "secrets.key"), []byte("AGE-"+canary), 0o600)
		}, "secrets.key is damaged"},
		"open key": {func(dir string) error { return os.Chmod(filepath.Join(dir, "secrets.key"), 0o644) }, "chmod 600"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "open key" && runtime.GOOS == "windows" {
				t.Skip("files have no such modes there")
			}
			dir := t.TempDir()
			s := mustOpen(t, dir, secret.Options{Kind: secret.File})
			mustSet(t, s, "a", canary)
			if err := test.spoil(dir); err != nil {
				t.Fatal(err)
			}
			before, err := os.ReadFile(filepath.Join(dir, "secrets.age"))
			if err != nil {
				t.Fatal(err)
			}
			_, _, err = s.Get(t.Context(), "a")
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), canary) {
				t.Errorf("get = %v, want an error with %q", err, test.want)
			}
			if err := s.Set(t.Context(), "b", "x"); err == nil {
				t.Error("a secret was set in a file that cannot be read")
			}
			if after, err := os.ReadFile(filepath.Join(dir, "secrets.age")); err != nil || !bytes.Equal(before, after) {
				t.Error("the damaged file was written over")
			}
		})
	}
}

func TestAutoDecidesOnce(t *testing.T) {
	t.Parallel()
	dir, r := t.TempDir(), newRing()
	r.broken = errors.New("no bus")
	headless := mustOpen(t, dir, secret.Options{Ring: r})
	if got, err := headless.Kind(t.Context()); got != secret.File || err != nil {
		t.Fatalf("without a keyring: %v, %v, want the file", got, err)
	}
	mustSet(t, headless, "a", "1")
	r.mu.Lock()
	r.broken, r.asked = nil, 0
	r.mu.Unlock()
	desktop := mustOpen(t, dir, secret.Options{Ring: r})
	if got := mustGet(t, desktop, "a"); got != "1" {
		t.Errorf("a = %q: the file was forgotten when a keyring came", got)
	}
	if err := os.Remove(filepath.Join(dir, "secrets.json")); err != nil {
		t.Fatal(err)
	}
	if got := mustGet(t, mustOpen(t, dir, secret.Options{Ring: r}), "a"); got != "1" {
		t.Errorf("a = %q: the file was forgotten with the index", got)
	}
	if r.callCount() != 0 {
		t.Errorf("the keyring was asked %d times", r.callCount())
	}
}

func TestAutoPrefersTheKeyring(t *testing.T) {
	t.Parallel()
	dir, r := t.TempDir(), newRing()
	s := mustOpen(t, dir, secret.Options{Ring: r})
	if r.callCount() != 0 {
		t.Error("the keyring was asked before anybody wanted something")
	}
	r.items["collie/foreign"] = "put there by hand"
	if got := mustGet(t, s, "foreign"); got != "put there by hand" {
		t.Errorf("an item of the keyring = %q", got)
	}
	mustSet(t, s, "a", "1")
	if _, err := os.Stat(filepath.Join(dir, "secrets.age")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file was made beside the keyring: %v", err)
	}
	r.mu.Lock()
	r.broken = errors.New("locked")
	r.mu.Unlock()
	again := mustOpen(t, dir, secret.Options{Ring: r})
	if _, _, err := again.Get(t.Context(), "a"); err == nil || !strings.Contains(err.Error(), "locked") {
		t.Errorf("a keyring that went away: %v, want its error and not the file", err)
	}
	if has, err := again.Has(t.Context(), "a"); !has || err != nil {
		t.Errorf("Has = %v, %v without the keyring, want true", has, err)
	}
}

// A keyring that can be read but not written, as in a network login, is not used.
func TestAutoLeavesAKeyringThatKeepsNothing(t *testing.T) {
	t.Parallel()
	r := newRing()
	r.closed = errors.New("user interaction is not allowed")
	s := mustOpen(t, t.TempDir(), secret.Options{Ring: r})
	mustSet(t, s, "a", "1")
	if got, err := s.Kind(t.Context()); got != secret.File || err != nil || mustGet(t, s, "a") != "1" {
		t.Errorf("Kind = %v, %v, want the file", got, err)
	}
}

func TestKeyringThatHangs(t *testing.T) {
	t.Parallel()
	r := newRing()
	r.wait = make(chan struct{})
	s := mustOpen(t, t.TempDir(), secret.Options{Kind: secret.Keyring, Ring: r, Timeout: 50 * time.Millisecond})
	if _, _, err := s.Get(t.Context(), "a"); !errors.Is(err, secret.ErrNoAnswer) {
		t.Fatalf("error = %v, want that there is no answer", err)
	}
	asked := r.callCount()
	for range 20 {
		if _, _, err := s.Get(t.Context(), "a"); !errors.Is(err, secret.ErrNoAnswer) {
			t.Fatalf("error = %v", err)
		}
	}
	if more := r.callCount() - asked; more != 0 {
		t.Errorf("%d more questions were put to a keyring that hangs", more)
	}
	close(r.wait) // a person unlocks it
	await.Until(t, "it is open after the answer", func() bool {
		_, _, err := s.Get(t.Context(), "a")
		return err == nil
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Set(ctx, "a", "b"); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want that of the context", err)
	}
}

// Several processes set secrets of one home at the same time. None is lost.
func TestProcesses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestHelper$")
			c.Env = append(os.Environ(), "SECRET_TEST_DIR="+dir, fmt.Sprint("SECRET_TEST_ID=", i))
			if out, err := c.CombinedOutput(); err != nil {
				t.Errorf("process %d: %v\n%s", i, err, out)
			}
		})
	}
	all.Wait()
	got, err := mustOpen(t, dir, secret.Options{Kind: secret.File}).List(t.Context())
	if err != nil || len(got) != 4*10 {
		t.Errorf("%d secrets, %v, want 40", len(got), err)
	}
}

func TestHelper(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("SECRET_TEST_DIR")
	if dir == "" {
		t.Skip("only for TestProcesses")
	}
	s := mustOpen(t, dir, secret.Options{Kind: secret.File})
	for i := range 10 {
		mustSet(t, s, fmt.Sprint(os.Getenv("SECRET_TEST_ID"), "-", i), canary)
	}
}

func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	dir, r := t.TempDir(), newRing()
	var all sync.WaitGroup
	long := func(c string) string { return strings.Repeat(c, 6000) }
	first := mustOpen(t, dir, secret.Options{Ring: r})
	mustSet(t, first, "shared", long("0"))
	for i := range 4 {
		s := mustOpen(t, dir, secret.Options{Ring: r})
		all.Go(func() {
			for j := range 5 {
				mustSet(t, s, fmt.Sprint(i, "-", j), "x")
				mustSet(t, s, "shared", long(fmt.Sprint(i)))
				v := mustGet(t, s, "shared")
				if len(v) != 6000 || strings.Trim(v, v[:1]) != "" {
					t.Errorf("a reader saw a mixture of %d bytes", len(v))
				}
			}
		})
	}
	all.Wait()
	if got, err := first.List(t.Context()); err != nil || len(got) != 21 {
		t.Errorf("%d names, %v, want 21", len(got), err)
	}
	if n := r.itemCount(); n != 21+4 { // 21 secrets, and the four parts of the long one
		t.Errorf("%d items in the keyring, want 25: parts are left over", n)
	}
}

func TestIndexThatIsWrong(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "{", `{"version":2}`, `{"version":1,"kind":"cloud"}`} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "secrets.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s := mustOpen(t, dir, secret.Options{Ring: newRing()})
		if _, err := s.List(t.Context()); err == nil || !strings.Contains(err.Error(), "secrets.json") {
			t.Errorf("%q: error = %v, want one that names the file", text, err)
		}
		if err := s.Set(t.Context(), "a", "b"); err == nil {
			t.Errorf("%q: a secret was set", text)
		}
	}
}
