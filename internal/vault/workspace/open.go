package workspace

import (
	"cmp"
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

	"collie/internal/sqlguard"
	"collie/internal/sqliteconn"
)

//go:embed schema/*.sql
var schemaFiles embed.FS

// migrations are the files below schema in the order they are applied; PRAGMA user_version counts those a file has had.
var migrations = []string{"schema/001.sql", "schema/002.sql"}

// appID marks a file as ours, in PRAGMA application_id.
const appID = 0x436f6c76

const (
	busyTimeout    = 20 * time.Second
	defaultReaders = 4
	cacheBlocks    = 20_000
)

// Workspace is an open file of notes. It is safe for concurrent use, and several processes may have one file open.
type Workspace struct {
	path       string
	file       os.FileInfo // which file that is
	readOnly   bool
	checkTrees bool
	version    int // of the schema when it was opened
	cache      *cache
	keys       keyring
	whenErased func(*Tx, map[string]map[string]string)
	idle       *time.Timer // empties cache and keys
	guard      *sqlguard.Runner

	writer  sqliteconn.Pool // the one connection that writes
	readers sqliteconn.Pool
	trimAt  int64 // size of the log at which it is trimmed, for whoever holds writer
	close   sync.Once
	closed  chan struct{}
}

// Open opens the workspace in the file at path, which is made when it is not there, readable by its owner only. A
// file of an older version is brought up to date, or read as it is; one of a newer version, or of another program, is
// refused. The caller closes it.
func Open(ctx context.Context, path string, o Options) (*Workspace, error) {
	w := &Workspace{
		path: path, readOnly: o.ReadOnly, checkTrees: o.CheckTrees, cache: newCache(cacheBlocks),
		guard:   &sqlguard.Runner{},
		writer:  sqliteconn.NewPool(1),
		readers: sqliteconn.NewPool(cmp.Or(o.Readers, defaultReaders)),
		closed:  make(chan struct{}),
	}
	w.idle = time.AfterFunc(restFor, w.forget)
	if err := w.prepareBusyFile(ctx); err != nil {
		w.idle.Stop()
		return nil, fmt.Errorf("open the vault %s: %w", path, err)
	}
	return w, nil
}

// restFor is how long trees and keys stay that nobody asks for.
const restFor = time.Minute

// forget drops what is kept between transactions.
func (w *Workspace) forget() {
	w.cache.empty()
	w.keys.empty()
}

// prepareBusyFile is prepareFile, tried again for as long as a writer may wait: where the last process that had the file
// open is just closing it, SQLite answers busy at once.
func (w *Workspace) prepareBusyFile(ctx context.Context) error {
	pause := time.NewTicker(25 * time.Millisecond)
	defer pause.Stop()
	for begun := time.Now(); ; {
		err := w.prepareFile(ctx)
		if err == nil || sqlite.ErrCode(err).ToPrimary() != sqlite.ResultBusy || time.Since(begun) > busyTimeout {
			return err
		}
		select {
		case <-pause.C:
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), err)
		}
	}
}

// prepareFile makes the file, or brings it up to date, and leaves a connection to it in place.
func (w *Workspace) prepareFile(ctx context.Context) error {
	if !w.readOnly {
		if err := createFile(w.path); err != nil {
			return err
		}
	}
	conn, err := w.dial(!w.readOnly)
	if err != nil {
		return err
	}
	if err := w.bringUp(ctx, conn); err != nil {
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

// createFile makes an empty file, readable by its owner only, unless there is one. A file that is there is not opened: to
// close it again would take away the locks that other connections of this process have on it.
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

// bringUp makes the first connection ready, and the schema current. A file that is not ours is left as it is.
func (w *Workspace) bringUp(ctx context.Context, conn *sqlite.Conn) error {
	version, err := recognize(conn)
	switch {
	case err != nil:
		return err
	case version > len(migrations):
		return newer(version)
	case version == 0 && w.readOnly:
		return errors.New("it is empty: open it once for writing")
	}
	w.version = version
	if err := tune(conn, !w.readOnly); err != nil {
		return err
	}
	if version == len(migrations) || w.readOnly {
		return nil // nothing is written; an older file can be read
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

// newer is the error for a file of a version that is not known yet.
func newer(version int) error {
	return &troubled{fmt.Sprintf("it was written by a newer Collie (version %d, this one knows %d): update Collie", version, len(migrations)), Newer}
}

// inPlace is an error if the file is no longer where it was opened, or another one is: what is written into it then would
// be lost with the last process that has it open.
func (w *Workspace) inPlace() error {
	now, err := os.Stat(w.path)
	if err == nil && !os.SameFile(w.file, now) {
		err = errors.New("another file is there")
	}
	if err != nil {
		return fmt.Errorf("the vault %s was moved or replaced while it was open, start Collie again: %w", w.path, err)
	}
	return nil
}

// recognize returns how many migrations a file has had, or an error if it is another program's.
func recognize(conn *sqlite.Conn) (version int, err error) {
	var app, tables int
	for _, question := range []struct {
		statement string
		answer    *int
	}{
		{"BEGIN", nil}, // another process may be making the file at this moment
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
		return 0, &troubled{"this SQLite file belongs to another program", Foreign}
	}
	return version, nil
}

// connect opens a connection. Readers see only what is committed and can change nothing.
func (w *Workspace) connect(write bool) (*sqlite.Conn, error) {
	conn, err := w.dial(write)
	if err != nil {
		return nil, err
	}
	if err := tune(conn, write); err != nil {
		return nil, errors.Join(err, sqliteconn.Close(conn))
	}
	return conn, nil
}

// dial opens a connection and does nothing with it.
func (w *Workspace) dial(write bool) (*sqlite.Conn, error) {
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

// tune gives a connection its settings.
func tune(conn *sqlite.Conn, write bool) error {
	// NORMAL: a commit waits for no disk. The end of the process loses nothing, the end of the machine at most the
	// last moments, and never the order of things.
	pragmas := []string{"PRAGMA synchronous = NORMAL", "PRAGMA cache_size = -2000", "PRAGMA temp_store = MEMORY"}
	if write {
		pragmas = append(pragmas, "PRAGMA journal_mode = WAL", "PRAGMA journal_size_limit = 33554432")
	}
	for _, pragma := range pragmas {
		if err := sqlitex.ExecuteTransient(conn, pragma, nil); err != nil {
			return err
		}
	}
	return prepare(conn)
}

// Path is the file the workspace was opened from.
func (w *Workspace) Path() string { return w.path }

// Close waits for transactions that run and closes the file. Later ones answer [os.ErrClosed]. Safe to call twice.
func (w *Workspace) Close() error {
	var errs []error
	w.close.Do(func() {
		close(w.closed)
		errs = append(errs, w.readers.Close(), w.writer.Close())
		errs = append(errs, w.guard.Close())
		w.cache.close()
		w.idle.Stop()
		w.forget()
	})
	return errors.Join(errs...)
}
