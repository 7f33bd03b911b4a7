// Package listing keeps what one server offers: its tools, resources, templates and prompts, byte for byte as the
// server or the cache gave them. It fetches them over a connection, compares tools with their pins, publishes what
// differs, and stores the lists in the cache for the next start.
//
// The published lists are those of one connection, the current [Feed]. Lists from another connection, or late ones
// from an earlier one, are dropped. The package does not know how connections are made, nor which eras the server
// speaks.
package listing

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"collie/internal/mcp"
	"collie/internal/source/upstream/entry"
	"collie/internal/source/upstream/pins"
	"collie/internal/source/upstream/serverlog"
	"collie/internal/source/upstream/toolcache"
	"collie/internal/tool"
)

// Options are what a Listing needs of its server and of the set. All fields are required except Cache and Pins; nil
// stores nothing. Settings, Recalled and Tell are called during a publication and must not publish themselves; the
// others are called with no lock held.
type Options struct {
	Name string
	// Hash is the server's identity; empty stores nothing.
	Hash      string
	Settings  func() *entry.Entry // returns the current settings
	Cache     *toolcache.Cache
	Pins      *pins.Store
	Home      string // the user's home folder, which is masked in what is stored
	Log       *slog.Logger
	ServerLog *serverlog.Log // the server's own log, which users read

	// Fingerprint returns a digest of the files behind the server's command, Principal one of who is signed in.
	Fingerprint, Principal func() string
	// Eras returns what is known of the server's eras, including what c shows, and the server's transport.
	Eras func(c *mcp.Client) (eras string, transport entry.Transport)
	// Recalled is called with a cache entry before it is published. It returns false to reject the entry because the
	// server itself has answered meanwhile. It may call only Live of the Listing.
	Recalled func(*toolcache.Entry) bool
	// Starting reports whether a connection is being opened.
	Starting func() bool
	// Tell is called for each change.
	Tell func(tool.Change)
	// Life ends with the server. Go runs a function that the server waits for at its end.
	Life context.Context //nolint:containedctx // of the server, which the Listing is part of
	Go   func(func())
}

// Listing is what a server offers. It is safe for concurrent use. Close ends its refreshes.
type Listing struct {
	opts    Options
	refresh refresher

	lists     atomic.Pointer[Lists]      // nil until it is known what the server offers
	pinned    atomic.Pointer[pinChanges] // how the current lists differ from the pins
	offer     atomic.Pointer[tool.Offer]
	headers   atomic.Pointer[map[string]*mcp.ParamHeaders] // by tool, where there are any
	live      atomic.Bool                                  // the feed's connection is in use, and the lists came from it
	staleAt   atomic.Int64                                 // when the live lists reach their lifetime, Unix ns
	unchecked atomic.Bool                                  // the cached lists were not compared with the pins yet

	publishMu sync.Mutex // held while an offer is published
	built     build      // of the last offer; guarded by publishMu

	mu   sync.Mutex
	feed *Feed // the connection whose lists are published; nil if there is none
	meta meta
}

// build holds the inputs of an offer besides the lists.
type build struct {
	conf *entry.Entry
	pins *pinChanges
}

// meta describes the published lists.
type meta struct {
	freshness tool.Freshness
	why       string    // reason of freshness
	validated time.Time // when a live server last confirmed the lists
	changed   []string  // tools that differ from their pins
	hello     handshakeInfo
}

// handshakeInfo holds what a server reported about itself on its last connection.
type handshakeInfo struct {
	era, version string
	server       string // name and version
}

// New returns a Listing that offers nothing yet.
func New(o Options) *Listing {
	l := &Listing{opts: o}
	l.refresh.listing = l
	l.offer.Store(&tool.Offer{})
	return l
}

// Offer returns what was published last.
func (l *Listing) Offer() *tool.Offer { return l.offer.Load() }

// Lists returns the lists published last, as they came; nil until it is known what the server offers.
func (l *Listing) Lists() *Lists { return l.lists.Load() }

// Headers returns the HTTP headers that carry arguments of a tool; nil for none.
func (l *Listing) Headers(target string) *mcp.ParamHeaders {
	if all := l.headers.Load(); all != nil {
		return (*all)[target]
	}
	return nil
}

// Live reports whether the connection whose lists are published is open.
func (l *Listing) Live() bool { return l.live.Load() }

// Close ends refreshing. A refresh in progress ends with the server's life.
func (l *Listing) Close() { l.refresh.close() }

// Status fills in what is known of the lists in a server's status.
func (l *Listing) Status(st *tool.ServerStatus) {
	l.mu.Lock()
	m := l.meta
	l.mu.Unlock()
	st.Era, st.Version, st.Server = m.hello.era, m.hello.version, m.hello.server
	st.Freshness, st.Why, st.Changed = m.freshness, m.why, m.changed
	if !m.validated.IsZero() {
		st.Validated = &m.validated
	}
	offer := l.Offer()
	for i := range offer.Tools {
		st.Tools += len(offer.Tools[i].Actions)
	}
	st.Resources, st.Prompts = len(offer.Resources), len(offer.Prompts)
}
