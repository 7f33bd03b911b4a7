package workspace

import (
	"context"
	"errors"
	"os"

	"zombiezen.com/go/sqlite"

	"collie/internal/sqliteconn"
)

// pool holds connections that are in nobody's hands. One that is open is taken before another one is opened, which reads
// the whole schema: who comes alone, as a command does, needs one.
type pool struct {
	open     chan *sqlite.Conn
	unopened chan struct{} // those that may still be opened
}

// newPool is for n connections, none of which is open.
func newPool(n int) pool {
	p := pool{make(chan *sqlite.Conn, n), make(chan struct{}, n)}
	for range n {
		p.unopened <- struct{}{}
	}
	return p
}

// acquire waits for a connection, which is nil where one is to be opened. release must be called.
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

// release puts a connection back, or nil where none is open.
func (p pool) release(conn *sqlite.Conn) {
	if conn == nil {
		p.unopened <- struct{}{}
		return
	}
	p.open <- conn
}

// fill puts an open connection in the place of one that is not.
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
