package workspace

import (
	"fmt"

	"zombiezen.com/go/sqlite"
)

// exec runs a statement that returns no rows.
func (tx *Tx) exec(statement string, args ...any) {
	tx.query(func(*sqlite.Stmt) bool { return true }, statement, args...)
}

// query calls each for every row until it returns false. After the first error of a transaction it does nothing.
func (tx *Tx) query(each func(*sqlite.Stmt) bool, statement string, args ...any) {
	if tx.err != nil {
		return
	}
	stmt, done, err := tx.prepare(statement)
	if err != nil {
		tx.fail(fmt.Errorf("prepare %q: %w", statement, err))
		return
	}
	defer done()
	for i, arg := range args {
		bind(stmt, i+1, arg)
	}
	for {
		more, err := stmt.Step()
		if err != nil {
			tx.fail(fmt.Errorf("run %q: %w", statement, err))
			return
		}
		if !more || !each(stmt) {
			return
		}
	}
}

// prepare compiles a statement, or takes one compiled before. One that is asked again from within itself is compiled
// anew: to prepare it would begin the outer one again.
func (tx *Tx) prepare(statement string) (stmt *sqlite.Stmt, done func(), err error) {
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

// fail keeps the first error.
func (tx *Tx) fail(err error) {
	if tx.err == nil {
		tx.err = err
	}
}

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

// number is the first column of the only row of a statement, 0 without a row.
func (tx *Tx) number(statement string, args ...any) (n int64, found bool) {
	tx.query(func(s *sqlite.Stmt) bool {
		n, found = s.ColumnInt64(0), true
		return false
	}, statement, args...)
	return n, found
}

// resultRow is a Row over a statement that runs.
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

// Row is one row of a result, valid until the function it was given to returns.
type Row interface {
	// Text and Int return the value of a column, counted from 0.
	Text(column int) string
	Int(column int) int64
	// Names are the columns.
	Names() []string
	// Value is a column as SQLite holds it: nil, int64, float64, string or []byte.
	Value(column int) any
}

// Rows calls each for every row of a statement of ours until it returns false. It sees what fn given to Update has
// changed in trees only after Flush.
func (tx *Tx) Rows(each func(Row) bool, statement string, args ...any) {
	tx.query(func(s *sqlite.Stmt) bool { return each(resultRow{s}) }, statement, args...)
}
