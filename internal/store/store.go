// Package store opens the one file in which this program keeps what is its own: conversations, grants, the state of keys.
// It knows no tables but those it needs itself. Each part that keeps something there hands in its [Schema], and gets
// transactions ([Store.Read], [Store.Write]).
//
// Several processes may have the file open. One of them writes at a time. Each open store is an owner, with a lock file
// that the system frees when its process ends, however it ends: what stands in the file as the work of an owner that is
// not [Store.Alive] is nobody's any more.
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

// appID marks a file as ours, in PRAGMA application_id.
const appID = 0x436f6c6c

const (
	busyTimeout = 20 * time.Second
	readers     = 4
)

// Schema is the tables of one part.
type Schema struct {
	// Name of the part, which never changes.
	Name string
	// Migrations are scripts in the order in which they are applied, each once. What stands here is never changed.
	Migrations []string
}

// Store is the open file. It is safe for concurrent use.
type Store struct {
	dir     string
	schemas []Schema
	owner   string
	release func() // of the owner's lock

	writer  sqliteconn.Pool
	readers sqliteconn.Pool
	cookie  int64 // of the tables as they were found current, for whoever holds writer
	close   sync.Once
	closed  chan struct{}
}

// Open opens the file in the folder dir, both made where they are not there, readable by their owner only, and brings the
// tables of the schemas up to date. A file of another program, or with tables of a newer version of a schema, is refused
// and left as it is. The caller closes the store.
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
		_ = os.Remove(s.lockFile(s.owner)) // a lock file that stays says no more than one that is gone
	}
	conn, err := s.first(ctx)
	if err != nil {
		s.release()
		return err
	}
	s.writer.Fill(conn)
	return nil
}

// first opens the connection that writes. Where the last process that had the file open is just closing it, SQLite answers
// busy at once: it is tried again.
func (s *Store) first(ctx context.Context) (*sqlite.Conn, error) {
	pause := time.NewTicker(25 * time.Millisecond)
	defer pause.Stop()
	for begun := time.Now(); ; {
		conn, err := s.dial(true)
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

func (s *Store) dial(write bool) (*sqlite.Conn, error) {
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
		err = foreign(conn)
	}
	// NORMAL: a commit waits for no disk. The end of the process loses nothing, the end of the machine at most the last
	// moments, and never the order of things.
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

// create makes an empty file unless there is one. One that is there is not opened: to close it again would take away the
// locks that other connections of this process have on it.
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

// Path is the file.
func (s *Store) Path() string { return filepath.Join(s.dir, FileName) }

// Dir is the folder of the file, in which parts keep what does not fit into it.
func (s *Store) Dir() string { return s.dir }

// Close waits for transactions that run, closes the file and frees the owner's lock. Later transactions answer
// [os.ErrClosed]. It is safe to call twice.
func (s *Store) Close() error {
	var err error
	s.close.Do(func() {
		close(s.closed)
		err = errors.Join(s.readers.Close(), s.writer.Close())
		s.release()
	})
	return err
}
