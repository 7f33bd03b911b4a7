package browsers_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"collie/internal/face/pages/browsers"
	"collie/internal/tool"
)

const host = "127.0.0.1:7420"

// testBook is a browsers.Book in a folder, with a clock that moves only when the test changes now.
type testBook struct {
	*testing.T
	dir  string
	now  time.Time
	book *browsers.Book
}

func open(t *testing.T) *testBook {
	t.Helper()
	d := &testBook{T: t, dir: t.TempDir(), now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	d.reopen()
	return d
}

// reopen opens the book from its file again, as after a restart of the gateway.
func (d *testBook) reopen() {
	d.Helper()
	var err error
	if d.book, err = browsers.Open(d.dir, func() time.Time { return d.now }); err != nil {
		d.Fatal(err)
	}
}

func (d *testBook) signIn() (browsers.Browser, browsers.Secrets) {
	d.Helper()
	link, _ := d.book.Link()
	b, s, err := d.book.SignIn(d.Context(), link, host, "Firefox, Linux", "192.0.2.7")
	if err != nil {
		d.Fatal(err)
	}
	return b, s
}

func (d *testBook) isSignedIn(s browsers.Secrets) bool {
	_, _, ok := d.book.Find(s, host)
	return ok
}

func TestALinkIsForOneBrowserAndTwoMinutes(t *testing.T) {
	t.Parallel()
	d := open(t)
	late, until := d.book.Link()
	limit := until.Sub(d.now)
	once, _ := d.book.Link()
	for name, link := range map[string]string{"guessed": strings.Repeat("A", len(once)), "empty": ""} {
		if _, _, err := d.book.SignIn(t.Context(), link, host, "x", "192.0.2.7"); err == nil {
			t.Errorf("a %s link signs in", name)
		}
	}
	if _, _, err := d.book.SignIn(t.Context(), once, host, "x", "192.0.2.7"); err != nil {
		t.Error(err)
	}
	_, _, err := d.book.SignIn(t.Context(), once, host, "x", "192.0.2.7")
	if e, ok := errors.AsType[*tool.Error](err); !ok || e.Kind != tool.Denied {
		t.Errorf("the second use of a link: %v", err)
	}
	d.now = until
	if _, _, err := d.book.SignIn(t.Context(), late, host, "x", "192.0.2.7"); err == nil || limit != 2*time.Minute {
		t.Error("a link that is over signs in")
	}
	if len(d.book.List()) != 1 {
		t.Errorf("signed in are %v", d.book.List())
	}
}

func TestLinksAreBounded(t *testing.T) {
	t.Parallel()
	d := open(t)
	first, _ := d.book.Link()
	d.now = d.now.Add(time.Second)
	var last string
	for range 100 {
		last, _ = d.book.Link()
	}
	if _, _, err := d.book.SignIn(t.Context(), first, host, "x", "192.0.2.7"); err == nil {
		t.Error("the first of a hundred links is kept")
	}
	if _, _, err := d.book.SignIn(t.Context(), last, host, "x", "192.0.2.7"); err != nil {
		t.Errorf("the last link: %v", err)
	}
}

// A browser needs both of its secrets, and they are valid only at the host where it signed in.
func TestBothSecretsAndTheHost(t *testing.T) {
	t.Parallel()
	d := open(t)
	b, mine := d.signIn()
	_, other := d.signIn()
	if found, _, ok := d.book.Find(mine, host); !ok || found.ID != b.ID {
		t.Fatal("the right secrets do not count")
	}
	for name, s := range map[string]browsers.Secrets{
		"cookie alone": {Cookie: mine.Cookie}, "key alone": {Key: mine.Key}, "nothing": {},
		"of two browsers": {Cookie: mine.Cookie, Key: other.Key}, "exchanged": {Cookie: mine.Key, Key: mine.Cookie},
	} {
		if d.isSignedIn(s) {
			t.Errorf("%s: lets in", name)
		}
	}
	for _, h := range []string{"127.0.0.1:7421", "localhost:7420", "evil.example", ""} {
		if _, _, ok := d.book.Find(mine, h); ok {
			t.Errorf("the secrets count at %q", h)
		}
	}
}

func TestBrowsersOutliveARestart(t *testing.T) {
	t.Parallel()
	d := open(t)
	_, secrets := d.signIn()
	link, _ := d.book.Link()
	d.reopen()
	if !d.isSignedIn(secrets) {
		t.Error("the browser is signed out by a restart")
	}
	if _, _, err := d.book.SignIn(t.Context(), link, host, "x", "192.0.2.7"); err == nil {
		t.Error("a link outlives a restart")
	}
	raw, err := os.ReadFile(filepath.Join(d.dir, "browsers.json"))
	if err != nil || strings.Contains(string(raw), secrets.Cookie) || strings.Contains(string(raw), secrets.Key) {
		t.Errorf("the file has a secret, or is not there: %v", err)
	}
}

func TestThirtyDaysFromTheLastUse(t *testing.T) {
	t.Parallel()
	d := open(t)
	b, secrets := d.signIn()
	_, idle := d.signIn()
	d.now = d.now.Add(browsers.Lifetime - time.Minute)
	if err := d.book.Renew(t.Context(), b.ID); err != nil {
		t.Fatal(err)
	}
	d.now = d.now.Add(2 * time.Minute)
	d.reopen()
	if !d.isSignedIn(secrets) || d.isSignedIn(idle) || len(d.book.List()) != 1 {
		t.Errorf("signed in: used %t, idle %t, list %v", d.isSignedIn(secrets), d.isSignedIn(idle), d.book.List())
	}
}

func TestEnd(t *testing.T) {
	t.Parallel()
	d := open(t)
	b, secrets := d.signIn()
	_, other := d.signIn()
	_, ended, _ := d.book.Find(secrets, host)
	_, alive, _ := d.book.Find(other, host)
	if err := d.book.End(t.Context(), b.ID); err != nil {
		t.Fatal(err)
	}
	if d.isSignedIn(secrets) || ended.Err() == nil || !d.isSignedIn(other) || alive.Err() != nil {
		t.Error("not exactly the one browser has ended")
	}
	d.reopen()
	if d.isSignedIn(secrets) {
		t.Error("a restart brings a browser back")
	}
	if e, ok := errors.AsType[*tool.Error](d.book.End(t.Context(), b.ID)); !ok || e.Kind != tool.NotFound {
		t.Errorf("ending it again: %v", e)
	}
}

func TestAFileThatCannotBeTrusted(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{"broken": "{", "newer": `{"version":2,"browsers":[]}`} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "browsers.json"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := browsers.Open(dir, time.Now); err == nil {
			t.Errorf("%s: opened", name)
		}
	}
	if runtime.GOOS == "windows" {
		return // files have no permission bits there
	}
	d := open(t)
	d.signIn()
	if err := os.Chmod(filepath.Join(d.dir, "browsers.json"), 0o620); err != nil {
		t.Fatal(err)
	}
	if _, err := browsers.Open(d.dir, time.Now); err == nil {
		t.Error("a file that others may write counts")
	}
}

func TestNamesAreShortAndVisible(t *testing.T) {
	t.Parallel()
	d := open(t)
	link, _ := d.book.Link()
	b, _, err := d.book.SignIn(t.Context(), link, host, "a\x1b[2J\n\u202eb"+strings.Repeat("x", 500), "192.0.2.7")
	if err != nil || !strings.HasPrefix(b.Name, "a[2Jbxx") || len(b.Name) > 60 {
		t.Errorf("the name is %q (%v)", b.Name, err)
	}
}
