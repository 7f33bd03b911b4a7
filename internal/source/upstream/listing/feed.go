package listing

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"sync/atomic"

	"collie/internal/mcp"
)

// This file keeps track of the connection from which the published lists come.

// Feed is a connection from which lists are fetched. Make it with [NewFeed].
type Feed struct {
	client *mcp.Client
	remote bool
	// stream opens the stream for list changes and reports whether it is open; nil for a legacy server on a pipe, where
	// changes can arrive at any time.
	stream          func(context.Context) bool
	awaitLateStream func(context.Context) bool // waits for a stream that was not open in time; nil if it never will be

	heard       atomic.Bool       // the stream is being opened, or was
	streamReady chan struct{}     // closed when the stream is open, or will not be
	listed      chan struct{}     // closed when all lists were fetched or failed, or none is wanted
	fetchMu     [kinds]sync.Mutex // one fetch of each list at a time, so that a later one has newer data
	wanted      bool              // its lists are wanted; guarded by the listing's mu
}

// NewFeed returns the feed of a connection; remote says that it goes over HTTP. stream opens the stream for list
// changes and reports whether it is open; nil means that changes can arrive on the connection at any time. late waits
// for a stream that stream could not open, and reports whether it is open; nil means that it never will be.
func NewFeed(c *mcp.Client, remote bool, stream, late func(context.Context) bool) *Feed {
	return &Feed{client: c, remote: remote, stream: stream, awaitLateStream: late, streamReady: make(chan struct{}), listed: make(chan struct{})}
}

// Await returns when all lists of the connection were fetched or failed; its error is that of ctx.
func (f *Feed) Await(ctx context.Context) error {
	select {
	case <-f.listed:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// AwaitAlive is like Await but returns at once if the connection has ended.
func (f *Feed) AwaitAlive(ctx context.Context) error {
	if !f.Alive() {
		return nil
	}
	return f.Await(ctx)
}

// Alive reports whether the connection is open.
func (f *Feed) Alive() bool {
	select {
	case <-f.client.Link.Done():
		return false
	default:
		return true
	}
}

// Feed returns the connection whose lists are published, nil if there is none.
func (l *Listing) Feed() *Feed {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.feed
}

// Adopt makes f the connection whose lists are published. The published lists stay until f's next one arrives.
func (l *Listing) Adopt(f *Feed) {
	l.mu.Lock()
	l.feed, f.wanted = f, true
	l.mu.Unlock()
}

// propose adopts f if there is no live connection yet, or if always is set. It reports whether f's lists will be
// published.
func (l *Listing) propose(f *Feed, always bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if always || l.feed == nil || !l.feed.Alive() {
		l.feed, f.wanted = f, true
	}
	return f.wanted
}

// MarkLive records that a connection is in use: its lists, if they are the published ones, are live.
func (l *Listing) MarkLive(f *Feed) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.feed == f {
		l.live.Store(true)
	}
}

// Drop records that a connection is no longer in use; nil means any. The published lists stay.
func (l *Listing) Drop(f *Feed) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f == nil || l.feed == f {
		l.feed = nil
		l.live.Store(false)
	}
}

// RecordHandshake records the era, version and name that the server gave on a new connection.
func (l *Listing) RecordHandshake(c *mcp.Client) {
	l.mu.Lock()
	l.meta.hello = handshakeInfo{c.Era.String(), c.Version, NameOf(c.Info)}
	l.mu.Unlock()
}

// NameOf returns name and version from a server's Implementation object.
func NameOf(info json.RawMessage) string {
	return strings.TrimSpace(mcp.GetString(info, "name") + " " + mcp.GetString(info, "version"))
}
