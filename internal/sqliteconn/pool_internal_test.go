package sqliteconn

import (
	"context"
	"path/filepath"
	"testing"

	"zombiezen.com/go/sqlite"
)

// TestPoolOpensAsNeeded checks that the pool keeps no more connections than were in use at once. Each new connection costs
// the time of reading the schema.
func TestPoolOpensAsNeeded(t *testing.T) {
	t.Parallel()
	p := NewPool(3)
	path := filepath.Join(t.TempDir(), "file.db")
	take := func() *sqlite.Conn {
		conn, err := p.Acquire(t.Context(), nil)
		if err == nil && conn == nil {
			conn, err = Open(path)
		}
		if err != nil {
			t.Fatal(err)
		}
		return conn
	}
	for range 4 {
		p.Release(take())
	}
	if n := len(p.open); n != 1 {
		t.Errorf("%d connections after four were taken one by one, expected 1", n)
	}
	all := []*sqlite.Conn{take(), take(), take()}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Acquire(ctx, nil); err == nil {
		t.Error("a fourth of three connections was handed out")
	}
	for _, conn := range all {
		p.Release(conn)
	}
	if n := len(p.open); n != 3 {
		t.Errorf("%d connections after three at once", n)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}
