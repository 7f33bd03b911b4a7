package workspace

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitemigration"
	"zombiezen.com/go/sqlite/sqlitex"

	"collie/internal/vault/workspace/query"
)

//go:embed schema/*.sql
var schemaFiles embed.FS

// migrations are the files below schema in the order they are applied; PRAGMA user_version counts those a file has had.
var migrations = []string{"schema/001.sql"}

// appID marks a file as ours, in PRAGMA application_id.
const appID = 0x436f6c76

const (
	busyTimeout        = 20 * time.Second
	defaultReaders     = 4
	defaultCacheBlocks = 20_000
)

// Workspace is an open file of notes. It is safe for concurrent use, and several processes may have one file open.
type Workspace struct {
	path     string
	readOnly bool
	cache    *cache
	guard    *query.Guard

	writer  chan *sqlite.Conn // holds the one connection that writes, nil until it is opened
	readers chan *sqlite.Conn
	close   sync.Once
	closed  chan struct{}
}

// Open opens the workspace in the file at path, which is made when it is not there, readable by its owner only. A file
// of an older version is brought up to date; one of a newer version, or of another program, is refused. The caller
// closes it.
func Open(ctx context.Context, path string, o Options) (*Workspace, error) {
	w := &Workspace{
		path: path, readOnly: o.ReadOnly, cache: newCache(orDefault(o.CacheBlocks, defaultCacheBlocks)),
		guard:   &query.Guard{},
		writer:  make(chan *sqlite.Conn, 1),
		readers: make(chan *sqlite.Conn, orDefault(o.Readers, defaultReaders)),
		closed:  make(chan struct{}),
	}
	for range cap(w.readers) {
		w.readers <- nil
	}
	if err := w.prepareFile(ctx); err != nil {
		return nil, fmt.Errorf("open the vault %s: %w", path, err)
	}
	return w, nil
}

func orDefault(n, otherwise int) int {
	if n > 0 {
		return n
	}
	return otherwise
}

// prepareFile makes the file, or brings it up to date, and leaves a connection to it in place.
func (w *Workspace) prepareFile(ctx context.Context) error {
	if !w.readOnly {
		f, err := os.OpenFile(w.path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	conn, err := w.connect(!w.readOnly)
	if err != nil {
		return err
	}
	if err := w.migrate(ctx, conn); err != nil {
		return errors.Join(err, conn.Close())
	}
	if w.readOnly {
		w.writer <- nil
		<-w.readers
		w.readers <- conn
		return nil
	}
	w.writer <- conn
	return nil
}

// migrate brings the schema up to date. With nothing to do it writes nothing.
func (w *Workspace) migrate(ctx context.Context, conn *sqlite.Conn) error {
	app, err := sqlitex.ResultInt64(conn.Prep("PRAGMA application_id"))
	if err != nil {
		return err
	}
	version, err := sqlitex.ResultInt64(conn.Prep("PRAGMA user_version"))
	switch {
	case err != nil:
		return err
	case app != appID && (app != 0 || version != 0):
		return errors.New("this SQLite file belongs to another program")
	case version > int64(len(migrations)):
		return fmt.Errorf("it was written by a newer Collie (version %d, this one knows %d): update Collie", version, len(migrations))
	case version == int64(len(migrations)):
		return nil
	case w.readOnly:
		return errors.New("it was written by an older Collie: open it once for writing")
	}
	schema := sqlitemigration.Schema{AppID: appID}
	for _, name := range migrations {
		text, err := schemaFiles.ReadFile(name)
		if err != nil {
			return err
		}
		schema.Migrations = append(schema.Migrations, string(text))
	}
	return sqlitemigration.Migrate(ctx, conn, schema)
}

// connect opens a connection. Readers see only what is committed and can change nothing.
func (w *Workspace) connect(write bool) (*sqlite.Conn, error) {
	flags := sqlite.OpenReadWrite
	if !write {
		flags = sqlite.OpenReadOnly
	}
	conn, err := sqlite.OpenConn(w.path, flags)
	if err != nil {
		return nil, err
	}
	conn.SetBusyTimeout(busyTimeout)
	// NORMAL: a commit waits for no disk. The end of the process loses nothing, the end of the machine at most the
	// last moments, and never the order of things.
	pragmas := []string{"PRAGMA synchronous = NORMAL", "PRAGMA cache_size = -4000", "PRAGMA temp_store = MEMORY"}
	if write {
		pragmas = append(pragmas, "PRAGMA journal_mode = WAL", "PRAGMA journal_size_limit = 33554432")
	}
	for _, pragma := range pragmas {
		if err := sqlitex.ExecuteTransient(conn, pragma, nil); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	if err := prepare(conn); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// Path is the file the workspace was opened from.
func (w *Workspace) Path() string { return w.path }

// Close waits for transactions that run and closes the file. Later ones answer [os.ErrClosed]. Safe to call twice.
func (w *Workspace) Close() error {
	var errs []error
	w.close.Do(func() {
		close(w.closed)
		for range cap(w.readers) {
			if conn := <-w.readers; conn != nil {
				errs = append(errs, conn.Close())
			}
		}
		if conn := <-w.writer; conn != nil {
			errs = append(errs, conn.Close())
		}
		errs = append(errs, w.guard.Close())
	})
	return errors.Join(errs...)
}
