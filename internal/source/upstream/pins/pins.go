// Package pins remembers the definitions of tools as they were first seen, to notice a server that changes one later.
//
//	first sight ──▶ pinned ──another definition──▶ pinned + pending ──approve──▶ pinned
//	                   ▲                                  │
//	                   └──────the pinned one again────────┘
//
// All pins are in one file that several processes share. It holds the pinned definitions too, so that differences can
// be shown. Only a person's approval replaces a pinned definition: a process that saw another one leaves the pin and
// records its own as pending. The caller decides what a change leads to, a warning or a hidden tool, and how
// definitions are hashed.
//
// The entry point is [Open].
package pins

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"collie/internal/atomicfile"
	"collie/internal/mcp"
)

// kind is the kind of a [Change].
type kind string

// The kinds of [Change].
const (
	// kindChanged means that a live server gave a definition other than the pinned one.
	kindChanged kind = "changed"
	// Tampered means that a stored list has a definition that no live server has given.
	Tampered kind = "tampered"
)

// Change is a definition that differs from the pinned one.
type Change struct {
	Tool   string    `json:"tool"`
	Kind   kind      `json:"kind"`
	Hash   string    `json:"hash"`
	SeenAt time.Time `json:"seenAt,omitzero"` // zero for Tampered
	// Fields are the differing ones of name, title, description, inputSchema, outputSchema and annotations; none if
	// the pinned definition is lost.
	Fields []string `json:"changed"`
	// Was is the pinned definition and Now the other one, reduced to those six fields. Was is nil for a tool that was
	// never pinned, or if the file has lost its definition.
	Was json.RawMessage `json:"was,omitempty"`
	Now json.RawMessage `json:"now"`
}

// Options of a [Store]. The zero value works.
type Options struct {
	// Collect is how long new pins are gathered into one write; default 500 ms.
	Collect time.Duration
	// Poll is how often [Store.Watch] reads the file if the system does not report its changes; default 2 s.
	Poll time.Duration
	// PollOnly does not use the system's notices of changes, which makes a process end sooner on Linux.
	PollOnly bool
	Now      func() time.Time // default time.Now
	Logger   *slog.Logger     // nil discards
}

// Store holds the pins of one home. It is safe for concurrent use, also by several processes with the same file. A
// nil *Store pins nothing. Close writes what is new.
type Store struct {
	file atomicfile.File // without a path: in memory only
	hash func(json.RawMessage) string
	opts Options
	// limits are the same for all stores but those of tests.
	limits limits
	log    *slog.Logger
	stop   chan struct{} // closed by Close
	wg     sync.WaitGroup

	writes sync.Mutex // held while the file is written; locked before mu

	mu   sync.Mutex
	book pinBook
}

// lock locks s.mu and returns the book, for use until s.mu is unlocked.
func (s *Store) lock() *pinBook {
	s.mu.Lock()
	return &s.book
}

// pinBook is the content of the pin file as last read, with the changes that are not written yet. It is not safe for
// concurrent use: the lock of its store guards it.
type pinBook struct {
	store   *Store
	pins    state
	info    fs.FileInfo // of the file that was read last; nil: read it again
	dirty   state       // sightings that are not in the file yet
	edits   []edit      // people's changes that are not in the file yet
	writing bool        // a goroutine is writing
	closed  bool
	changed uint64 // counts changes of pins
	wake    map[chan struct{}]struct{}
	warned  string          // last warning about the file
	full    map[string]bool // servers of which a warning says that there is no room for more
}

// edit is a change by a person. It is made in memory at once, and in the file with the next write.
type edit func(state)

// Open returns the pins in the file at path, which is read when a pin is first needed; an empty path keeps them in
// memory. Open never fails: if the file cannot be used, it logs a warning, leaves the file alone and keeps pins in
// memory until it can be read.
//
// hash returns the hash of a definition, 64 lower-case hexadecimal digits, or "" for a definition to be ignored. It
// must be safe for concurrent use.
func Open(path string, hash func(definition json.RawMessage) string, opts Options) *Store {
	opts.Collect = cmp.Or(opts.Collect, 500*time.Millisecond)
	opts.Poll = cmp.Or(opts.Poll, 2*time.Second)
	if opts.Now == nil {
		opts.Now = time.Now
	}
	s := &Store{
		file: atomicfile.File{Path: path, Perm: 0o600}, hash: hash, opts: opts, limits: defaultLimits,
		log: cmp.Or(opts.Logger, slog.New(slog.DiscardHandler)), stop: make(chan struct{}),
	}
	s.book = pinBook{store: s, pins: state{}, dirty: state{}, wake: map[chan struct{}]struct{}{}, full: map[string]bool{}}
	return s
}

