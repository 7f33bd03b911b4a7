// Package natsstore shares the tool cache through a key-value bucket of NATS JetStream, for gateways that have a NATS
// server (2.10 or later).
//
// Keys of the bucket:
//
//	list.<name>      an entry, gzipped if that makes it smaller
//	lease.<digest>   who may refresh a server
//
// The server keeps a revision of each key, and writes are conditional on it. Each entry is one write, so no entry is
// ever half written and there is nothing to clean up. An entry too large for a message (1 MiB by default, max_payload
// of the server) is not shared. Other keys are left alone.
//
// [Open] is the entry point. Package toolcache interprets the entries.
package natsstore

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"collie/internal/source/upstream/toolcache"
	"collie/internal/tool"
)

// Store is a [toolcache.Shared] in a bucket. It is safe for concurrent use.
type Store struct {
	address address
	log     *slog.Logger

	life    context.Context //nolint:containedctx // it ends with Close, and is nobody's request
	end     context.CancelFunc
	running sync.WaitGroup

	mu        sync.Mutex // guards the fields below, and running.Add against Close
	closed    bool
	dialing   *dialAttempt // the last one; once it has succeeded, it holds the connection
	open      *bucket
	connected chan struct{} // closed and replaced after each reconnection
}

var _ toolcache.Shared = (*Store)(nil)

// timeout bounds connecting, and the wait for a reconnection.
const timeout = 2 * time.Second

// Open returns the store at an address: nats://host:4222, or tls:// for encryption, with user and password or token
// before an @ and the bucket as path where they are needed, and several servers of a cluster separated by commas. The
// bucket is created if it does not exist. Open makes no connection and fails only for an invalid address. log gets
// damaged entries and connection problems; nil discards. The caller closes the Store.
func Open(where string, log *slog.Logger) (*Store, error) {
	a, err := parseAddress(where)
	if err != nil {
		return nil, err
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	life, end := context.WithCancel(context.Background())
	return &Store{address: a, log: log, life: life, end: end, connected: make(chan struct{})}, nil
}

// Close cancels all calls, waits for them and closes the connection.
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

// beginCall registers a call. The returned context also ends with the Store.
func (s *Store) beginCall(ctx context.Context, op string) (_ context.Context, leave func(), err error) {
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

// runOnBucket runs work on the bucket, and once more if the bucket turns out to be gone.
func runOnBucket[T any](ctx context.Context, s *Store, op string, work func(context.Context, *bucket) (T, error)) (T, error) {
	var none T
	ctx, leave, err := s.beginCall(ctx, op)
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
		if err != nil && isBucketGone(err) {
			s.forget(b)
			if again {
				continue
			}
		}
		return v, s.explain(ctx, op, err)
	}
}

func closedError(op string) error {
	return &tool.Error{Op: op, Kind: tool.Unavailable, Message: "the shared tool cache is closed", Err: os.ErrClosed}
}

// isBucketGone reports whether an error means that the bucket no longer exists.
func isBucketGone(err error) bool {
	return errors.Is(err, jetstream.ErrStreamNotFound) || errors.Is(err, nats.ErrStreamNotFound) || errors.Is(err, jetstream.ErrBucketNotFound) ||
		errors.Is(err, jetstream.ErrNoStreamResponse) || errors.Is(err, nats.ErrNoResponders)
}

// isConflict reports whether an error means that a key has changed since its revision was read.
func isConflict(err error) bool {
	return errors.Is(err, jetstream.ErrKeyRevisionMismatch) || errors.Is(err, jetstream.ErrKeyExists)
}

// explain converts an error for the caller; nil stays nil.
func (s *Store) explain(ctx context.Context, op string, err error) error {
	if err == nil || errors.Is(err, toolcache.ErrConflict) {
		return err
	}
	if known, ok := errors.AsType[*tool.Error](err); ok {
		return known
	}
	e := &tool.Error{Op: op, Kind: tool.Unavailable, Subject: s.address.redacted + " bucket " + s.address.bucket, Err: err}
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, os.ErrClosed):
		return closedError(op)
	case errors.Is(cause, context.Canceled):
		e.Kind, e.Err = tool.Canceled, cause
	case errors.Is(cause, context.DeadlineExceeded):
		e.Kind, e.Err, e.Hint = tool.Timeout, cause, "is the NATS server running, and is this its address?"
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired), errors.Is(err, nats.ErrPermissionViolation):
		e.Kind, e.Hint = tool.Denied, "check user and password, and that they may use JetStream and the bucket"
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount), isBucketGone(err):
		e.Hint = "is JetStream switched on at the NATS server, and for this account?"
	default:
		e.Hint = "is the NATS server running, and is this its address?"
	}
	return e
}

// defaultBucket is used if the address names none.
const defaultBucket = "collie-toolcache"

// address tells where the bucket is. Its servers may contain secrets.
type address struct {
	servers  []string
	redacted string // servers without secrets
	bucket   string
}

func parseAddress(where string) (a address, err error) {
	a.bucket = defaultBucket
	var redacted []string
	for one := range strings.SplitSeq(where, ",") {
		u, err := url.Parse(strings.TrimSpace(one))
		switch {
		case err != nil: // without the error, which quotes the address and its secrets
			return address{}, invalidAddress("the address is not a URL")
		case u.Scheme != "nats" && u.Scheme != "tls":
			return address{}, invalidAddress("the address has the scheme " + strconv.Quote(u.Scheme) + ", expected nats or tls")
		case u.Host == "":
			return address{}, invalidAddress("the address names no host")
		case u.RawQuery != "" || u.Fragment != "":
			return address{}, invalidAddress("the address has a query or fragment")
		}
		if path := strings.Trim(u.Path, "/"); path != "" {
			a.bucket = path
		}
		u.Path, u.RawPath = "", ""
		a.servers = append(a.servers, u.String())
		u.User = nil
		redacted = append(redacted, u.String())
	}
	a.redacted = strings.Join(redacted, ",")
	return a, checkBucket(a.bucket)
}

func checkBucket(name string) error {
	ok := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_'
	}
	if name != "" && strings.IndexFunc(name, func(r rune) bool { return !ok(r) }) < 0 {
		return nil
	}
	return invalidAddress("the bucket " + strconv.Quote(name) + " has other characters than letters, digits, - and _")
}

func invalidAddress(message string) error {
	return &tool.Error{
		Op: "open shared tool cache", Kind: tool.Invalid, Message: message,
		Hint: "give the address of the NATS server, such as nats://nats.example:4222, or nats://nats.example:4222/my-bucket",
	}
}
