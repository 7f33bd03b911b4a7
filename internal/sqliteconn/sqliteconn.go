// Package sqliteconn opens and closes SQLite connections so that the two never overlap. The SQLite library
// keys the authorizer and the functions of a connection by its memory address, and removes them only after it
// has freed that memory. A connection opened in between at the same address would lose its own, and its next
// statement would panic. The package also begins and rolls back transactions, and pools connections.
package sqliteconn

import (
	"context"
	"sync"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// closing is locked while a connection is closed, and read-locked while one is opened.
var closing sync.RWMutex

// Open is [sqlite.OpenConn]. The caller closes the connection with [Close].
func Open(path string, flags ...sqlite.OpenFlags) (*sqlite.Conn, error) {
	closing.RLock()
	defer closing.RUnlock()
	return sqlite.OpenConn(path, flags...)
}

// Close closes a connection; Open waits meanwhile.
func Close(conn *sqlite.Conn) error {
	closing.Lock()
	defer closing.Unlock()
	return conn.Close()
}

// Begin starts a write transaction. While another connection or process writes, it tries again for up to wait, or until
// ctx ends; SQLite's own busy timeout would not notice the end of ctx. Afterwards the busy timeout of the connection is wait.
func Begin(ctx context.Context, conn *sqlite.Conn, wait time.Duration) error {
	const slice = 100 * time.Millisecond
	conn.SetBusyTimeout(slice)
	defer conn.SetBusyTimeout(wait)
	for start := time.Now(); ; {
		err := sqlitex.ExecuteTransient(conn, "BEGIN IMMEDIATE", nil)
		if sqlite.ErrCode(err).ToPrimary() != sqlite.ResultBusy || ctx.Err() != nil || time.Since(start) > wait {
			return err
		}
	}
}

// Rollback rolls back the transaction of a connection, even if it was interrupted. Without a transaction it does nothing.
func Rollback(conn *sqlite.Conn) error {
	conn.SetInterrupt(nil)
	if conn.AutocommitEnabled() {
		return nil // SQLite has rolled back by itself
	}
	return sqlitex.ExecuteTransient(conn, "ROLLBACK", nil)
}
