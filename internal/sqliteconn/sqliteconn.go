// Package sqliteconn opens and closes connections to SQLite so that they do not get into each other's way. The library
// finds the authorizer and the functions of a connection by its address in memory, and when it closes one it forgets
// them only after the memory is free: a connection that was opened in between, at the same address, lost its own, and
// its next statement ended in a panic.
package sqliteconn

import (
	"context"
	"sync"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// closing is held by whoever closes a connection, and shared by those that open one.
var closing sync.RWMutex

// Open is [sqlite.OpenConn]. The connection is to be closed by [Close].
func Open(path string, flags ...sqlite.OpenFlags) (*sqlite.Conn, error) {
	closing.RLock()
	defer closing.RUnlock()
	return sqlite.OpenConn(path, flags...)
}

// Close closes a connection. Nobody opens one meanwhile.
func Close(conn *sqlite.Conn) error {
	closing.Lock()
	defer closing.Unlock()
	return conn.Close()
}

// Begin starts a write once no other process writes, which it waits for as long as wait. SQLite's own wait does not see ctx
// end. The busy timeout of the connection is wait afterwards.
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

// Rollback ends a transaction, also one that was interrupted.
func Rollback(conn *sqlite.Conn) error {
	conn.SetInterrupt(nil)
	if conn.AutocommitEnabled() {
		return nil // SQLite has rolled back by itself
	}
	return sqlitex.ExecuteTransient(conn, "ROLLBACK", nil)
}
