// Package natsstore keeps the tool cache in a key-value bucket of NATS JetStream, for gateways
// that have a NATS server (2.10 or later) beside them.
//
// Keys of the bucket:
//
//	manifest            what is kept: server, blob, digest; its revision is the generation
//	entry.<id>.<chunk>  an entry, compressed where that helps, in pieces that a message holds
//	lease.<digest>      who may refresh a server
//
// A commit writes its entries under new keys and then the manifest, on condition that its
// revision is still the one that the commit builds on. The manifest is the commit: keys that
// none names are nothing, and are purged when they can no longer be of use to anybody, which
// the order of revisions and the clock of the server tell.
//
// [Open] is the entry point. What entries mean is left to package toolcache.
package natsstore

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"collie/internal/source/upstream/toolcache"
)

// Options of a [Store]. The zero value is useful.
type Options struct {
	// Bucket is made if it is not there. Default: the path of the address, else
	// collie-toolcache.
	Bucket string
	// Replicas is how many servers of a cluster keep a bucket that is made; default 1.
	Replicas int
	// CredentialsFile holds a user's JWT and key, as nsc writes it; empty uses what the
	// address says. What is in either is in no error and no log.
	CredentialsFile string
	// TLS configures tls:// addresses; nil uses the system's roots.
	TLS *tls.Config
	// Timeout bounds connecting, and waiting for a lost connection; default 2 s.
	Timeout time.Duration
	// Keep is how long what was replaced stays for slow readers; default 1 min.
	Keep time.Duration
	// Logger hears of damaged entries and of trouble on the connection; nil discards.
	Logger *slog.Logger
}

// Store is a [toolcache.Backend] in a bucket. It is safe for concurrent use.
type Store struct {
	address address
	opts    Options

	life    context.Context //nolint:containedctx // it ends with Close, and is nobody's request
	end     context.CancelFunc
	running sync.WaitGroup

	own   toolcache.Own
	seen  atomic.Uint64 // generation last loaded or committed
	swept atomic.Bool   // whether what crashed writers left has been purged

	mu        sync.Mutex // guards what follows, and running.Add against Close
	closed    bool
	dialing   *dial
	open      *bucket
	connected chan struct{}              // closed and replaced when a connection is back
	known     map[string]json.RawMessage // by digest, what was last loaded; replaced, never changed
}

var _ toolcache.Backend = (*Store)(nil)

// requestTimeout bounds a call whose caller sets no bound.
const requestTimeout = 30 * time.Second

// Open returns the store at the servers of address: nats://host:4222, with user and password
// or token before an @ and the bucket as path where they are needed, tls:// for encryption,
// several servers of a cluster separated by commas. It contacts nobody and fails only for an
// address that can be no such one. The caller closes the Store.
func Open(where string, opts Options) (*Store, error) {
	a, err := parse(where)
	if err != nil {
		return nil, err
	}
	if opts.Bucket != "" {
		a.bucket = opts.Bucket
	}
	if err := checkBucket(a.bucket); err != nil {
		return nil, err
	}
	if opts.Timeout <= 0 {
		opts.Timeout = 2 * time.Second
	}
	if opts.Keep <= 0 {
		opts.Keep = time.Minute
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	life, end := context.WithCancel(context.Background())
	return &Store{address: a, opts: opts, life: life, end: end, connected: make(chan struct{})}, nil
}

// Close ends every call, waits for them and closes the connection.
func (s *Store) Close() error {
	s.mu.Lock()
	s.closed, s.known = true, nil
	s.mu.Unlock()
	s.end()
	s.running.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dialing != nil && s.dialing.conn != nil {
		s.dialing.conn.Close()
	}
	return nil
}

// enter counts a call, whose context then also ends with the Store.
func (s *Store) enter(ctx context.Context, op string) (_ context.Context, leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, nil, closedError(op)
	}
	s.running.Add(1)
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(s.life, func() { cancel(os.ErrClosed) })
	return ctx, func() { stop(); cancel(nil); s.running.Done() }, nil
}

// call runs work on the bucket, once more if that turns out to have gone.
func call[T any](ctx context.Context, s *Store, op string, work func(context.Context, *bucket) (T, error)) (T, error) {
	var none T
	ctx, leave, err := s.enter(ctx, op)
	if err != nil {
		return none, err
	}
	defer leave()
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	for again := true; ; again = false {
		b, err := s.bucket(ctx)
		if err != nil {
			return none, s.explain(ctx, op, err)
		}
		v, err := work(ctx, b)
		if err != nil && gone(err) {
			s.forget(b)
			if again {
				continue
			}
		}
		return v, s.explain(ctx, op, err)
	}
}
