package store

import (
	"context"
	"errors"
	"fmt"
	"os"

	"zombiezen.com/go/sqlite"
)

// This file checks the database and backs it up while it is in use.

// Check looks for damage: pages that SQLite finds corrupt, and rows that refer to missing rows. Each problem is a
// sentence; an intact file has none. Check changes nothing and may run while others write.
func (s *Store) Check(ctx context.Context) (problems []string, err error) {
	err = s.Read(ctx, func(tx *Tx) error {
		tx.Query(func(r *Row) bool {
			if text := r.ColumnText(0); text != "ok" {
				problems = append(problems, text)
			}
			return true
		}, "PRAGMA integrity_check(100)")
		tx.Query(func(r *Row) bool {
			problems = append(problems, fmt.Sprintf("table %s, row %d: it names a row of %s that is not there", r.ColumnText(0), r.ColumnInt64(1), r.ColumnText(2)))
			return len(problems) < 100
		}, "PRAGMA foreign_key_check")
		return nil
	})
	return problems, err
}

// Backup writes a consistent copy of the file to path, compacted, while others read and write. The new file is readable
// by its owner only; an existing file is refused. On an error no file is left. What parts keep beside the database is
// not included.
func (s *Store) Backup(ctx context.Context, path string) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("back up the store to %s: %w", path, err)
		}
	}()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err = errors.Join(err, f.Close()); err != nil {
			_ = os.Remove(path)
		}
	}()
	// VACUUM cannot run in a transaction. It accepts an existing file if that is empty.
	return s.withConn(ctx, s.readers, false, func(conn *sqlite.Conn) error {
		tx := &Tx{conn: conn}
		tx.Exec("VACUUM INTO ?", path)
		if tx.err != nil {
			return tx.err
		}
		return f.Sync()
	})
}
