package store

import (
	"context"
	"errors"
	"fmt"
	"os"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"collie/internal/sqliteconn"
)

// This file runs transactions and statements.

// Row is one row of a result. It is valid until the function it is passed to returns.
type Row = sqlite.Stmt

// Tx is a transaction. After its first error it does nothing more and returns meaningless values, so a function that
// uses it need not check each step: the error ends the transaction. A Tx is not safe for concurrent use and must not be
// kept.
type Tx struct {
	conn *sqlite.Conn
	err  error
}

// Exec runs one statement. Arguments are nil, strings, numbers, bools (stored as 0 and 1) or []byte.
func (tx *Tx) Exec(statement string, args ...any) { tx.Query(nil, statement, args...) }

// Query runs one statement and calls row for each row, until it returns false.
func (tx *Tx) Query(row func(*Row) bool, statement string, args ...any) {
	if tx.err != nil {
		return
	}
	enough := errors.New("enough")
	err := sqlitex.Execute(tx.conn, statement, &sqlitex.ExecOptions{Args: args, ResultFunc: func(r *sqlite.Stmt) error {
		if row == nil || !row(r) || tx.err != nil {
			return enough
		}
		return nil
	}})
	if err != nil && !errors.Is(err, enough) && tx.err == nil {
		tx.err = err
	}
}

// Number returns the first column of the first row, or 0 and false if there is none.
func (tx *Tx) Number(statement string, args ...any) (n int64, found bool) {
	tx.Query(func(r *Row) bool {
		n, found = r.ColumnInt64(0), true
		return false
	}, statement, args...)
	return n, found
}

// Changes returns how many rows the last statement changed.
func (tx *Tx) Changes() int { return tx.conn.Changes() }

// Fail makes err the error of the transaction unless it already has one, and returns the error it has.
func (tx *Tx) Fail(err error) error {
	if tx.err == nil {
		tx.err = err
	}
	return tx.err
}

// Err returns the first error.
func (tx *Tx) Err() error { return tx.err }

// Read runs fn on a snapshot of the file: fn does not see what others write meanwhile.
func (s *Store) Read(ctx context.Context, fn func(*Tx) error) error {
	return s.withConn(ctx, s.readers, false, func(conn *sqlite.Conn) error {
		if err := sqlitex.Execute(conn, "BEGIN", nil); err != nil {
			return err
		}
		defer func() { _ = sqliteconn.Rollback(conn) }() // also when fn panics
		tx := &Tx{conn: conn}
		return tx.run(fn)
	})
}

// Write runs fn while no other goroutine or process writes. If fn returns nil and no statement failed, its changes are
// committed, else they are undone. Committed changes survive the end of the process.
func (s *Store) Write(ctx context.Context, fn func(*Tx) error) error {
	return s.withConn(ctx, s.writer, true, func(conn *sqlite.Conn) error {
		if err := sqliteconn.Begin(ctx, conn, busyTimeout); err != nil {
			return fmt.Errorf("begin a write: %w", err)
		}
		defer func() { _ = sqliteconn.Rollback(conn) }() // does nothing after COMMIT
		if err := s.checkVersions(conn); err != nil {
			return err
		}
		tx := &Tx{conn: conn}
		if err := tx.run(fn); err != nil {
			return err
		}
		if err := sqlitex.Execute(conn, "COMMIT", nil); err != nil {
			return fmt.Errorf("commit a write: %w", err)
		}
		return nil
	})
}

func (tx *Tx) run(fn func(*Tx) error) error {
	err := fn(tx)
	if tx.err != nil && !errors.Is(err, tx.err) {
		return errors.Join(err, tx.err)
	}
	return err
}

// withConn runs fn with a connection of the pool. fn is interrupted when ctx ends.
func (s *Store) withConn(ctx context.Context, from sqliteconn.Pool, write bool, fn func(*sqlite.Conn) error) (err error) {
	select {
	case <-s.closed:
		return os.ErrClosed
	default:
	}
	conn, err := from.Acquire(ctx, s.closed)
	if err != nil {
		return err
	}
	defer func() {
		if conn != nil && !conn.AutocommitEnabled() { // stuck in a transaction: close it, the next caller opens another
			_ = sqliteconn.Close(conn)
			conn = nil
		}
		from.Release(conn)
	}()
	if conn == nil {
		if conn, err = s.connect(write); err != nil {
			return err
		}
	}
	conn.SetInterrupt(ctx.Done())
	defer conn.SetInterrupt(nil)
	err = fn(conn)
	if err != nil && ctx.Err() != nil {
		return errors.Join(context.Cause(ctx), err)
	}
	return err
}
