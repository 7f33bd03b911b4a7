// Package source joins all sources into one [Catalog]. It gives every action, resource and prompt the name that
// clients see, keeps each list ready as bytes, resolves names, and tells watchers of changes.
//
// A catalog is a sequence of immutable snapshots. Sources publish offers; the first reader after a change builds the
// next snapshot. The same offers in the same order give the same bytes, since the prompt caches of model APIs depend
// on it.
//
// The catalog does not decide whether a call may run, which is the pipeline's duty, and sources run the calls. It is
// itself a Source for help pages, for instructions and for URIs that no list names.
package source

import (
	"context"
	"encoding/json"
	"hash/maphash"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"collie/internal/tool"
)

// Options are the optional parts of a [Catalog].
type Options struct {
	// Profiles by name; "" is the default profile, which shows everything unless it is
	// given.
	Profiles map[string]Profile
	// Reserved are names that belong to our own Tools, whether those are shown or not. Another source's tool with
	// such a name, or one that begins with it and "__", is exposed as SOURCE__NAME.
	Reserved []string
	// Instructions is our own advice to models, of which the first 4 KiB are used.
	Instructions string
	// Quiet is how long list changes are gathered into one notice; default 250 ms.
	Quiet time.Duration
	// Chosen stores the choices of the view Auto across restarts; nil keeps them in memory only.
	Chosen Chosen
	Logger *slog.Logger // nil discards
}

// Profile says what a client sees.
type Profile struct {
	// Tools and Hide are names of Tools, or "tool/action" with * as a wildcard. Empty
	// Tools means all.
	Tools, Hide []string
	// View overrides the view of every Tool; empty leaves each Tool's own.
	View tool.View
	// Views overrides the view of single Tools, by name.
	Views map[string]tool.View
	// Default is the view of Tools that have no setting of their own; empty means Flat. Auto chooses views so that
	// the tools of all servers take at most Budget bytes of the list.
	Default tool.View
	Budget  int

	chosen map[string]tool.View // what Auto chose; set only in the profile of a view
}

// Catalog presents all sources as one. It is safe for concurrent use. Close stops it.
type Catalog struct {
	opts  Options
	log   *slog.Logger
	begun time.Time

	changed  atomic.Uint64 // counts what may have made the current snapshot old
	current  atomic.Pointer[snapshot]
	profiles atomic.Pointer[map[string]Profile]
	reserved atomic.Pointer[[]string]

	mu      sync.Mutex
	sources []tool.Source
	stops   map[tool.Source]func()
	closed  bool

	notices       changeNotifier
	sessions      sessionList
	hasSessions   func() bool // sessions.isAttended, made once because every List passes it on
	subscriptions subscriptions
	indexes       indexBuilder
	levels        levels
	autoViews     autoViews
	servedLists   servedLists

	listedFormsMu sync.Mutex
	listedForms   map[string]map[string]listedForm // how each profile's Tools were last listed, by profile and Tool
}

// New returns a catalog of sources. Where two sources want one name, the earlier source gets it.
func New(sources []tool.Source, opts Options) *Catalog {
	if opts.Quiet <= 0 {
		opts.Quiet = 250 * time.Millisecond
	}
	c := &Catalog{opts: opts, log: opts.Logger, begun: time.Now(), stops: map[tool.Source]func(){}}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	c.notices.quiet, c.notices.change = opts.Quiet, c.change
	c.servedLists.seed = maphash.MakeSeed()
	c.hasSessions = c.sessions.isAttended
	c.autoViews.store = opts.Chosen
	c.profiles.Store(&opts.Profiles)
	c.reserved.Store(&opts.Reserved)
	c.replace(sources) // the first set is not a change to anybody
	c.changed.Add(1)
	return c
}

// Set replaces the sources, the profiles and the reserved names. Sources in both sets keep running undisturbed, and
// watchers are notified only of differences.
func (c *Catalog) Set(sources []tool.Source, profiles map[string]Profile, reserved []string) {
	c.mu.Lock()
	unchanged := slices.Equal(c.sources, sources)
	c.mu.Unlock()
	if unchanged && reflect.DeepEqual(*c.profiles.Load(), profiles) && slices.Equal(*c.reserved.Load(), reserved) {
		return
	}
	c.profiles.Store(&profiles)
	c.reserved.Store(&reserved)
	for _, stop := range c.replace(sources) {
		stop() // waits until a notice in progress has been delivered, which may need c.mu
	}
	c.changed.Add(1)
	c.tellSessions()
	c.notices.all()
}

