package workspace

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitemigration"
	"zombiezen.com/go/sqlite/sqlitex"

	"collie/internal/sqlguard"
	"collie/internal/sqliteconn"
)

// This file opens the file, and creates or migrates its tables.

//go:embed schema/*.sql
var schemaFiles embed.FS

// migrations are the files below schema in order; PRAGMA user_version counts those applied to a file.
var migrations = []string{"schema/001.sql", "schema/002.sql", "schema/003.sql"}

// appID marks a file as ours, in PRAGMA application_id.
const appID = 0x436f6c76

const (
	busyTimeout    = 20 * time.Second // how long to wait for the locks of other processes
	defaultReaders = 4
	cacheBlocks    = 20_000 // how many blocks the cache of trees holds
)

// Workspace is an open file of notes. It is safe for concurrent use, and several processes may open the file.
type Workspace struct {
	path       string
	file       os.FileInfo // identifies the opened file
	readOnly   bool
	checkTrees bool
	version    int // of the schema at opening
	cache      *cache
	keys       keyCache
	onErased   func(*Tx, map[string]map[string]string)
	idle       *time.Timer // empties cache and keys
	guard      *sqlguard.Runner

	writer  sqliteconn.Pool // the one connection that writes
	readers sqliteconn.Pool
	trimAt  int64 // size of the log at which it is trimmed; guarded by the connection in writer
	close   sync.Once
	closed  chan struct{}
}

// Open opens the workspace in the file at path. A missing file is created, readable by its owner only. A file of an
// older version is migrated, or read as it is with ReadOnly. One of a newer version, or of another program, is refused;
// see [TroubleOf]. The caller closes the workspace.
func Open(ctx context.Context, path string, o Options) (*Workspace, error) {
	w := &Workspace{
		path: path, readOnly: o.ReadOnly, checkTrees: o.CheckTrees, cache: newCache(cacheBlocks),
		guard:   &sqlguard.Runner{},
		writer:  sqliteconn.NewPool(1),
		readers: sqliteconn.NewPool(cmp.Or(o.Readers, defaultReaders)),
		closed:  make(chan struct{}),
	}
	w.idle = time.AfterFunc(idleTime, w.dropCaches)
	if err := w.prepareBusyFile(ctx); err != nil {
		w.idle.Stop()
		return nil, fmt.Errorf("open the vault %s: %w", path, err)
	}
	return w, nil
}

// idleTime is how long unused trees and keys are cached.
const idleTime = time.Minute

// dropCaches drops everything that is cached between transactions.
func (w *Workspace) dropCaches() {
	w.cache.empty()
	w.keys.empty()
}

// prepareBusyFile repeats prepareFile while SQLite answers busy, for up to busyTimeout. SQLite does so at once while
// the last other process with the file is closing it.
func (w *Workspace) prepareBusyFile(ctx context.Context) error {
	pause := time.NewTicker(25 * time.Millisecond)
	defer pause.Stop()
	for start := time.Now(); ; {
		err := w.prepareFile(ctx)
		if err == nil || sqlite.ErrCode(err).ToPrimary() != sqlite.ResultBusy || time.Since(start) > busyTimeout {
			return err
		}
		select {
		case <-pause.C:
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), err)
		}
	}
}

// prepareFile creates or migrates the file, and puts a connection to it into the pool.
func (w *Workspace) prepareFile(ctx context.Context) error {
	if !w.readOnly {
		if err := createFile(w.path); err != nil {
			return err
		}
	}
	conn, err := w.openConn(!w.readOnly)
	if err != nil {
		return err
	}
	if err := w.migrate(ctx, conn); err != nil {
		return errors.Join(err, sqliteconn.Close(conn))
	}
	if w.file, err = os.Stat(w.path); err != nil {
		return errors.Join(err, sqliteconn.Close(conn))
	}
	if w.readOnly {
		w.readers.Fill(conn)
	} else {
		w.writer.Fill(conn)
	}
	return nil
}

// createFile creates an empty file, readable by its owner only, unless it exists. An existing file is not opened, since
// closing it would release the locks of this process's other connections.
func createFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// migrate configures the first connection and brings the schema up to date. It does not touch a file of another
// program.
func (w *Workspace) migrate(ctx context.Context, conn *sqlite.Conn) error {
	version, err := recognize(conn)
	switch {
	case err != nil:
		return err
	case version > len(migrations):
		return newerFileError(version)
	case version == 0 && w.readOnly:
		return errors.New("it is empty: open it once for writing")
	}
	w.version = version
	if err := configure(conn, !w.readOnly); err != nil {
		return err
	}
	if version == len(migrations) || w.readOnly {
		return nil // nothing will be written, and older files can be read
	}
	schema := sqlitemigration.Schema{AppID: appID}
	for _, name := range migrations {
		text, err := schemaFiles.ReadFile(name)
		if err != nil {
			return err
		}
		schema.Migrations = append(schema.Migrations, string(text))
	}
	if err := sqlitemigration.Migrate(ctx, conn, schema); err != nil {
		return err
	}
	w.version = len(migrations)
	return nil
}

