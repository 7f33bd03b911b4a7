package tokens_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"collie/internal/face/httpserver/tokens"
	"collie/internal/tool"
	"collie/test/await"
)

func addToken(t *testing.T, path string, token tokens.Token) string {
	t.Helper()
	secret, err := tokens.Add(t.Context(), path, token)
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

// The file does not contain the secret, and only its owner can access the file.
func TestAddKeepsNoSecret(t *testing.T) {
	t.Parallel()
	path := tokens.Path(t.TempDir())
	confirms := false
	first := addToken(t, path, tokens.Token{Name: "laptop", Profile: "work", Scopes: []tokens.Scope{tokens.Tools}, ElicitationConfirms: &confirms})
	second := addToken(t, path, tokens.Token{Name: "an.other_1-x", Scopes: []tokens.Scope{tokens.Chat, tokens.Approve}})
	if first == second || len(first) != len("collie_")+43 {
		t.Errorf("secrets %d and %d bytes long", len(first), len(second))
	}
	list, err := tokens.Read(path)
	if err != nil || len(list) != 2 || list[0].Name != "an.other_1-x" || list[1].Profile != "work" || *list[1].ElicitationConfirms || !list[1].May(tokens.Tools) || list[0].May(tokens.Tools) {
		t.Errorf("%+v, %v", list, err)
	}
	files, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		raw, err := os.ReadFile(filepath.Join(filepath.Dir(path), f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(raw), first[7:]) {
			t.Errorf("the secret is in %s", f.Name())
		}
		if info, err := f.Info(); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, %v", f.Name(), info.Mode(), err)
		}
	}
	if _, err := tokens.Add(t.Context(), path, tokens.Token{Name: "laptop", Scopes: []tokens.Scope{tokens.Tools}}); tool.KindOf(err) != tool.Exists {
		t.Errorf("a name that is taken: %v", err)
	}
	before := list[1].Digest()
	rotated, err := tokens.Rotate(t.Context(), path, "laptop")
	if list, _ = tokens.Read(path); err != nil || rotated == first || list[1].Digest() == before || list[1].Profile != "work" {
		t.Errorf("rotated: %+v, %v", list, err)
	}
	if err := tokens.Revoke(t.Context(), path, "laptop"); err != nil {
		t.Error(err)
	}
	for _, err := range []error{tokens.Revoke(t.Context(), path, "laptop"), func() error { _, err := tokens.Rotate(t.Context(), path, "laptop"); return err }()} {
		if tool.KindOf(err) != tool.NotFound {
			t.Errorf("one that has gone: %v", err)
		}
	}
	if list, err = tokens.Read(path); err != nil || len(list) != 1 {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestAddRefuses(t *testing.T) {
	t.Parallel()
	path := tokens.Path(t.TempDir())
	tools := []tokens.Scope{tokens.Tools}
	for _, token := range []tokens.Token{
		{Name: "", Scopes: tools},
		{Name: "a b", Scopes: tools},
		{Name: "-a", Scopes: tools},
		{Name: "a\x00b", Scopes: tools},
		{Name: "a\n", Scopes: tools},
		{Name: strings.Repeat("a", 65), Scopes: tools},
		{Name: "../a", Scopes: tools},
		{Name: "a"},
		{Name: "a", Scopes: []tokens.Scope{"admin"}},
		{Name: "a", Scopes: []tokens.Scope{"tools", "tools"}},
		{Name: "a", Scopes: []tokens.Scope{"Tools"}},
	} {
		if _, err := tokens.Add(t.Context(), path, token); tool.KindOf(err) != tool.Invalid {
			t.Errorf("%+v: %v", token, err)
		}
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("there is a file")
	}
}

// If the file is damaged, nobody gets in, and no command overwrites it.
func TestDamagedFile(t *testing.T) {
	t.Parallel()
	digest := strings.Repeat("0a", 32)
	one := `{"name":"a","sha256":"` + digest + `","scopes":["tools"],"made":"2026-01-01T00:00:00Z"}`
	for _, text := range []string{
		``, ` `, `[]`, `null`, `{}`, `{"tokens":[` + one + `]}`, `{"version":2,"tokens":[` + one + `]}`, `{"version":"1","tokens":[` + one + `]}`,
		`{"version":1,"tokens":[` + one + `]`, `{"version":1,"tokens":[` + one + `]} x`, `{"version":1,"more":1,"tokens":[` + one + `]}`,
		`{"version":1,"tokens":[` + strings.Replace(one, `"scopes"`, `"admin":true,"scopes"`, 1) + `]}`,
		`{"version":1,"tokens":[` + strings.Replace(one, `"tools"`, `"admin"`, 1) + `]}`,
		`{"version":1,"tokens":[` + strings.Replace(one, `["tools"]`, `null`, 1) + `]}`,
		`{"version":1,"tokens":[` + strings.Replace(one, digest, digest[1:], 1) + `]}`,
		`{"version":1,"tokens":[` + strings.Replace(one, digest, "", 1) + `]}`,
		`{"version":1,"tokens":[` + strings.Replace(one, digest, strings.ToUpper(digest), 1) + `]}`,
		`{"version":1,"tokens":[` + one + `,` + one + `]}`,
		`{"version":1,"tokens":[` + one + `,` + strings.Replace(one, `"a"`, `"b"`, 1) + `]}`,
		`{"version":1,"tokens":[` + strings.Repeat(" ", 1<<20) + one + `]}`,
	} {
		path := tokens.Path(t.TempDir())
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if list, err := tokens.Read(path); tool.KindOf(err) != tool.Invalid || list != nil {
			t.Errorf("%.80s: %+v, %v", text, list, err)
		}
		if _, err := tokens.Add(t.Context(), path, tokens.Token{Name: "new", Scopes: []tokens.Scope{tokens.Tools}}); err == nil {
			t.Errorf("%.80s: a token was added", text)
		}
		if now, err := os.ReadFile(path); err != nil || string(now) != text {
			t.Errorf("%.80s: is %.80s now, %v", text, now, err)
		}
	}
}

func TestFileOfOthers(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("modes are of Unix")
	}
	path := tokens.Path(t.TempDir())
	addToken(t, path, tokens.Token{Name: "a", Scopes: []tokens.Scope{tokens.Tools}})
	for _, mode := range []os.FileMode{0o640, 0o604, 0o620, 0o602} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if list, err := tokens.Read(path); tool.KindOf(err) != tool.Denied || list != nil {
			t.Errorf("mode %v: %+v, %v", mode, list, err)
		}
		if err := tokens.Revoke(t.Context(), path, "a"); err == nil {
			t.Errorf("mode %v: it was changed", mode)
		}
	}
}

