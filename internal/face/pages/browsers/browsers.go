// Package browsers keeps the browsers in which a person has signed in to a home (ADR 64). A browser signs in with a
// one-time link, and from then on shows two secrets with every request: a cookie, and a key that the page keeps in
// the storage of its origin. One without the other is worth nothing: cookies are sent to every program that listens
// on the same host, and what a page stores is out of reach of other origins.
//
// The file <state>/browsers.json holds digests of both, never the secrets themselves. The gateway is its only writer.
// Links live in its memory alone, so that a restart ends them.
package browsers

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"collie/internal/atomicfile"
	"collie/internal/tool"
)

const (
	version = 1
	// Lifetime is how long a browser stays signed in without being used.
	Lifetime = 30 * 24 * time.Hour
	// linkLifetime is how long a link can be used.
	linkLifetime = 2 * time.Minute
	// mostBrowsers and mostLinks bound the file and the memory. One more browser replaces the one that was used least
	// recently, one more link the oldest.
	mostBrowsers = 64
	mostLinks    = 16
	mostName     = 60
	linkBytes    = 16
	secretBytes  = 32
	lockWait     = 10 * time.Second
)

// Browser is one in which a person has signed in.
type Browser struct {
	ID   string    `json:"id"`
	Name string    `json:"name"` // the program and its system, as it calls itself
	Host string    `json:"host"` // the Host for which it signed in
	Made time.Time `json:"made"`
	Used time.Time `json:"used"` // brought up to date at most once a day
	// Address is the network address from which it signed in, without the port; empty for browsers of older versions.
	Address string `json:"address,omitempty"`
}

// entry is a Browser as stored in the file.
type entry struct {
	Browser
	Cookie string `json:"cookieSHA256"`
	Key    string `json:"keySHA256"`
}

// Secrets are the credentials that a browser sends with each request.
type Secrets struct{ Cookie, Key string }

// Book is the list of a home. It is safe for concurrent use.
type Book struct {
	file atomicfile.File
	now  func() time.Time

	mu    sync.Mutex
	list  []entry
	links map[[sha256.Size]byte]time.Time // when they end
	ends  map[string]*end                 // of the browsers in list
}

// end holds the context that ends when a browser is signed out.
type end struct {
	ctx    context.Context //nolint:containedctx // it stands for the browser, not for a request
	cancel context.CancelFunc
}

// Open reads the list in dir, the state folder. A file that others can read, or that is not valid, is an error.
func Open(dir string, now func() time.Time) (*Book, error) {
	b := &Book{
		file: atomicfile.File{Path: filepath.Join(dir, "browsers.json"), Perm: 0o600}, now: now,
		links: map[[sha256.Size]byte]time.Time{}, ends: map[string]*end{},
	}
	raw, err := os.ReadFile(b.file.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return b, nil
	}
	if err == nil {
		err = private(b.file.Path)
	}
	var got struct {
		Version  int     `json:"version"`
		Browsers []entry `json:"browsers"`
	}
	if err == nil {
		err = json.Unmarshal(raw, &got)
	}
	if err == nil && got.Version != version {
		err = errors.New("it is of another version")
	}
	if err != nil {
		return nil, &tool.Error{
			Op: "read", Kind: tool.Invalid, Subject: b.file.Path, Message: "the signed-in browsers cannot be read", Err: err,
			Hint: "remove the file and sign in again with collie open",
		}
	}
	b.list = got.Browsers
	for i := range b.list {
		b.ends[b.list[i].ID] = newEnd()
	}
	return b, nil
}

// private returns an error if others can read or write the file, because they could have signed themselves in with it.
func private(path string) error {
	info, err := os.Stat(path)
	if err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("others may read or write it (mode %04o)", info.Mode().Perm())
	}
	return err
}

func newEnd() *end {
	ctx, cancel := context.WithCancel(context.Background())
	return &end{ctx, cancel}
}

// Link returns the secret of a new link, and when that ends.
func (b *Book) Link() (secret string, until time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	for digest, until := range b.links {
		if !now.Before(until) {
			delete(b.links, digest)
		}
	}
	for len(b.links) >= mostLinks {
		b.dropOldestLink()
	}
	secret, until = random(linkBytes), now.Add(linkLifetime)
	b.links[sha256.Sum256([]byte(secret))] = until
	return secret, until
}

func (b *Book) dropOldestLink() {
	var oldest [sha256.Size]byte
	var first time.Time
	for digest, until := range b.links {
		if first.IsZero() || until.Before(first) {
			oldest, first = digest, until
		}
	}
	delete(b.links, oldest)
}

