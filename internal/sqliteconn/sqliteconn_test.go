package sqliteconn_test

import (
	"sync"
	"testing"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"collie/internal/sqliteconn"
)

// TestConnectionsKeepTheirAuthorizers checks that SQLite asks the authorizer of a connection also while other goroutines
// open and close connections.
func TestConnectionsKeepTheirAuthorizers(t *testing.T) {
	t.Parallel()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 200 {
				asked := 0
				if err := once(&asked); err != nil {
					t.Error(err)
					return
				}
				if asked == 0 {
					t.Error("the authorizer was not asked")
					return
				}
			}
		})
	}
	all.Wait()
}

func once(asked *int) (err error) {
	conn, err := sqliteconn.Open(":memory:", sqlite.OpenReadWrite, sqlite.OpenMemory)
	if err != nil {
		return err
	}
	defer func() {
		if closed := sqliteconn.Close(conn); err == nil {
			err = closed
		}
	}()
	err = conn.SetAuthorizer(sqlite.AuthorizeFunc(func(sqlite.Action) sqlite.AuthResult {
		*asked++
		return sqlite.AuthResultOK
	}))
	if err != nil {
		return err
	}
	return sqlitex.ExecuteTransient(conn, "SELECT 1", nil)
}