// currentPeer returns the current source that has the name of old, which may be old itself; nil if there is none.
func (c *Catalog) currentPeer(old tool.Peer) tool.Peer {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.sources {
		if next, ok := s.(tool.Peer); ok && s.Name() == old.Name() {
			return next
		}
	}
	return nil
}

// replace installs the new sources and returns functions that stop watching the old ones.
func (c *Catalog) replace(sources []tool.Source) (stops []func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	for s, stop := range c.stops {
		if !slices.Contains(sources, s) {
			delete(c.stops, s)
			stops = append(stops, stop)
		}
	}
	for _, s := range sources {
		if c.stops[s] == nil {
			c.stops[s] = s.Watch(c.handleChange)
		}
	}
	c.sources = slices.Clone(sources)
	return stops
}

// Close stops watching the sources; it does not close them.
func (c *Catalog) Close() {
	c.mu.Lock()
	stops := c.stops
	c.stops, c.closed = nil, true
	c.mu.Unlock()
	for _, stop := range stops {
		stop()
	}
	c.notices.close()
	c.indexes.close()
	c.autoViews.close()
}

// handleChange handles a change that a source reports.
func (c *Catalog) handleChange(ch tool.Change) {
	switch ch.Kind {
	case tool.ToolsChanged, tool.ResourcesChanged, tool.PromptsChanged:
		c.changed.Add(1)
		c.notices.list(ch.Kind)
	case tool.ResourceUpdated:
		c.notices.send(c.withExposedURI(ch))
	case tool.LogMessage, tool.Notice:
		c.notices.send(ch)
	}
}

// Watch calls f for each change until stop is called; see the pipeline's Catalog.
func (c *Catalog) Watch(f func(tool.Change)) (stop func()) { return c.notices.watch(f) }

