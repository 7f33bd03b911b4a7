package workspace

import (
	"fmt"

	"zombiezen.com/go/sqlite"
)

// This file runs SQL statements within a transaction.

// exec runs a statement that returns no rows.
func (tx *Tx) exec(statement string, args ...any) {
	tx.query(func(*sqlite.Stmt) bool { return true }, statement, args...)
}

// query calls each for every row until each returns false. After the first error of a transaction it does nothing.
func (tx *Tx) query(each func(*sqlite.Stmt) bool, statement string, args ...any) {
	if tx.err != nil {
		return
	}
	stmt, release, err := tx.prepare(statement)
	if err != nil {
		tx.fail(fmt.Errorf("prepare %q: %w", statement, err))
		return
	}
	defer release()
	for i, arg := range args {
		bind(stmt, i+1, arg)
	}
	for {
		hasRow, err := stmt.Step()
		if err != nil {
			tx.fail(fmt.Errorf("run %q: %w", statement, err))
			return
		}
		if !hasRow || !each(stmt) {
			return
		}
	}
}

// prepare compiles a statement, or takes a compiled one from the connection. A statement that is used again while its
// rows are being read is compiled a second time, since the connection would reset the first one.
func (tx *Tx) prepare(statement string) (stmt *sqlite.Stmt, release func(), err error) {
	if tx.running[statement] {
		stmt, _, err = tx.conn.PrepareTransient(statement)
		return stmt, func() { _ = stmt.Finalize() }, err
	}
	stmt, err = tx.conn.Prepare(statement)
	tx.running[statement] = err == nil
	return stmt, func() {
		_ = stmt.Reset()
		delete(tx.running, statement)
	}, err
}

// fail records an error, unless there is one already.
func (tx *Tx) fail(err error) {
	if tx.err == nil {
		tx.err = err
	}
}

// bind sets a parameter of a statement. It panics for types of arguments that are not listed.
func bind(stmt *sqlite.Stmt, param int, arg any) {
	switch v := arg.(type) {
	case nil:
		stmt.BindNull(param)
	case string:
		stmt.BindText(param, v)
	case []byte:
		stmt.BindBytes(param, v)
	case int:
		stmt.BindInt64(param, int64(v))
	case int64:
		stmt.BindInt64(param, v)
	case bool:
		stmt.BindBool(param, v)
	case float64:
		stmt.BindFloat(param, v)
	default:
		panic(fmt.Sprintf("vault: a %T as the parameter of a statement", arg))
	}
}

// number returns the first column of the first row of a statement; found is false if there is no row.
func (tx *Tx) number(statement string, args ...any) (n int64, found bool) {
	tx.query(func(s *sqlite.Stmt) bool {
		n, found = s.ColumnInt64(0), true
		return false
	}, statement, args...)
	return n, found
}

// resultRow is the current row of a running statement.
type resultRow struct{ stmt *sqlite.Stmt }

func (r resultRow) Text(column int) string { return r.stmt.ColumnText(column) }
func (r resultRow) Int(column int) int64   { return r.stmt.ColumnInt64(column) }

func (r resultRow) Names() []string {
	names := make([]string, r.stmt.ColumnCount())
	for i := range names {
		names[i] = r.stmt.ColumnName(i)
	}
	return names
}

// Value returns the value of a column as an int64, float64, string or []byte, nil for NULL.
func (r resultRow) Value(column int) any {
	switch r.stmt.ColumnType(column) {
	case sqlite.TypeInteger:
		return r.stmt.ColumnInt64(column)
	case sqlite.TypeFloat:
		return r.stmt.ColumnFloat(column)
	case sqlite.TypeText:
		return r.stmt.ColumnText(column)
	case sqlite.TypeBlob:
		data := make([]byte, r.stmt.ColumnLen(column))
		r.stmt.ColumnBytes(column, data)
		return data
	}
	return nil
}

// Row is one row of a result. It is valid until the function that got it returns.
type Row interface {
	// Text and Int return the value of a column. Columns count from 0.
	Text(column int) string
	Int(column int) int64
	// Names returns the names of the columns.
	Names() []string
	// Value returns a column as SQLite stores it: nil, int64, float64, string or []byte.
	Value(column int) any
}

// Rows calls each for every row of a statement until each returns false. The statement must be our own, not a user's:
// see [Tx.Select]. Changes to trees are visible only after Flush.
func (tx *Tx) Rows(each func(Row) bool, statement string, args ...any) {
	tx.query(func(s *sqlite.Stmt) bool { return each(resultRow{s}) }, statement, args...)
}
