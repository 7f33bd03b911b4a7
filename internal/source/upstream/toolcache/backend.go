package toolcache

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// Backend keeps encoded entries by name: the file of this host, or the place that gateways share.
// Every Backend passes toolcachetest.RunBackend. All methods are safe for concurrent use, by several
// processes too, and return when ctx ends, at the latest.
//
// Entries are opaque but for being JSON objects: a Backend returns the very bytes that it was given,
// or an equal JSON value where its format lays them out again. Names have letters, digits, _ and -.
type Backend interface {
	// Load returns everything that is kept. Nothing kept is an empty Snapshot and no error.
	Load(ctx context.Context) (Snapshot, error)
	// Commit makes changes, each of which says what it replaces. If something else is kept there by
	// now, the error matches [ErrConflict] and that change is not made; whether the others are is the
	// Backend's choice, but each is made as a whole. With that error, as without one, the Snapshot is
	// what is kept afterwards. A Commit that fails otherwise may have taken effect.
	Commit(ctx context.Context, changes []Change) (Snapshot, error)
	// Watch calls f, serially, within 2 s after commits of others, and may do so after our own;
	// several commits may be told as one. What others have committed since this handle's last
	// Load is told too, even if Watch began later. It returns when ctx ends or why it cannot watch.
	Watch(ctx context.Context, f func()) error
	// Close frees what the Backend holds. It may be called twice.
	Close() error
}

// Shared is a [Backend] that several gateways share.
type Shared interface {
	Backend
	// Lease asks for the only right to refresh a server for d. The holder asks again to renew
	// it, and with d = 0 to give it back. ok is false while another holder has it.
	Lease(ctx context.Context, server, holder string, d time.Duration) (ok bool, err error)
}

// Snapshot is everything a [Backend] keeps at one moment.
type Snapshot struct {
	// Generation of a file grows with each commit, and is 0 where nothing was ever committed. Other
	// places have none.
	Generation uint64
	Entries    map[string]json.RawMessage
}

// Change is one entry to put, or to delete where Entry is nil. Old is the entry that it replaces, as
// the last Snapshot has it; nil where there is none.
type Change struct {
	Server     string
	Old, Entry json.RawMessage
}

// ErrConflict is what [Backend.Commit] returns when somebody else has changed an entry in between.
var ErrConflict = errors.New("toolcache: changed by another writer")