// newerFileError returns the error for a file of a later version than this program knows.
func newerFileError(version int) error {
	return &troubleError{fmt.Sprintf("it was written by a newer Collie (version %d, this one knows %d): update Collie", version, len(migrations)), Newer}
}

// checkInPlace returns an error if the file was moved or replaced since it was opened: writes would be lost when the
// last process closes it.
func (w *Workspace) checkInPlace() error {
	info, err := os.Stat(w.path)
	if err == nil && !os.SameFile(w.file, info) {
		err = errors.New("another file is there")
	}
	if err != nil {
		return fmt.Errorf("the vault %s was moved or replaced while it was open, start Collie again: %w", w.path, err)
	}
	return nil
}

// recognize returns how many migrations a file has had. The error says if it belongs to another program.
func recognize(conn *sqlite.Conn) (version int, err error) {
	var app, tables int
	for _, question := range []struct {
		statement string
		answer    *int
	}{
		{"BEGIN", nil}, // another process may be creating the file right now
		{"PRAGMA application_id", &app},
		{"PRAGMA user_version", &version},
		{"SELECT count(*) FROM sqlite_master", &tables},
		{"ROLLBACK", nil},
	} {
		err := sqlitex.ExecuteTransient(conn, question.statement, &sqlitex.ExecOptions{ResultFunc: func(s *sqlite.Stmt) error {
			*question.answer = s.ColumnInt(0)
			return nil
		}})
		if err != nil {
			return 0, err
		}
	}
	if app != appID && (app != 0 || version != 0 || tables != 0) {
		return 0, &troubleError{"this SQLite file belongs to another program", Foreign}
	}
	return version, nil
}

// connect opens and configures a connection. One for reading sees only committed data and can change nothing.
func (w *Workspace) connect(write bool) (*sqlite.Conn, error) {
	conn, err := w.openConn(write)
	if err != nil {
		return nil, err
	}
	if err := configure(conn, write); err != nil {
		return nil, errors.Join(err, sqliteconn.Close(conn))
	}
	return conn, nil
}

// openConn opens a connection without accessing the file's content.
func (w *Workspace) openConn(write bool) (*sqlite.Conn, error) {
	flags := sqlite.OpenReadWrite
	if !write {
		flags = sqlite.OpenReadOnly
	}
	conn, err := sqliteconn.Open(w.path, flags)
	if err != nil {
		return nil, err
	}
	conn.SetBusyTimeout(busyTimeout)
	return conn, nil
}

// configure applies our settings to a connection.
func configure(conn *sqlite.Conn, write bool) error {
	// NORMAL: a commit does not wait for the disk. A crash of the process loses nothing, a crash of the machine at
	// most the last moments, and never the order of changes.
	pragmas := []string{"PRAGMA synchronous = NORMAL", "PRAGMA cache_size = -2000", "PRAGMA temp_store = MEMORY"}
	if write {
		pragmas = append(pragmas, "PRAGMA journal_mode = WAL", "PRAGMA journal_size_limit = 33554432")
	}
	for _, pragma := range pragmas {
		if err := sqlitex.ExecuteTransient(conn, pragma, nil); err != nil {
			return err
		}
	}
	return registerFunctions(conn)
}

// RealPath returns the file that path leads to through symbolic links, and path itself if there is no such file. SQLite keeps
// the log beside that file; on Windows, where it resolves no links, beside path.
func RealPath(path string) string {
	if runtime.GOOS == "windows" {
		return path
	}
	if file, err := filepath.EvalSymlinks(path); err == nil {
		return file
	}
	return path
}

// Path returns the path of the file.
func (w *Workspace) Path() string { return w.path }

// Close waits for running transactions and closes the file. Transactions after that fail with [os.ErrClosed]. It may be
// called twice.
func (w *Workspace) Close() error {
	var errs []error
	w.close.Do(func() {
		close(w.closed)
		errs = append(errs, w.readers.Close(), w.writer.Close())
		errs = append(errs, w.guard.Close())
		w.cache.close()
		w.idle.Stop()
		w.dropCaches()
	})
	return errors.Join(errs...)
}