// snapshot returns the current snapshot, built anew if a source has changed since the last.
func (c *Catalog) snapshot() *snapshot {
	if s := c.current.Load(); s != nil && s.revision == c.changed.Load() {
		return s
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	revision := c.changed.Load() // before the offers are read, so that a change during the reading is not lost
	if s := c.current.Load(); s != nil && s.revision == revision {
		return s
	}
	s := newSnapshot(c, revision)
	c.current.Store(s)
	return s
}

// List returns an MCP list result, as bytes ready to send, and the revision of the catalog. It never waits: it shows
// what is known now, and watchers hear of what comes later (AwaitKnown waits). Each source then checks in the
// background whether what it offered is out of date.
func (c *Catalog) List(_ context.Context, kind tool.ListKind, profile string) (json.RawMessage, uint64) {
	s := c.snapshot()
	v := s.view(profile)
	if kind == tool.ListTools {
		c.viewShown(s, v)
	}
	var raw json.RawMessage
	if list := v.lists[kind]; list != nil {
		raw, _ = list()
		c.servedLists.record(v, kind)
		if s.revision != c.changed.Load() { // the notice of that may have gone out before this list was noted
			c.notices.list(changeOf[kind])
		}
	}
	for i := range s.offers {
		if r, ok := s.offers[i].source.(tool.Refresher); ok {
			r.Listed(kind, c.hasSessions)
		}
	}
	return raw, s.revision
}

// Prepare builds the list of tools that a profile sees now, so that the first client to ask for it need not wait. It
// does not count as shown to a client.
func (c *Catalog) Prepare(profile string) {
	if list := c.snapshot().view(profile).lists[tool.ListTools]; list != nil {
		list()
	}
}

// AwaitKnown returns when every source knows its offers of a kind or has given up, or when ctx ends.
func (c *Catalog) AwaitKnown(ctx context.Context, kind tool.ListKind) {
	for _, told := range c.snapshot().pendingSources(kind) {
		select {
		case <-told.ready:
		case <-ctx.Done():
			return
		}
	}
}

// useWait bounds the wait for sources that are still starting when a call or read names something nobody offers,
// since it may be theirs. It counts from New.
const useWait = 2 * time.Second

// pendingSource is a source that does not know its list of a kind yet. ready is closed once it does.
type pendingSource struct {
	name  string
	ready <-chan struct{}
}

// pendingSources returns the sources that do not know yet what they offer of a kind.
func (s *snapshot) pendingSources(kind tool.ListKind) []pendingSource {
	var out []pendingSource
	for _, o := range s.offers {
		r, ok := o.source.(tool.Refresher)
		if !ok {
			continue
		}
		soon := r.Ready(kind)
		if soon == nil {
			continue
		}
		select {
		case <-soon:
		default:
			out = append(out, pendingSource{o.source.Name(), soon})
		}
	}
	return out
}

// awaitOwner waits for the starting source that a name seems to belong to by its prefix. Without such a source it
// waits for all starting sources, until useWait after New. It reports whether any source was still starting.
func (c *Catalog) awaitOwner(ctx context.Context, kind tool.ListKind, name string) bool {
	list := c.snapshot().pendingSources(kind)
	for _, told := range list {
		if owner := tool.CleanName(told.name); strings.HasPrefix(name, owner+"__") || strings.HasPrefix(name, owner+"/") || name == owner {
			select {
			case <-told.ready:
			case <-ctx.Done():
			}
			return true
		}
	}
	if remaining := time.Until(c.begun.Add(useWait)); len(list) > 0 && remaining > 0 {
		ctx, cancel := context.WithTimeout(ctx, remaining)
		defer cancel()
		c.AwaitKnown(ctx, kind)
	}
	return len(list) > 0
}

// Shown counts the Tools of one source that a profile shows and that are on. It looks at no other source.
func (c *Catalog) Shown(profile string, of tool.Source) (n int) {
	_, p := c.profile(profile)
	offer := of.Offer()
	for i := range offer.Tools {
		if t := &offer.Tools[i]; t.Off == "" && (len(t.Actions) == 0 || len(p.shown(t)) > 0) {
			n++
		}
	}
	return n
}

// Tools returns what a profile sees, for display to people: the Tools in the order of their sources, each in its view
// and with the actions that the profile shows. Tools that are switched off are included.
func (c *Catalog) Tools(profile string) []tool.Tool {
	s := c.snapshot()
	p := &s.view(profile).profile
	var out []tool.Tool
	for _, o := range s.offers {
		for i := range o.offer.Tools {
			t := o.offer.Tools[i]
			all := t.Actions
			t.View, t.Why, t.Actions = p.viewOf(&t), p.viewChooser(&t), p.shown(&t)
			if len(t.Actions) > 0 || len(all) == 0 {
				out = append(out, t)
			}
		}
	}
	return out
}

// Prompts returns the prompts that a profile shows, for display to people, ordered by source and name.
func (c *Catalog) Prompts(profile string) []tool.SourcePrompt {
	s := c.snapshot()
	p := &s.view(profile).profile
	out := []tool.SourcePrompt{}
	for _, o := range s.offers {
		if !p.showsSource(o.source) {
			continue
		}
		for _, prompt := range o.offer.Prompts {
			out = append(out, tool.SourcePrompt{Source: o.source.Name(), Prompt: prompt})
		}
	}
	slices.SortStableFunc(out, func(a, b tool.SourcePrompt) int { return strings.Compare(a.FullName(), b.FullName()) })
	return out
}

// profile returns the profile of a name, and the key under which its view is kept. "default" means the profile
// without a name. An unknown name sees nothing: a client must not suddenly see everything because its profile was
// removed from the settings. "name@flat", "name@grouped" and "name@search" are the profile with every Tool in that
// view, for comparison.
func (c *Catalog) profile(name string) (string, Profile) {
	profiles := *c.profiles.Load()
	base, v, ok := SplitProfile(name, func(name string) bool { _, ok := profiles[name]; return ok })
	switch p := profiles[base]; {
	case !ok:
		return emptyProfile, Profile{Hide: []string{"*"}}
	case v != "":
		p.View, p.Views = v, nil
		return base + "@" + string(v), p
	default:
		return base, p
	}
}

// SplitProfile splits a profile name as a client gives it, such as "work@flat", into the profile ("" is the default
// one) and the view after the "@", if any. known tells which profiles exist; ok reports whether the name means one of
// them.
func SplitProfile(name string, known func(name string) bool) (base string, view tool.View, ok bool) {
	if known(name) {
		return name, "", true
	}
	if name == "" || name == "default" {
		return "", "", true
	}
	if i := strings.LastIndexByte(name, '@'); i >= 0 {
		if v := tool.View(name[i+1:]); v == tool.Flat || v == tool.Grouped || v == tool.Search {
			base, _, ok := SplitProfile(name[:i], known)
			return base, v, ok
		}
	}
	return "", "", false
}

// emptyProfile is the profile that sees nothing. No settings can define it, since a profile's name is printable.
const emptyProfile = "\x00"
