// Package store opens the one database file that holds Collie's own data: conversations, grants, the state of keys.
// Apart from the tables it needs itself it knows none. Each part with data there passes its [Schema] to [Open] and gets
// transactions ([Store.Read], [Store.Write]).
//
// Several processes may have the file open; one of them writes at a time. Each open store is an owner with a lock file,
// which the system unlocks when the process ends, however it ends. Work in the file that names an owner which is no
// longer [Store.Alive] has been abandoned.
package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/google/uuid"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"collie/internal/atomicfile"
	"collie/internal/sqliteconn"
)

// FileName is the name of the file in its folder.
const FileName = "collie.db"

// appID marks a file as Collie's, in PRAGMA application_id.
const appID = 0x436f6c6c

const (
	busyTimeout = 20 * time.Second
	readers     = 4
)

// Schema describes the tables of one part.
type Schema struct {
	// Name of the part; it never changes.
	Name string
	// Migrations are scripts, each applied once, in order. Published ones never change.
	Migrations []string
}

// Store is the open file. It is safe for concurrent use.
type Store struct {
	dir     string
	schemas []Schema
	owner   string
	release func() // unlocks the owner's lock file

	writer       sqliteconn.Pool
	readers      sqliteconn.Pool
	schemaCookie int64 // schema_version of SQLite at the last check; guarded by holding the writer
	close        sync.Once
	closed       chan struct{}
}

// Open opens the file in the folder dir and brings the tables of the schemas up to date. It creates both, readable by
// their owner only. A file of another program, or with tables of a newer version of a schema, is refused and not
// changed. The caller closes the store.
func Open(ctx context.Context, dir string, schemas ...Schema) (*Store, error) {
	s := &Store{
		dir: dir, schemas: schemas, owner: uuid.Must(uuid.NewV7()).String(),
		writer: sqliteconn.NewPool(1), readers: sqliteconn.NewPool(readers), closed: make(chan struct{}),
	}
	if err := s.prepare(ctx); err != nil {
		return nil, fmt.Errorf("open the store %s: %w", s.Path(), err)
	}
	return s, nil
}

func (s *Store) prepare(ctx context.Context) error {
	unlock, free, err := atomicfile.TryLock(s.lockFile(s.owner))
	if err == nil && !free {
		err = errors.New("the lock of a new owner is taken")
	}
	if err != nil {
		return err
	}
	s.release = func() {
		unlock()
		_ = os.Remove(s.lockFile(s.owner)) // a leftover lock file does no harm
	}
	conn, err := s.openWriter(ctx)
	if err != nil {
		s.release()
		return err
	}
	s.writer.Fill(conn)
	return nil
}

// openWriter opens the connection that writes. It retries while SQLite reports busy without waiting, which it does
// while the last other process closes the file.
func (s *Store) openWriter(ctx context.Context) (*sqlite.Conn, error) {
	pause := time.NewTicker(25 * time.Millisecond)
	defer pause.Stop()
	for begun := time.Now(); ; {
		conn, err := s.connect(true)
		if err == nil {
			if err = s.migrate(ctx, conn); err == nil {
				return conn, nil
			}
			err = errors.Join(err, sqliteconn.Close(conn))
		}
		if sqlite.ErrCode(err).ToPrimary() != sqlite.ResultBusy || time.Since(begun) > busyTimeout {
			return nil, err
		}
		select {
		case <-pause.C:
		case <-ctx.Done():
			return nil, errors.Join(context.Cause(ctx), err)
		}
	}
}

func (s *Store) connect(write bool) (*sqlite.Conn, error) {
	flags := sqlite.OpenReadOnly
	if write {
		flags = sqlite.OpenReadWrite
		if err := create(s.Path()); err != nil {
			return nil, err
		}
	}
	conn, err := sqliteconn.Open(s.Path(), flags)
	if err != nil {
		return nil, err
	}
	conn.SetBusyTimeout(busyTimeout)
	if write {
		err = checkApplication(conn)
	}
	// NORMAL: a commit does not wait for the disk. If the process dies, nothing is lost; if the machine does, at most
	// the last transactions are, and those before them stay complete.
	pragmas := []string{"synchronous = NORMAL", "foreign_keys = ON", "temp_store = MEMORY", "cache_size = -4000"}
	if write {
		pragmas = append(pragmas, "journal_mode = WAL", "journal_size_limit = 33554432")
	}
	for _, pragma := range pragmas {
		if err == nil {
			err = sqlitex.ExecuteTransient(conn, "PRAGMA "+pragma, nil)
		}
	}
	if err != nil {
		return nil, errors.Join(err, sqliteconn.Close(conn))
	}
	return conn, nil
}

// create makes an empty file unless there is one. It must not open an existing one: closing it again would release the
// locks that other connections of this process hold on it.
func create(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// Path returns the path of the file.
func (s *Store) Path() string { return filepath.Join(s.dir, FileName) }

// Dir returns the folder of the file. Parts keep data there that is too large for the database.
func (s *Store) Dir() string { return s.dir }

// Close waits for running transactions, closes the file and releases the owner's lock. Later transactions return
// [os.ErrClosed]. Close may be called twice.
func (s *Store) Close() error {
	var err error
	s.close.Do(func() {
		close(s.closed)
		err = errors.Join(s.readers.Close(), s.writer.Close())
		s.release()
	})
	return err
}
