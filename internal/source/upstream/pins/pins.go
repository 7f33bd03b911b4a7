// Package pins remembers the definitions of tools as they were first seen, so that a server
// that changes one later is noticed.
//
//	first sight ──▶ pinned ──another definition──▶ pinned + pending ──approve──▶ pinned
//	                   ▲                                  │
//	                   └──────the pinned one again────────┘
//
// Pins lie in one file that several processes share, with the pinned definition itself, for
// the difference to be shown. A definition that was pinned once is replaced by a person's
// approval only: processes that disagree leave the other one's pin and note what they saw as
// pending. What a change means, a warning or a tool that is hidden, is its user's business,
// and so is the hash of a definition.
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

// kind says what is the matter with a definition.
type kind string

// The kinds of [Change].
const (
	// changed is a definition that a live server gave and that is not the pinned one.
	changed kind = "changed"
	// Tampered is a definition out of a stored list that no live server has ever given.
	Tampered kind = "tampered"
)

// Change is a definition that is not the pinned one.
type Change struct {
	Tool   string    `json:"tool"`
	Kind   kind      `json:"kind"`
	Hash   string    `json:"hash"`
	SeenAt time.Time `json:"seenAt,omitzero"` // zero for Tampered
	// Fields that differ, of name, title, description, inputSchema, outputSchema and
	// annotations; none if the pinned definition is not known any more.
	Fields []string `json:"changed"`
	// Was is the pinned definition and Now the other one, those six fields each. Was is nil
	// for a tool that was never pinned, and where the file has lost it.
	Was json.RawMessage `json:"was,omitempty"`
	Now json.RawMessage `json:"now"`
}

// Options of a [Store]. The zero value works.
type Options struct {
	// Collect is how long news are gathered into one write; default 500 ms.
	Collect time.Duration
	// Poll is how often [Store.Watch] looks at the file where the system does not tell of its changes; default 2 s.
	Poll time.Duration
	// PollOnly asks the system for no notices.
	PollOnly bool
	Now      func() time.Time // default time.Now
	Logger   *slog.Logger     // nil discards
}

// Store is the pins of one home. It is safe for concurrent use, by several processes that
// share its file too. A nil *Store pins nothing. Close writes what is new.
type Store struct {
	file atomicfile.File // no path: memory only
	hash func(json.RawMessage) string
	opts Options
	log  *slog.Logger
	stop chan struct{} // closed by Close
	wg   sync.WaitGroup

	writes sync.Mutex // held while the file is written, before mu

	mu   sync.Mutex
	book book
}

// lock returns what is known, which is the caller's until s.mu is unlocked.
func (s *Store) lock() *book {
	s.mu.Lock()
	return &s.book
}

// book is what is known of the pins and of their file. It is not safe for concurrent use: whoever has a *book has
// the lock of its store.
type book struct {
	store   *Store
	pins    state
	info    fs.FileInfo // of the file that pins were read from; nil: look again
	dirty   state       // what the file does not have yet
	edits   []edit      // what people did and the file does not have yet
	writing bool        // a goroutine is at it
	closed  bool
	changed uint64 // grows with every change of pins
	wake    map[chan struct{}]struct{}
	warned  string // the last warning about the file
}

// edit is a change that a person made. It is made in memory at once, and to the file with
// the next write.
type edit func(state)

// Open returns the pins of the file at path, which is read when a pin is first wanted; an empty
// path keeps them in memory. It never fails: what is wrong with the file is logged as a
// warning, the file is left alone, and pins are kept in memory until it can be read.
//
// hash returns the hash of a definition that pins go by, 64 hexadecimal digits in lower case,
// or "" for a definition that has none, which is not looked at then. It
// must be safe for concurrent use.
func Open(path string, hash func(definition json.RawMessage) string, opts Options) *Store {
	opts.Collect = cmp.Or(opts.Collect, 500*time.Millisecond)
	opts.Poll = cmp.Or(opts.Poll, 2*time.Second)
	if opts.Now == nil {
		opts.Now = time.Now
	}
	s := &Store{
		file: atomicfile.File{Path: path, Perm: 0o600}, hash: hash, opts: opts, log: cmp.Or(opts.Logger, slog.New(slog.DiscardHandler)),
		stop: make(chan struct{}),
	}
	s.book = book{store: s, pins: state{}, dirty: state{}, wake: map[chan struct{}]struct{}{}}
	return s
}