// SignIn uses up a link and adds a browser for host, which calls itself name and comes from an address. If the link is
// unknown, used or expired, the error is of kind Denied.
func (b *Book) SignIn(ctx context.Context, link, host, name, address string) (Browser, Secrets, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	digest := sha256.Sum256([]byte(link))
	until, known := b.links[digest]
	delete(b.links, digest)
	now := b.now().UTC().Truncate(time.Second)
	if !known || !now.Before(until) {
		return Browser{}, Secrets{}, &tool.Error{
			Op: "sign in", Kind: tool.Denied, Code: "link_used", Message: "this link has been used, or is over",
			Hint: "run collie open for a new one; a link is for one browser, and for two minutes",
		}
	}
	secrets := Secrets{Cookie: random(secretBytes), Key: random(secretBytes)}
	made := entry{
		Browser: Browser{ID: random(6), Name: shorten(name), Host: host, Made: now, Used: now, Address: address},
		Cookie:  digestOf(secrets.Cookie), Key: digestOf(secrets.Key),
	}
	list := append(b.alive(now), made)
	if len(list) > mostBrowsers {
		slices.SortStableFunc(list, func(a, b entry) int { return a.Used.Compare(b.Used) })
		list = list[len(list)-mostBrowsers:]
	}
	if err := b.save(ctx, list); err != nil {
		return Browser{}, Secrets{}, err
	}
	return made.Browser, secrets, nil
}

// Find returns the browser that shows these secrets to host, and a context that ends when it is signed out.
func (b *Book) Find(s Secrets, host string) (Browser, context.Context, bool) {
	if s.Cookie == "" || s.Key == "" {
		return Browser{}, nil, false
	}
	cookie, key := []byte(digestOf(s.Cookie)), []byte(digestOf(s.Key))
	b.mu.Lock()
	defer b.mu.Unlock()
	var found *entry
	for i := range b.list {
		e := &b.list[i]
		if subtle.ConstantTimeCompare(cookie, []byte(e.Cookie))&subtle.ConstantTimeCompare(key, []byte(e.Key)) == 1 {
			found = e
		}
	}
	if found == nil || found.Host != host || b.over(found) {
		return Browser{}, nil, false
	}
	return found.Browser, b.ends[found.ID].ctx, true
}

func (b *Book) over(e *entry) bool { return !b.now().Before(e.Used.Add(Lifetime)) }

// Renew restarts the lifetime of a browser. It writes at most once a day.
func (b *Book) Renew(ctx context.Context, id string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.IndexFunc(b.list, func(e entry) bool { return e.ID == id })
	now := b.now().UTC().Truncate(time.Second)
	if i < 0 || now.Sub(b.list[i].Used) < 24*time.Hour {
		return nil
	}
	list := slices.Clone(b.list)
	list[i].Used = now
	return b.save(ctx, list)
}

// List returns the browsers that are signed in, the one used last first.
func (b *Book) List() []Browser {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := []Browser{}
	for _, e := range b.alive(b.now()) {
		out = append(out, e.Browser)
	}
	slices.SortStableFunc(out, func(a, b Browser) int { return b.Used.Compare(a.Used) })
	return out
}

// End signs a browser out: its secrets are worth nothing any more, and its requests end.
func (b *Book) End(ctx context.Context, id string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.IndexFunc(b.list, func(e entry) bool { return e.ID == id })
	if i < 0 {
		return &tool.Error{
			Op: "sign out", Kind: tool.NotFound, Subject: id, Message: "no browser with this id is signed in",
			Hint: "collie open --list shows them",
		}
	}
	return b.save(ctx, slices.Delete(slices.Clone(b.list), i, i+1))
}

// alive returns the browsers whose lifetime is not over. The caller holds mu.
func (b *Book) alive(now time.Time) []entry {
	return slices.DeleteFunc(slices.Clone(b.list), func(e entry) bool { return !now.Before(e.Used.Add(Lifetime)) })
}

// save writes list and makes it the present one. The caller holds mu.
func (b *Book) save(ctx context.Context, list []entry) error {
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	err := b.file.Update(ctx, func([]byte) ([]byte, error) {
		var out bytes.Buffer
		e := json.NewEncoder(&out)
		e.SetIndent("", "  ")
		err := e.Encode(map[string]any{"version": version, "browsers": list})
		return out.Bytes(), err
	})
	if err != nil {
		return &tool.Error{Op: "write", Kind: tool.Internal, Subject: b.file.Path, Message: "the signed-in browsers cannot be changed", Err: err}
	}
	b.list = list
	kept := map[string]*end{}
	for i := range list {
		if kept[list[i].ID] = b.ends[list[i].ID]; kept[list[i].ID] == nil {
			kept[list[i].ID] = newEnd()
		}
	}
	for id, e := range b.ends {
		if kept[id] == nil {
			e.cancel()
		}
	}
	b.ends = kept
	return nil
}

func random(n int) string {
	raw := make([]byte, n)
	_, _ = rand.Read(raw) // never fails
	return base64.RawURLEncoding.EncodeToString(raw)
}

func digestOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// shorten returns what a stranger calls itself as a short line of visible ASCII characters.
func shorten(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return -1
		}
		return r
	}, name)
	return name[:min(len(name), mostName)]
}
