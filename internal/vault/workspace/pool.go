package workspace

import (
	"context"
	"errors"
	"os"

	"zombiezen.com/go/sqlite"

	"collie/internal/sqliteconn"
)

// pool holds idle connections. An open one is used before another is opened, which would read the whole schema: a
// single user, such as a command, needs only one.
type pool struct {
	open     chan *sqlite.Conn
	unopened chan struct{} // tokens for connections that may still be opened
}

// newPool returns a pool of n connections, none of which is open.
func newPool(n int) pool {
	p := pool{make(chan *sqlite.Conn, n), make(chan struct{}, n)}
	for range n {
		p.unopened <- struct{}{}
	}
	return p
}

// acquire waits for a connection; nil means that the caller is to open one. The caller must call release.
func (p pool) acquire(ctx context.Context, closed <-chan struct{}) (*sqlite.Conn, error) {
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

// release returns a connection, or nil if none was opened.
func (p pool) release(conn *sqlite.Conn) {
	if conn == nil {
		p.unopened <- struct{}{}
		return
	}
	p.open <- conn
}

// fill adds an open connection in place of one that is not open.
func (p pool) fill(conn *sqlite.Conn) {
	<-p.unopened
	p.open <- conn
}

// close waits for all connections and closes them.
func (p pool) close() error {
	var errs []error
	for range cap(p.open) {
		select {
		case conn := <-p.open:
			errs = append(errs, sqliteconn.Close(conn))
		case <-p.unopened:
		}
	}
	return errors.Join(errs...)
}
