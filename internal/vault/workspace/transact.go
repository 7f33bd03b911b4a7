package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// view runs fn in a read transaction.
func (w *Workspace) view(ctx context.Context, fn func(*Tx) error) error {
	return w.with(ctx, w.readers, false, func(conn *sqlite.Conn) error {
		if err := sqlitex.ExecuteTransient(conn, "BEGIN", nil); err != nil {
			return err
		}
		tx := &Tx{state: newState(w, conn, false)}
		err := run(tx, fn)
		return errors.Join(err, rollback(conn))
	})
}

// update runs fn in a write transaction.
func (w *Workspace) update(ctx context.Context, fn func(*Tx) error) error {
	if w.readOnly {
		return ErrReadOnly
	}
	return w.with(ctx, w.writer, true, func(conn *sqlite.Conn) error {
		if err := sqlitex.ExecuteTransient(conn, "BEGIN IMMEDIATE", nil); err != nil {
			return fmt.Errorf("begin a write: %w", err)
		}
		tx := &Tx{state: newState(w, conn, true)}
		committed := false
		defer func() {
			if !committed { // also when fn panics
				_ = rollback(conn)
			}
		}()
		if err := run(tx, fn); err != nil {
			return err
		}
		if err := sqlitex.ExecuteTransient(conn, "COMMIT", nil); err != nil {
			return fmt.Errorf("commit a write: %w", err)
		}
		committed = true
		tx.remember()
		return nil
	})
}

// run calls fn and, if all is well, writes what it changed.
func run(tx *Tx, fn func(*Tx) error) error {
	if err := fn(tx); err != nil {
		return errors.Join(err, tx.err)
	}
	tx.flush()
	return tx.err
}

// with takes a connection out of a pool for as long as fn runs. fn is interrupted when ctx ends.
func (w *Workspace) with(ctx context.Context, pool chan *sqlite.Conn, write bool, fn func(*sqlite.Conn) error) error {
	var conn *sqlite.Conn
	select {
	case <-w.closed:
		return os.ErrClosed
	default:
	}
	select {
	case conn = <-pool:
	case <-w.closed:
		return os.ErrClosed
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { pool <- conn }()
	if conn == nil {
		var err error
		if conn, err = w.connect(write); err != nil {
			return err
		}
	}
	conn.SetInterrupt(ctx.Done())
	defer conn.SetInterrupt(nil)
	err := fn(conn)
	if err != nil && ctx.Err() != nil {
		return errors.Join(context.Cause(ctx), err)
	}
	return err
}

// rollback ends a transaction, also one that was interrupted.
func rollback(conn *sqlite.Conn) error {
	conn.SetInterrupt(nil)
	if conn.AutocommitEnabled() {
		return nil // SQLite has rolled back by itself
	}
	return sqlitex.ExecuteTransient(conn, "ROLLBACK", nil)
}
