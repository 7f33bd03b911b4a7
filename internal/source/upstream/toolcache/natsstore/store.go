// Package natsstore shares the tool cache through a key-value bucket of NATS JetStream, for gateways
// that have a NATS server (2.10 or later) beside them.
//
// Keys of the bucket:
//
//	list.<name>      an entry, gzipped where that helps
//	lease.<digest>   who may refresh a server
//
// The server keeps a revision of each key, on which a write is conditional. So a commit is a write an
// entry, each of which is made or not; nothing is half written, and nothing is left to clear up. An
// entry that a message cannot hold (1 MiB, unless max_payload of the server says otherwise) is not
// shared. Other keys are left alone.
//
// [Open] is the entry point. What entries mean is left to package toolcache.
package natsstore

import (
	"context"
	"log/slog"
	"os"
	"sync"
	"time"

	"collie/internal/source/upstream/toolcache"
)

// Store is a [toolcache.Shared] in a bucket. It is safe for concurrent use.
type Store struct {
	address address
	log     *slog.Logger

	life    context.Context //nolint:containedctx // it ends with Close, and is nobody's request
	end     context.CancelFunc
	running sync.WaitGroup

	mu        sync.Mutex // guards what follows, and running.Add against Close
	closed    bool
	dialing   *dial
	open      *bucket
	connected chan struct{} // closed and replaced when a connection is back
}

var _ toolcache.Shared = (*Store)(nil)

// timeout bounds connecting, and waiting for a lost connection.
const timeout = 2 * time.Second

// Open returns the store at the servers of address: nats://host:4222, with user and password
// or token before an @ and the bucket as path where they are needed, tls:// for encryption,
// several servers of a cluster separated by commas. The bucket is made if it is not there. Open
// contacts nobody and fails only for an address that can be no such one. log hears of damaged
// entries and of trouble on the connection; nil discards. The caller closes the Store.
func Open(where string, log *slog.Logger) (*Store, error) {
	a, err := parse(where)
	if err != nil {
		return nil, err
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	life, end := context.WithCancel(context.Background())
	return &Store{address: a, log: log, life: life, end: end, connected: make(chan struct{})}, nil
}

// Close ends every call, waits for them and closes the connection.
func (s *Store) Close() error {
	s.mu.Lock()
	s.closed = true
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
