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

// View runs fn in a snapshot: it sees one state of the file whatever others write meanwhile. Trees it gets are handed
// on to others when it ends, so it must not change them, nor keep them. The error is fn's, or that of the storage,
// which the methods of Tx keep to themselves.
func (w *Workspace) View(ctx context.Context, fn func(*Tx) error) error {
	return w.withConn(ctx, w.readers, false, func(conn *sqlite.Conn) error {
		if err := sqlitex.ExecuteTransient(conn, "BEGIN", nil); err != nil {
			return err
		}
		defer func() { _ = sqliteconn.Rollback(conn) }() // also when fn panics
		tx := newTx(w, conn, false)
		err := run(tx, fn)
		tx.checkTrees()
		tx.cacheTrees() // not when fn panics: nobody knows what it did to the trees
		return err
	})
}

// Update runs fn alone: no other process or goroutine writes meanwhile. What fn changed in trees it got from tx, and
// what it did with the methods of tx, is committed when fn returns nil, and undone otherwise. It survives the end of
// the process at any moment after Update has returned.
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
		if version, known := tx.number("PRAGMA user_version"); known && int(version) != len(migrations) {
			return fmt.Errorf("the vault %s: %w", w.path, newerFile(int(version))) // another process has migrated the file since
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
	// maxLog bounds the log of changes, in bytes, before a writer waits for readers so that it can be merged.
	maxLog = 64 << 20
	// trimWait bounds that wait.
	trimWait = time.Second
)

// trimLog merges the log into the file if it has grown too large. Without a moment with no reader, SQLite itself only
// appends to it. If a reader stays for long, it tries again after as much growth.
func (w *Workspace) trimLog(conn *sqlite.Conn) {
	size := func() int64 {
		f, err := os.Stat(w.path + "-wal")
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
	_ = sqlitex.ExecuteTransient(conn, "PRAGMA wal_checkpoint(TRUNCATE)", nil) // reports whether it could; it is tried again later
	conn.SetBusyTimeout(busyTimeout)
	w.trimAt = size() + maxLog
}

// run calls fn and, if it succeeds, writes what it changed.
func run(tx *Tx, fn func(*Tx) error) error {
	if err := fn(tx); err != nil {
		return errors.Join(err, tx.err)
	}
	tx.Flush()
	for range maxErasing {
		if len(tx.lost) == 0 || tx.err != nil || tx.ws.whenErased == nil {
			break
		}
		lost := tx.lost
		tx.lost = map[string]map[string]string{}
		tx.ws.whenErased(tx, lost)
		tx.Flush()
	}
	return tx.err
}

// maxErasing bounds how often reactions to erased blocks may erase others.
const maxErasing = 3

// withConn takes a connection out of a pool for as long as fn runs. fn is interrupted when ctx ends.
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
		w.idle.Reset(restFor)
		from.Release(w.usableConn(conn))
	}()
	if err := w.inPlace(); err != nil {
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

// usableConn returns conn, or nil if its transaction could not be ended, so that another is opened.
func (w *Workspace) usableConn(conn *sqlite.Conn) *sqlite.Conn {
	if conn == nil || conn.AutocommitEnabled() {
		return conn
	}
	w.keys.seen.Delete(conn)
	_ = sqliteconn.Close(conn)
	return nil
}
