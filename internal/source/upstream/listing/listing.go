// Package listing keeps what one server offers: its tools, resources, templates and prompts, byte for byte
// as the server or the cache told them. It asks a connection for them, holds the tools against their pins,
// publishes what differs, and keeps it in the cache for the next run.
//
// The lists on offer are those of one connection, the current [Feed]. What another one tells, or an
// old one late, is dropped. How a connection is made, and which eras the server speaks, is not known here.
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

// Options are what a Listing needs of the server and of what all servers share. All fields are needed but
// Cache and Pins, which may be nil and keep nothing then. Settings, Recalled and Tell are called while
// something is being published, and must not publish themselves; the others with no lock held.
type Options struct {
	Name string
	// Hash is the server's identity; empty keeps nothing of it.
	Hash     string
	Settings func() *entry.Entry // as of now
	Cache    *toolcache.Cache
	Pins     *pins.Store
	Home     string // the user's home folder, which is not shown in what is kept
	Log      *slog.Logger
	Said     *serverlog.Log // what people see of the server's own log

	// Fingerprint tells the files behind the server's command apart, and Principal who is signed in at it.
	Fingerprint, Principal func() string
	// Eras says what has been found out about the server's eras, c included, and how it is reached.
	Eras func(c *mcp.Client) (eras string, transport entry.Transport)
	// Recalled is told of an entry of the cache before it is published, and may refuse it, since the server
	// has told better. It must not call back but for Live.
	Recalled func(*toolcache.Entry) bool
	// Starting reports whether a connection is being made.
	Starting func() bool
	// Tell is told what has changed.
	Tell func(tool.Change)
	// Life ends with the server, and Go runs what it waits for at its end.
	Life context.Context //nolint:containedctx // of the server, which the Listing is part of
	Go   func(func())
}

// Listing is what a server offers. It is safe for concurrent use. Close ends its refreshes.
type Listing struct {
	opts    Options
	refresh refresher

	lists     atomic.Pointer[Lists]   // nil where it is not known what the server offers
	pinned    atomic.Pointer[changes] // what the pins say of the lists of now
	offer     atomic.Pointer[tool.Offer]
	headers   atomic.Pointer[map[string]*mcp.ParamHeaders] // of the tools that have any
	live      atomic.Bool                                  // the feed's connection is in use, and the lists are its own
	staleAt   atomic.Int64                                 // when a live list is to be asked for again, in Unix ns
	unchecked atomic.Bool                                  // the pins have not been asked about what the cache gave

	publishing sync.Mutex // one offer after the other
	built      build      // of the offer, for the next one

	mu   sync.Mutex
	feed *Feed // whose lists are on offer; nil where no connection stands
	meta meta
}

// build is what an offer was made of beside the lists.
type build struct {
	conf *entry.Entry
	pins *changes
}

// meta is what is said of the lists.
type meta struct {
	freshness tool.Freshness
	why       string    // of freshness
	validated time.Time // when a live server last confirmed the lists
	changed   []string  // tools that differ from their pins
	hello     hello
}

// hello is what a server said of itself when it was spoken to last.
type hello struct {
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

// Offer is what was published last.
func (l *Listing) Offer() *tool.Offer { return l.offer.Load() }

// Lists are what was published last, as they came; nil where it is not known what the server offers.
func (l *Listing) Lists() *Lists { return l.lists.Load() }

// Headers are the HTTP headers that a tool's arguments are sent in; nil for none.
func (l *Listing) Headers(target string) *mcp.ParamHeaders {
	if all := l.headers.Load(); all != nil {
		return (*all)[target]
	}
	return nil
}

// Live reports whether a connection stands whose lists are on offer.
func (l *Listing) Live() bool { return l.live.Load() }

// Close ends refreshing. A refresh that is under way ends with the server's life.
func (l *Listing) Close() { l.refresh.close() }

// Status puts what is known of the lists into a server's status.
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
