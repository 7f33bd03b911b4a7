package store

import (
	"context"
	"errors"
	"fmt"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"collie/internal/sqliteconn"
)

// This file creates the tables of the parts of the program, and brings older ones up to date.

// checkApplication returns an error if the file belongs to another program.
func checkApplication(conn *sqlite.Conn) error {
	app, err := queryInt(conn, "PRAGMA application_id")
	if err != nil || app == appID {
		return err
	}
	tables, err := queryInt(conn, "SELECT count(*) FROM sqlite_master")
	if err == nil && (app != 0 || tables != 0) {
		return errors.New("this SQLite file belongs to another program")
	}
	return err
}

// migrate brings all tables up to date, in one transaction.
func (s *Store) migrate(ctx context.Context, conn *sqlite.Conn) (err error) {
	if err := sqliteconn.Begin(ctx, conn, busyTimeout); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = sqliteconn.Rollback(conn)
		}
	}()
	err = sqlitex.ExecuteScript(conn, fmt.Sprintf(`PRAGMA application_id = %d;
		CREATE TABLE IF NOT EXISTS part_version (part TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT, WITHOUT ROWID;`, appID), nil)
	if err != nil {
		return err
	}
	versions, err := s.versions(conn)
	if err != nil {
		return err
	}
	for _, schema := range s.schemas {
		if versions[schema.Name] == len(schema.Migrations) {
			continue
		}
		for _, script := range schema.Migrations[versions[schema.Name]:] {
			if err := sqlitex.ExecuteScript(conn, script, nil); err != nil {
				return fmt.Errorf("bring the tables of %s up to date: %w", schema.Name, err)
			}
		}
		err := sqlitex.Execute(conn, "INSERT OR REPLACE INTO part_version VALUES (?, ?)", &sqlitex.ExecOptions{
			Args: []any{schema.Name, len(schema.Migrations)},
		})
		if err != nil {
			return err
		}
	}
	if s.schemaCookie, err = queryInt(conn, "PRAGMA schema_version"); err != nil {
		return err
	}
	return sqlitex.ExecuteTransient(conn, "COMMIT", nil)
}

// versions returns how many migrations of each part have been applied. It fails if that is more than a schema of ours
// has.
func (s *Store) versions(conn *sqlite.Conn) (map[string]int, error) {
	found := map[string]int{}
	err := sqlitex.Execute(conn, "SELECT part, version FROM part_version", &sqlitex.ExecOptions{ResultFunc: func(r *sqlite.Stmt) error {
		found[r.ColumnText(0)] = r.ColumnInt(1)
		return nil
	}})
	for _, schema := range s.schemas {
		if n := found[schema.Name]; n > len(schema.Migrations) {
			return nil, fmt.Errorf("a newer Collie wrote the tables of %s (version %d, this one knows %d): update Collie",
				schema.Name, n, len(schema.Migrations))
		}
	}
	return found, err
}

// checkVersions returns an error if a newer Collie has changed our tables since the last check.
func (s *Store) checkVersions(conn *sqlite.Conn) error {
	cookie, err := queryInt(conn, "PRAGMA schema_version")
	if err != nil || cookie == s.schemaCookie {
		return err
	}
	if _, err := s.versions(conn); err != nil {
		return err
	}
	s.schemaCookie = cookie
	return nil
}

func queryInt(conn *sqlite.Conn, statement string) (n int64, err error) {
	err = sqlitex.Execute(conn, statement, &sqlitex.ExecOptions{ResultFunc: func(r *sqlite.Stmt) error {
		n = r.ColumnInt64(0)
		return nil
	}})
	return n, err
}
