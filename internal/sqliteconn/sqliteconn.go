// Package sqliteconn opens and closes SQLite connections so that the two never overlap. The SQLite library
// keys the authorizer and the functions of a connection by its memory address, and removes them only after it
// has freed that memory. A connection opened in between at the same address would lose its own, and its next
// statement would panic.
package sqliteconn

import (
	"sync"

	"zombiezen.com/go/sqlite"
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
