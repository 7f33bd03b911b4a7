package toolcache

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// Backend keeps encoded entries for a [Cache]: in a file, in a folder, at another gateway.
// Every Backend passes toolcachetest.RunBackend. All methods are safe for concurrent use, by several
// processes too, and return when ctx ends, at the latest.
//
// Entries are opaque here but for being JSON objects: a Backend returns the very bytes that it
// was given, or an equal JSON value where its format lays them out again.
type Backend interface {
	// Load returns everything that is kept. Nothing kept is an empty Snapshot and no error.
	Load(ctx context.Context) (Snapshot, error)
	// Commit makes changes, all or none, on top of generation base, and returns the new
	// generation, which is greater. If what is kept is not of that generation any more,
	// nothing is changed and the error matches [ErrConflict]: load, merge, and try again. A
	// Commit whose answer was lost may have taken effect; making the same changes again does
	// no harm.
	Commit(ctx context.Context, base uint64, changes []Change) (generation uint64, err error)
	// Watch calls f, serially, within 2 s after commits of others, and may do so after our own;
	// several commits may be told as one. What others have committed since this handle's last
	// Load is told too, even if Watch began later. It returns when ctx ends or why it cannot watch.
	Watch(ctx context.Context, f func()) error
	// Lease asks for the only right to refresh a server for d. The holder asks again to renew
	// it, and with d = 0 to give it back. ok is false while another holder has it.
	Lease(ctx context.Context, server, holder string, d time.Duration) (ok bool, err error)
	// Close frees what the Backend holds. It may be called twice.
	Close() error
}

// Snapshot is everything a [Backend] keeps at one moment.
type Snapshot struct {
	Generation uint64 // 0 where nothing was ever committed
	Entries    map[string]json.RawMessage
	// TotalWrites counts entries ever committed.
	TotalWrites uint64
}

// Change is one entry to put, or to delete where Entry is nil.
type Change struct {
	Server string
	Entry  json.RawMessage
}

// ErrConflict is what [Backend.Commit] returns when somebody else has committed in between.
var ErrConflict = errors.New("toolcache: changed by another writer")
