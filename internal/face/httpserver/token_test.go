package httpserver_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"collie/internal/face/httpserver"
	"collie/internal/tool"
)

func TestTokenFileIsMadeOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state", "token")
	const processes = 16
	var (
		wg      sync.WaitGroup
		mu      sync.Mutex
		tokens  = map[string]bool{}
		creator int
	)
	for range processes {
		wg.Go(func() {
			token, created, err := httpserver.LoadOrCreateToken(path)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			tokens[token] = true
			if created {
				creator++
			}
		})
	}
	wg.Wait()
	if len(tokens) != 1 || creator != 1 {
		t.Errorf("%d tokens, %d creators, want one of each", len(tokens), creator)
	}
	for token := range tokens {
		if len(token) != 43 || strings.ContainsAny(token, "+/= \n") {
			t.Errorf("token %q is not 32 bytes of base64url", token)
		}
	}
	left, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(left) != 1 {
		t.Errorf("left over: %v %v", left, err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	for p, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
		if info, err := os.Stat(p); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: mode %v, want %v (%v)", p, info.Mode(), want, err)
		}
	}
}

// LoadOrCreateToken uses a token file that the user wrote, or refuses it with a hint, and never replaces it.
func TestTokenFileOfAPerson(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text string
		mode os.FileMode
		want string // token
		kind tool.ErrorKind
		hint string
	}{
		"own":      {"  my-own-token-of-some-length\r\n", 0o600, "my-own-token-of-some-length", "", ""},
		"readable": {"my-own-token-of-some-length\n", 0o644, "", tool.Denied, "chmod 600 "},
		"group":    {"my-own-token-of-some-length\n", 0o640, "", tool.Denied, "chmod 600 "},
		"empty":    {"", 0o600, "", tool.Invalid, "remove it"},
		"short":    {"password", 0o600, "", tool.Invalid, "remove it"},
		"two":      {"my-own-token-of-some-length\nanother-one", 0o600, "", tool.Invalid, "remove it"},
		"long":     {strings.Repeat("x", 257), 0o600, "", tool.Invalid, "remove it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if runtime.GOOS == "windows" && tc.kind == tool.Denied {
				t.Skip("no such modes")
			}
			path := filepath.Join(t.TempDir(), "token")
			if err := os.WriteFile(path, []byte(tc.text), tc.mode); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, tc.mode); err != nil { // independent of the umask
				t.Fatal(err)
			}
			got, created, err := httpserver.LoadOrCreateToken(path)
			if got != tc.want || created {
				t.Errorf("%q created=%t", got, created)
			}
			if tc.kind == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			e, ok := errors.AsType[*tool.Error](err)
			if !ok || e.Kind != tc.kind || !strings.Contains(e.Hint, tc.hint) || strings.Contains(e.Error(), "my-own") {
				t.Errorf("error %#v", err)
			}
			if raw, err := os.ReadFile(path); err != nil || string(raw) != tc.text {
				t.Errorf("the file was changed: %q %v", raw, err)
			}
		})
	}
}

func TestTokenPathIsAFolder(t *testing.T) {
	t.Parallel()
	if _, _, err := httpserver.LoadOrCreateToken(t.TempDir()); tool.KindOf(err) != tool.Invalid {
		t.Errorf("error %v", err)
	}
}
