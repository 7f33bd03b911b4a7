package sqliteconn

import (
	"context"
	"errors"
	"os"

	"zombiezen.com/go/sqlite"
)

// Pool holds the connections to one database that nobody is using, and limits how many are open. Acquire prefers a
// connection that is already open, because a new one has to read the whole schema. So a process that never needs two at
// once, such as a command, opens only one. Pool is safe for concurrent use.
type Pool struct {
	open     chan *sqlite.Conn
	unopened chan struct{} // tokens for connections that may still be opened
}

// NewPool returns a pool for up to n connections, none of which is open yet.
func NewPool(n int) Pool {
	p := Pool{make(chan *sqlite.Conn, n), make(chan struct{}, n)}
	for range n {
		p.unopened <- struct{}{}
	}
	return p
}

// Acquire waits for a free connection. If it returns nil without an error, the caller may open a connection of its own.
// While it waits, it fails with [os.ErrClosed] once closed is closed, and with the cause of ctx once that ends. After a
// success the caller must call Release.
func (p Pool) Acquire(ctx context.Context, closed <-chan struct{}) (*sqlite.Conn, error) {
	select {
	case conn := <-p.open:
		return conn, nil
	default:
	}
	select {
	case conn := <-p.open:
		return conn, nil
	case <-p.unopened:
		return nil, nil //nolint:nilnil // the caller opens one
	case <-closed:
		return nil, os.ErrClosed
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Release puts back a connection, or the permission to open one if conn is nil.
func (p Pool) Release(conn *sqlite.Conn) {
	if conn == nil {
		p.unopened <- struct{}{}
		return
	}
	p.open <- conn
}

// Fill adds an open connection that was not acquired from the pool. It takes the place of one that may still be opened.
func (p Pool) Fill(conn *sqlite.Conn) {
	<-p.unopened
	p.open <- conn
}

// Close waits until all connections have been released, and closes them.
func (p Pool) Close() error {
	var errs []error
	for range cap(p.open) {
		select {
		case conn := <-p.open:
			errs = append(errs, Close(conn))
		case <-p.unopened:
		}
	}
	return errors.Join(errs...)
}
