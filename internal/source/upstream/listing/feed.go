package listing

import (
	"context"
	"encoding/json"
	"strings"
	"sync"

	"collie/internal/mcp"
)

// Feed is one connection as a source of lists. It is made with [NewFeed].
type Feed struct {
	client *mcp.Client
	remote bool
	// stream opens what the server tells of changed lists on, and reports whether it stands. Nil is a pipe,
	// which carries that at any time.
	stream func(context.Context) bool

	hears  chan struct{}     // closed when changed lists are told, or will not be
	listed chan struct{}     // closed when it has told all its lists, or none is asked of it
	asking [kinds]sync.Mutex // one fetch of a list after the other: the later one knows better
	asked  bool              // its lists are taken; guarded by the listing's mu
}

// NewFeed returns the feed of a connection, remote where it goes over HTTP. stream opens what the server
// tells of changed lists on, and reports whether it stands; nil is for a connection that carries it at any
// time.
func NewFeed(c *mcp.Client, remote bool, stream func(context.Context) bool) *Feed {
	return &Feed{client: c, remote: remote, stream: stream, hears: make(chan struct{}), listed: make(chan struct{})}
}

// Await returns when the connection has told all its lists or failed to; the error is that of ctx.
func (f *Feed) Await(ctx context.Context) error {
	select {
	case <-f.listed:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// AwaitAlive is Await, but for a connection that has ended it returns at once.
func (f *Feed) AwaitAlive(ctx context.Context) error {
	if !f.Alive() {
		return nil
	}
	return f.Await(ctx)
}

// Alive reports whether the connection stands.
func (f *Feed) Alive() bool {
	select {
	case <-f.client.Link.Done():
		return false
	default:
		return true
	}
}

// Feed is the connection whose lists are on offer; nil for none.
func (l *Listing) Feed() *Feed {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.feed
}

// Adopt makes f the connection whose lists are on offer, from the next one on that it tells.
func (l *Listing) Adopt(f *Feed) {
	l.mu.Lock()
	l.feed, f.asked = f, true
	l.mu.Unlock()
}

// propose is Adopt, but leaves a connection that stands its place unless always is set. It reports whether
// the lists of f are taken.
func (l *Listing) propose(f *Feed, always bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if always || l.feed == nil || !l.feed.Alive() {
		l.feed, f.asked = f, true
	}
	return f.asked
}

// Stand says that a connection is in use: where its lists are on offer, they are live.
func (l *Listing) Stand(f *Feed) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.feed == f {
		l.live.Store(true)
	}
}

// Drop says that a connection is not in use any more; nil is any. The lists stay on offer.
func (l *Listing) Drop(f *Feed) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f == nil || l.feed == f {
		l.feed = nil
		l.live.Store(false)
	}
}

// Spoke notes what the server said of itself on a new connection.
func (l *Listing) Spoke(c *mcp.Client) {
	l.mu.Lock()
	l.meta.hello = hello{c.Era.String(), c.Version, NameOf(c.Info)}
	l.mu.Unlock()
}

// NameOf is how a server names itself: name and version, by its Implementation object.
func NameOf(info json.RawMessage) string {
	return strings.TrimSpace(mcp.GetString(info, "name") + " " + mcp.GetString(info, "version"))
}