// Check compares definitions of a server with their pins and returns what is not pinned, in
// the order of defs. Of a list that a live server has just given (live) it records what it
// sees: an unknown tool is pinned, a definition that is not the pinned one becomes pending,
// and a pending one is dropped when the pinned one is back. Tools that are not in defs keep
// their pins.
//
// Of a stored list it records nothing. What is pinned or pending in it is treated alike;
// anything else is Tampered, but for a server that has no pins at all: nothing is known of
// it, and the first live list will tell.
//
// Of several definitions with one name the first counts. Check does not wait for a write.
func (s *Store) Check(server string, defs []json.RawMessage, live bool) []Change {
	if s == nil {
		return nil
	}
	server = strings.ToValidUTF8(server, "\uFFFD")
	seen := s.sight(server, defs)
	b := s.lock()
	defer s.mu.Unlock()
	b.refresh()
	pinned := s.lookup(server)
	var out []Change
	for _, t := range seen {
		if live {
			b.learn(server, t, pinned)
		}
		r := b.pins[server][t.name]
		switch {
		case r == nil && len(b.pins[server]) == 0:
		case r == nil:
			out = append(out, Change{Tool: t.name, Kind: Tampered, Hash: t.hash, Now: pick(t.raw)})
		case r.hash == t.hash:
		case r.pending != nil && r.pending.hash == t.hash:
			out = append(out, r.change(t.name, pinned(t.name, r)))
		default:
			was, now := pinned(t.name, r), pick(t.raw)
			out = append(out, Change{
				Tool: t.name, Kind: Tampered, Hash: t.hash, Fields: differences(was, now), Was: was, Now: now,
			})
		}
	}
	return out
}

// Pending returns the changes of a server that wait for approval, by tool.
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

// change tells of what is pending.
func (r *record) change(name string, was json.RawMessage) Change {
	p := r.pending
	return Change{
		Tool: name, Kind: changed, Hash: p.hash, SeenAt: p.at, Fields: p.changed, Was: was, Now: p.definition,
	}
}

// sighted is one definition of a list, with its hash.
type sighted struct {
	name, hash, digest string
	raw                json.RawMessage
}

// sight hashes definitions. It holds no lock meanwhile: that takes longest.
func (s *Store) sight(server string, defs []json.RawMessage) []sighted {
	b := s.lock()
	known := maps.Clone(b.pins[server])
	s.mu.Unlock()
	out := make([]sighted, 0, len(defs))
	taken := make(map[string]bool, len(defs))
	for _, def := range defs {
		name := strings.ToValidUTF8(mcp.GetString(def, "name"), "\uFFFD")
		if name == "" || taken[name] {
			continue
		}
		taken[name] = true
		sum := sha256.Sum256(compact(def))
		t := sighted{name: name, digest: hex.EncodeToString(sum[:]), raw: def}
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

// learn records what a live server gave.
func (b *book) learn(server string, t sighted, pinned lookup) {
	old := b.pins[server][t.name]
	seen := sighting{hash: t.hash, digest: t.digest, at: b.store.opts.Now().Round(time.Millisecond)}
	if old == nil || old.hash != t.hash || old.pending != nil || old.definition == nil && !old.stored {
		seen.definition = pick(t.raw)
	}
	now := old.observe(seen, func(r *record) json.RawMessage { return pinned(t.name, r) })
	if now == old {
		return
	}
	if now.pending != nil {
		b.store.log.Debug("a tool's definition is not the one that was pinned", "server", server, "tool", t.name, "changed", now.pending.changed)
	}
	b.pins.put(server, t.name, now)
	b.dirty.put(server, t.name, now)
	b.note()
	b.writeSoon()
}

// note tells watchers that pins have changed.
func (b *book) note() {
	b.changed++
	for c := range b.wake {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// lookup returns the pinned definition of a tool, nil if it is not known any more.
type lookup func(name string, r *record) json.RawMessage

// lookup is where the definitions of a server are. The file is read when the first one is
// asked for that is not in memory: that is rare, and most definitions are never asked for.
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
		if kept := read()[name]; kept != nil && kept.hash == r.hash {
			return slices.Clone(kept.definition)
		}
		return nil
	}
}
