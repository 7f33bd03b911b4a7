package natsstore

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// This file keeps the connection to NATS.

// dialAttempt is an attempt to connect, which may outlive the call that began it.
type dialAttempt struct {
	done chan struct{} // closed when the fields below are set
	conn *nats.Conn
	err  error
}

// hasFailed reports whether the attempt has ended without a connection that works.
func (d *dialAttempt) hasFailed() bool {
	select {
	case <-d.done:
		return d.err != nil || d.conn.IsClosed()
	default:
		return false
	}
}

// bucket is the open bucket of one connection.
type bucket struct {
	conn  *nats.Conn
	js    jetstream.JetStream
	kv    jetstream.KeyValue
	room  int // bytes of an entry that fit into a message
	known bucketState

	leftOut sync.Map // keys of entries that are too large and were warned about
}

// bucket returns the bucket. It first connects, and creates the bucket, where necessary.
func (s *Store) bucket(ctx context.Context) (*bucket, error) {
	conn, err := s.connection(ctx)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	b, reconnected := s.open, s.connected
	s.mu.Unlock()
	if b != nil && b.conn == conn {
		return b, nil
	}
	if b, err = s.openBucket(ctx, conn); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if reconnected == s.connected {
		s.open = b
	}
	return b, nil
}

func (s *Store) openBucket(ctx context.Context, conn *nats.Conn) (*bucket, error) {
	js, err := jetstream.New(conn)
	if err != nil {
		return nil, err
	}
	name := s.address.bucket
	kv, err := js.KeyValue(ctx, name)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		kv, err = js.CreateKeyValue(ctx, jetstream.KeyValueConfig{
			Bucket: name, Description: "tool lists of MCP servers, shared by gateways",
			History: 1,
		})
	}
	if err != nil {
		return nil, err
	}
	return &bucket{conn: conn, js: js, kv: kv, room: int(conn.MaxPayload()) - headerReserve}, nil
}

// forget makes the next call open the bucket again.
func (s *Store) forget(b *bucket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == b {
		s.open = nil
	}
}

// connection returns a connection that works. It waits for a reconnection in progress.
func (s *Store) connection(ctx context.Context) (*nats.Conn, error) {
	s.mu.Lock()
	d, reconnected := s.dialing, s.connected
	if d == nil || d.hasFailed() {
		d = &dialAttempt{done: make(chan struct{})}
		s.dialing = d
		s.running.Go(func() {
			defer close(d.done)
			d.conn, d.err = nats.Connect(strings.Join(s.address.servers, ","), s.options()...)
		})
	}
	s.mu.Unlock()
	select {
	case <-d.done:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if d.err != nil || d.conn.IsConnected() {
		return d.conn, d.err
	}
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-reconnected:
		return d.conn, nil
	case <-timer.C:
		return nil, nats.ErrDisconnected
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (s *Store) options() []nats.Option {
	return []nats.Option{
		nats.Name("collie tool cache"),
		nats.Timeout(timeout),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(250 * time.Millisecond),
		nats.ReconnectJitter(100*time.Millisecond, 250*time.Millisecond),
		nats.ReconnectBufSize(-1), // a commit must not be buffered and sent at some later time
		nats.ReconnectHandler(func(*nats.Conn) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.open = nil // the server may have lost its data
			close(s.connected)
			s.connected = make(chan struct{})
		}),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				s.log.Debug("shared tool cache: connection lost", "server", s.address.redacted, "error", err)
			}
		}),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			s.log.Debug("shared tool cache: trouble on the connection", "server", s.address.redacted, "error", err)
		}),
	}
}