// Check compares the definitions of a server with their pins and returns those that differ, in the order of defs.
//
// For a list that a live server has just given (live), Check records what it sees: an unknown tool is pinned, a
// different definition becomes pending, and a pending one is dropped when the pinned one is back. Tools that are not
// in defs keep their pins.
//
// For a stored list it records nothing. A definition that is neither pinned nor pending is Tampered, unless the
// server has no pins at all: then nothing is known of it until its first live list.
//
// Of several definitions with one name only the first is looked at. Check does not wait for the file to be written.
func (s *Store) Check(server string, defs []json.RawMessage, live bool) []Change {
	if s == nil {
		return nil
	}
	server = strings.ToValidUTF8(server, "\uFFFD")
	seen := s.hashDefinitions(server, defs)
	b := s.lock()
	defer s.mu.Unlock()
	b.refresh()
	pinned := s.lookup(server)
	left := b.roomFor(server)
	var out []Change
	for _, t := range seen {
		if live {
			b.observe(server, t, pinned, &left)
		}
		r := b.pins[server][t.name]
		switch {
		case r == nil && (live || len(b.pins[server]) == 0):
		case r == nil:
			out = append(out, Change{Tool: t.name, Kind: Tampered, Hash: t.hash, Now: pinnedFields(t.raw)})
		case r.hash == t.hash:
		case r.pending != nil && r.pending.hash == t.hash:
			out = append(out, r.change(t.name, pinned(t.name, r)))
		default:
			before, after := pinned(t.name, r), pinnedFields(t.raw)
			out = append(out, Change{
				Tool: t.name, Kind: Tampered, Hash: t.hash, Fields: changedFields(before, after), Was: before, Now: after,
			})
		}
	}
	return out
}

// Pending returns the definitions of a server that wait for approval, by tool.
func (s *Store) Pending(server string) map[string]Change {
	out := map[string]Change{}
	if s == nil {
		return out
	}
	b := s.lock()
	defer s.mu.Unlock()
	b.refresh()
	pinned := s.lookup(server)
	for name, r := range b.pins[server] {
		if r.pending != nil {
			out[name] = r.change(name, pinned(name, r))
		}
	}
	return out
}

// change returns the pending definition of r as a Change.
func (r *record) change(name string, before json.RawMessage) Change {
	p := r.pending
	return Change{
		Tool: name, Kind: kindChanged, Hash: p.hash, SeenAt: p.at, Fields: p.changed, Was: before, Now: p.definition,
	}
}

// hashedDefinition is one definition of a list, with its hash.
type hashedDefinition struct {
	name, hash, digest string
	raw                json.RawMessage
}

// hashDefinitions hashes definitions. It holds no lock while it does, since hashing takes the longest.
func (s *Store) hashDefinitions(server string, defs []json.RawMessage) []hashedDefinition {
	b := s.lock()
	known := maps.Clone(b.pins[server])
	s.mu.Unlock()
	out := make([]hashedDefinition, 0, len(defs))
	seen := make(map[string]bool, len(defs))
	for _, def := range defs {
		name := strings.ToValidUTF8(mcp.GetString(def, "name"), "\uFFFD")
		if name == "" || seen[name] {
			continue
		}
		seen[name] = true
		sum := sha256.Sum256(compactJSON(def))
		t := hashedDefinition{name: name, digest: hex.EncodeToString(sum[:]), raw: def}
		if r := known[name]; r != nil && r.digest == t.digest {
			t.hash = r.hash
		} else {
			t.hash = s.hash(def)
		}
		if isDigest(t.hash) {
			out = append(out, t)
		}
	}
	return out
}

// observe records a definition that a live server gave, as far as there is room left for it.
func (b *pinBook) observe(server string, t hashedDefinition, pinned lookup, left *room) {
	old := b.pins[server][t.name]
	if old == nil && left.tools <= 0 {
		b.warnFull(server)
		return
	}
	seen := sighting{hash: t.hash, digest: t.digest, at: b.store.opts.Now().Round(time.Millisecond)}
	if old == nil || old.hash != t.hash || old.pending != nil || old.definition == nil && !old.stored {
		seen.definition = pinnedFields(t.raw)
	}
	if (old == nil || old.hash == t.hash) && len(seen.definition) > left.pinned {
		b.warnFull(server)
		seen.definition = nil
	}
	now := old.observe(seen, func(r *record) json.RawMessage { return pinned(t.name, r) })
	if now == old {
		return
	}
	if p := now.pending; p != nil && len(p.definition) > left.pending {
		b.warnFull(server)
		p.definition = nil
	}
	left.take(old, now)
	if now.pending != nil {
		b.store.log.Debug("a tool's definition is not the one that was pinned", "server", server, "tool", t.name, "changed", now.pending.changed)
	}
	b.pins.put(server, t.name, now)
	b.dirty.put(server, t.name, now)
	b.wakeWatchers()
	b.writeSoon()
}

// wakeWatchers wakes watchers after a change of pins.
func (b *pinBook) wakeWatchers() {
	b.changed++
	for c := range b.wake {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// lookup returns the pinned definition of a tool, nil if it is lost.
type lookup func(name string, r *record) json.RawMessage

// lookup returns a lookup for the tools of a server. The file is read only when a definition is asked for that is not
// in memory, which is rare.
func (s *Store) lookup(server string) lookup {
	read := sync.OnceValue(func() map[string]*record {
		raw, err := os.ReadFile(s.file.Path)
		if err != nil {
			return nil
		}
		st, err := parse(raw, true)
		if err != nil {
			return nil
		}
		return st[server]
	})
	return func(name string, r *record) json.RawMessage {
		if r.definition != nil || !r.stored {
			return r.definition
		}
		if stored := read()[name]; stored != nil && stored.hash == r.hash {
			return slices.Clone(stored.definition)
		}
		return nil
	}
}
