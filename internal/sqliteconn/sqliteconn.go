// Package sqliteconn opens and closes connections to SQLite so that they do not get into each other's way. The library
// finds the authorizer and the functions of a connection by its address in memory, and when it closes one it forgets
// them only after the memory is free: a connection that was opened in between, at the same address, lost its own, and
// its next statement ended in a panic.
package sqliteconn

import (
	"sync"

	"zombiezen.com/go/sqlite"
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
