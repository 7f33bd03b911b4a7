package query

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"collie/internal/sqliteconn"
)

// documented is the schema that SiYuan documents, as its kernel declares it.
//
//go:embed documented.sql
var documented string

// tables are those that may be read.
var tables = []string{
	"blocks", "attributes", "spans", "refs", "assets", "file_annotation_refs", "stat", "blocks_fts",
}

// modules are the tables that SQLite makes of a call and that show nothing but its arguments.
var modules = []string{"json_each", "json_tree"}

// aboutSchema are the names through which a statement asks for the schema itself. The empty database answers those.
var aboutSchema = []string{"sqlite_master", "sqlite_schema", "pragma_table_info"}

// scratch is the empty database.
type scratch struct {
	conn     *sqlite.Conn
	internal map[string]bool // what exists in it, or could, and may not be read
	verdict  verdict         // on the statement that is compiled
}

// verdict is what compiling a statement said about it.
type verdict struct {
	schema bool     // it asks for the schema
	rows   bool     // it reads a documented table
	denied *Refused // why it may not run
	texts  []string // names of columns that do not exist
}

func openScratch() (*scratch, error) {
	conn, err := sqliteconn.Open(":memory:", sqlite.OpenReadWrite, sqlite.OpenMemory)
	if err != nil {
		return nil, err
	}
	s := &scratch{conn: conn, internal: map[string]bool{}}
	if err := s.fill(); err != nil {
		return nil, errors.Join(err, sqliteconn.Close(conn))
	}
	return s, nil
}

func (s *scratch) fill() error {
	if err := sqlitex.ExecuteScript(s.conn, documented, nil); err != nil {
		return err
	}
	if err := Prepare(s.conn); err != nil {
		return err
	}
	for _, list := range []string{"SELECT name FROM sqlite_master", "SELECT name FROM pragma_module_list"} {
		err := sqlitex.ExecuteTransient(s.conn, list, &sqlitex.ExecOptions{ResultFunc: func(stmt *sqlite.Stmt) error {
			s.internal[lower(stmt.ColumnText(0))] = true
			return nil
		}})
		if err != nil {
			return err
		}
	}
	// The full text table opens tables of its own when it is named first.
	if err := sqlitex.ExecuteTransient(s.conn, "SELECT 1 FROM blocks_fts LIMIT 0", nil); err != nil {
		return err
	}
	if err := tempStore(s.conn, "FILE"); err != nil {
		return err
	}
	return s.conn.SetAuthorizer(sqlite.AuthorizeFunc(s.authorize))
}

// authorize allows reads of the documented tables and questions about the schema. The connection keeps it, so that a
// question about the schema runs under it too.
func (s *scratch) authorize(a sqlite.Action) sqlite.AuthResult {
	switch a.Type() {
	case sqlite.OpSelect, sqlite.OpFunction, sqlite.OpRecursive: // functions are checked by name
		return sqlite.AuthResultOK
	case sqlite.OpRead:
		return s.authorizeRead(lower(a.Table()), a.Column())
	case sqlite.OpPragma:
		if lower(a.Pragma()) == "table_info" && a.PragmaArg() != "" {
			s.verdict.schema = true
			return sqlite.AuthResultOK
		}
	case sqlite.OpInsert, sqlite.OpUpdate, sqlite.OpDelete:
		if slices.Contains(tables, lower(a.Table())) {
			return s.deny(&Refused{Message: "the tables are for reading only", Write: true})
		}
	}
	return s.deny(&Refused{Message: "only SELECT is answered"})
}

func (s *scratch) authorizeRead(table, column string) sqlite.AuthResult {
	switch {
	case slices.Contains(tables, table):
		s.verdict.rows = true
	case slices.Contains(modules, table):
	case slices.Contains(aboutSchema, table):
		s.verdict.schema = true
	case column == "" && !s.internal[table] && !strings.HasPrefix(table, "sqlite_") && !strings.HasPrefix(table, "pragma_"):
		// An expression of the statement itself, none of whose columns is used.
	default:
		return s.deny(&Refused{Message: fmt.Sprintf("the table %q may not be read", table)})
	}
	return sqlite.AuthResultOK
}

func (s *scratch) deny(why *Refused) sqlite.AuthResult {
	if s.verdict.denied == nil {
		s.verdict.denied = why
	}
	return sqlite.AuthResultDeny
}

// judge compiles a statement and says what it does. An error is SQLite's own about the statement, or a *[Refused].
func (s *scratch) judge(statement string) (verdict, error) {
	s.verdict = verdict{}
	stmt, err := compile(s.conn, statement)
	if stmt != nil {
		err = stmt.Finalize()
	}
	if s.verdict.denied != nil {
		return s.verdict, s.verdict.denied
	}
	return s.verdict, err
}

func (s *scratch) close() error { return sqliteconn.Close(s.conn) }
