package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"collie/internal/sqliteconn"
)

// This file runs transactions that read (View) or write (Update).

// View runs fn in a snapshot: fn sees one state of the file, whatever others write meanwhile. The trees that fn gets go
// back to the cache when it ends, so it must neither change nor keep them. The error is that of fn, or the first error
// of the storage, which the methods of Tx do not return.
func (w *Workspace) View(ctx context.Context, fn func(*Tx) error) error {
	return w.withConn(ctx, w.readers, false, func(conn *sqlite.Conn) error {
		if err := sqlitex.ExecuteTransient(conn, "BEGIN", nil); err != nil {
			return err
		}
		defer func() { _ = sqliteconn.Rollback(conn) }() // also when fn panics
		tx := newTx(w, conn, false)
		err := run(tx, fn)
		tx.checkTrees()
		tx.cacheTrees() // not after a panic: fn may have changed the trees
		return err
	})
}

// Update runs fn alone: no other process or goroutine writes meanwhile. If fn returns nil, its changes to trees from tx
// and those made with methods of tx are committed; otherwise they are rolled back. After Update has returned, the
// changes survive the end of the process.
func (w *Workspace) Update(ctx context.Context, fn func(*Tx) error) error {
	if w.readOnly {
		return errReadOnly
	}
	return w.withConn(ctx, w.writer, true, func(conn *sqlite.Conn) error {
		if err := sqliteconn.Begin(ctx, conn, busyTimeout); err != nil {
			return fmt.Errorf("begin a write: %w", err)
		}
		tx := newTx(w, conn, true)
		committed := false
		defer func() {
			if !committed { // also when fn panics
				_ = sqliteconn.Rollback(conn)
			}
		}()
		if version, ok := tx.number("PRAGMA user_version"); ok && int(version) != len(migrations) {
			return fmt.Errorf("the vault %s: %w", w.path, newerFileError(int(version))) // another process has migrated the file since we opened it
		}
		if err := run(tx, fn); err != nil {
			return err
		}
		if tx.checkTrees(); tx.err != nil {
			return tx.err
		}
		if err := sqlitex.ExecuteTransient(conn, "COMMIT", nil); err != nil {
			return fmt.Errorf("commit a write: %w", err)
		}
		committed = true
		tx.cacheTrees()
		w.trimLog(conn)
		return nil
	})
}

const (
	// maxLog is the size of the write-ahead log, in bytes, from which on a writer waits for readers so that it can be
	// merged.
	maxLog = 64 << 20
	// trimWait bounds that wait.
	trimWait = time.Second
)

// trimLog merges the log into the file if it has grown too large. As long as there is always some reader, SQLite itself
// only appends to the log. If a reader does not finish in time, trimLog tries again after as much growth.
func (w *Workspace) trimLog(conn *sqlite.Conn) {
	size := func() int64 {
		f, err := os.Stat(RealPath(w.path) + "-wal")
		if err != nil {
			return 0
		}
		return f.Size()
	}
	if size() < max(w.trimAt, maxLog) {
		return
	}
	conn.SetInterrupt(nil) // the change is committed
	conn.SetBusyTimeout(trimWait)
	_ = sqlitex.ExecuteTransient(conn, "PRAGMA wal_checkpoint(TRUNCATE)", nil) // may fail; it is tried again later
	conn.SetBusyTimeout(busyTimeout)
	w.trimAt = size() + maxLog
}

// run calls fn and, if that succeeds, writes the changes to trees.
func run(tx *Tx, fn func(*Tx) error) error {
	if err := fn(tx); err != nil {
		return errors.Join(err, tx.err)
	}
	tx.Flush()
	for range maxErasedRounds {
		if len(tx.lostAttrs) == 0 || tx.err != nil || tx.ws.onErased == nil {
			break
		}
		attrs := tx.lostAttrs
		tx.lostAttrs = map[string]map[string]string{}
		tx.ws.onErased(tx, attrs)
		tx.Flush()
	}
	return tx.err
}

// maxErasedRounds bounds how often the reaction to erased blocks may itself erase blocks.
const maxErasedRounds = 3

// withConn runs fn with a connection from a pool, which is opened if need be. fn is interrupted when ctx ends.
func (w *Workspace) withConn(ctx context.Context, from sqliteconn.Pool, write bool, fn func(*sqlite.Conn) error) error {
	select {
	case <-w.closed:
		return os.ErrClosed
	default:
	}
	conn, err := from.Acquire(ctx, w.closed)
	if err != nil {
		return err
	}
	defer func() {
		w.idle.Reset(idleTime)
		from.Release(w.usableConn(conn))
	}()
	if err := w.checkInPlace(); err != nil {
		return err
	}
	if conn == nil {
		if conn, err = w.connect(write); err != nil {
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

// usableConn returns conn, or nil if its transaction could not be ended. The pool then opens another one.
func (w *Workspace) usableConn(conn *sqlite.Conn) *sqlite.Conn {
	if conn == nil || conn.AutocommitEnabled() {
		return conn
	}
	w.keys.byConn.Delete(conn)
	_ = sqliteconn.Close(conn)
	return nil
}
