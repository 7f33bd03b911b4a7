package sqlguard

import (
	"errors"
	"fmt"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"collie/internal/sqliteconn"
)

// statementJudge decides what a statement may do in addition to selecting and calling functions; functions are checked
// by name.
type statementJudge interface {
	// read returns why a column must not be read, nil if it may be. table is in lower case. column is "" if no column
	// of the table is used.
	read(table, column string) *Refused
	// other returns why another action is not allowed, nil if it is.
	other(a sqlite.Action) *Refused
}

// scratchDB is an empty database with the documented tables, to compile statements against. It is not safe for
// concurrent use; close releases it.
type scratchDB struct {
	conn   *sqlite.Conn
	judge  statementJudge
	denied *Refused // why the judge refused the current statement
}

func openScratch(script string) (*scratchDB, error) {
	conn, err := sqliteconn.Open(":memory:", sqlite.OpenReadWrite, sqlite.OpenMemory)
	if err != nil {
		return nil, fmt.Errorf("check SQL: %w", err)
	}
	err = sqlitex.ExecuteScript(conn, script, nil)
	if err == nil {
		err = Prepare(conn)
	}
	if err != nil {
		return nil, fmt.Errorf("check SQL: %w", errors.Join(err, sqliteconn.Close(conn)))
	}
	return &scratchDB{conn: conn}, nil
}

func (s *scratchDB) close() error { return sqliteconn.Close(s.conn) }

// setJudge makes the connection call a judge for everything that it compiles from now on.
func (s *scratchDB) setJudge(j statementJudge) error {
	s.judge = j
	return s.conn.SetAuthorizer(sqlite.AuthorizeFunc(s.authorize))
}

func (s *scratchDB) authorize(a sqlite.Action) sqlite.AuthResult {
	var why *Refused
	switch a.Type() {
	case sqlite.OpSelect, sqlite.OpFunction:
	case sqlite.OpRead:
		why = s.judge.read(lower(a.Table()), a.Column())
	default:
		why = s.judge.other(a)
	}
	if why == nil {
		return sqlite.AuthResultOK
	}
	if s.denied == nil {
		s.denied = why
	}
	return sqlite.AuthResultDeny
}

// compile compiles a statement. The error is a *[Refused] or an *[Error] if it is about the statement.
func (s *scratchDB) compile(statement string) (*sqlite.Stmt, error) {
	s.denied = nil
	stmt, err := compile(s.conn, statement)
	if s.denied != nil {
		if stmt != nil {
			return nil, errors.Join(s.denied, stmt.Finalize())
		}
		return nil, s.denied
	}
	return stmt, err
}

// compile compiles one statement and refuses text after it.
func compile(conn *sqlite.Conn, statement string) (*sqlite.Stmt, error) {
	stmt, trailing, err := conn.PrepareTransient(statement)
	switch {
	case err != nil:
		return nil, plainError(err)
	case stmt == nil:
		return nil, refuse("the statement is empty", "")
	case len(Split(statement[len(statement)-trailing:])) > 0:
		return nil, errors.Join(refuse("there is more than one statement", "send one SELECT at a time"), stmt.Finalize())
	}
	return stmt, nil
}