// Concurrent additions lose nothing.
func TestAddAtOnce(t *testing.T) {
	t.Parallel()
	path := tokens.Path(t.TempDir())
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			if _, err := tokens.Add(t.Context(), path, tokens.Token{Name: string(rune('a' + i)), Scopes: []tokens.Scope{tokens.Tools}}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if list, err := tokens.Read(path); err != nil || len(list) != 8 {
		t.Errorf("%d tokens, %v", len(list), err)
	}
}

// Watch reports every change of the file soon, whichever process makes it and in whatever way.
func TestWatch(t *testing.T) {
	t.Parallel()
	path := tokens.Path(t.TempDir())
	ctx, stop := context.WithCancel(t.Context())
	type told struct {
		list []tokens.Token
		err  error
	}
	both := []chan told{make(chan told, 16), make(chan told, 16)} // as in two processes
	var over sync.WaitGroup
	for _, news := range both {
		over.Go(func() {
			tokens.Watch(ctx, path, slog.New(slog.DiscardHandler), func(list []tokens.Token, err error) { news <- told{list, err} })
		})
	}
	defer over.Wait()
	defer stop()
	hear := func(what string, fits func(told) bool) {
		t.Helper()
		late := time.After(5 * time.Second)
		for _, news := range both {
			for heard := false; !heard; {
				select {
				case n := <-news:
					heard = fits(n)
				case <-late:
					t.Fatalf("%s is not told", what)
				}
			}
		}
	}
	count := func(n int) func(told) bool { return func(is told) bool { return is.err == nil && len(is.list) == n } }
	hear("no file", count(0))
	addToken(t, path, tokens.Token{Name: "a", Scopes: []tokens.Scope{tokens.Tools}})
	hear("a first token", count(1))
	before, err := tokens.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tokens.Rotate(t.Context(), path, "a"); err != nil {
		t.Fatal(err)
	}
	hear("a rotation", func(n told) bool { return len(n.list) == 1 && n.list[0].SHA256 != before[0].SHA256 })
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	hear("damage", func(n told) bool { return n.err != nil && n.list == nil })
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	hear("that it has gone", count(0))
}

// A file that could not be read for a moment is read again, although it has not changed since.
func TestWatchReadsAgain(t *testing.T) {
	t.Parallel()
	path := tokens.Path(t.TempDir())
	addToken(t, path, tokens.Token{Name: "a", Scopes: []tokens.Scope{tokens.Tools}})
	ctx, stop := context.WithCancel(t.Context())
	reads := 0
	var told []string
	tokens.WatchWith(ctx, path, slog.New(slog.DiscardHandler), func(path string) ([]tokens.Token, error) {
		if reads++; reads < 3 {
			return nil, errors.New("too many open files")
		}
		return tokens.Read(path)
	}, func(list []tokens.Token, err error) {
		told = append(told, fmt.Sprint(len(list), err))
		if err == nil {
			stop()
		}
	})
	if got := strings.Join(told, ", "); got != "0 too many open files, 1 <nil>" {
		t.Errorf("it was told %s", got)
	}
}

// Changes of other files in the folder do not put off the next try to read.
func TestWatchReadsAgainBesideChanges(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := tokens.Path(dir)
	addToken(t, path, tokens.Token{Name: "a", Scopes: []tokens.Scope{tokens.Tools}})
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	var beside sync.WaitGroup
	beside.Go(func() {
		for ctx.Err() == nil {
			if err := os.WriteFile(filepath.Join(dir, "other"), []byte("x"), 0o600); err != nil {
				t.Error(err)
				return
			}
			await.Moment(10 * time.Millisecond)
		}
	})
	defer beside.Wait()
	defer stop()
	reads := 0
	tokens.WatchWith(ctx, path, slog.New(slog.DiscardHandler), func(path string) ([]tokens.Token, error) {
		if reads++; reads < 3 {
			return nil, errors.New("too many open files")
		}
		stop()
		return tokens.Read(path)
	}, func([]tokens.Token, error) {})
	if reads < 3 {
		t.Errorf("it was read %d times", reads)
	}
}
