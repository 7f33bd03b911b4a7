package sqliteconn

import (
	"context"
	"errors"
	"os"

	"zombiezen.com/go/sqlite"
)

// Pool holds connections that are in nobody's hands. One that is open is taken before another one is opened, which reads
// the whole schema: who comes alone, as a command does, needs one.
type Pool struct {
	open     chan *sqlite.Conn
	unopened chan struct{} // tokens for connections that may still be opened
}

// NewPool is for n connections, none of which is open.
func NewPool(n int) Pool {
	p := Pool{make(chan *sqlite.Conn, n), make(chan struct{}, n)}
	for range n {
		p.unopened <- struct{}{}
	}
	return p
}

// Acquire waits for a connection, which is nil where one is to be opened. Release must be called.
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

// Release puts a connection back, or nil where none is open.
func (p Pool) Release(conn *sqlite.Conn) {
	if conn == nil {
		p.unopened <- struct{}{}
		return
	}
	p.open <- conn
}

// Fill puts an open connection in the place of one that is not.
func (p Pool) Fill(conn *sqlite.Conn) {
	<-p.unopened
	p.open <- conn
}

// Close waits for all connections and closes them.
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
