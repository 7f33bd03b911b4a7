package sqlguard

import (
	"errors"
	"fmt"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// This file runs a statement within limits of time and size.

// compileLimits apply while a user's statement is compiled and run. They bound the length of values above all, since a
// function cannot be interrupted.
var compileLimits = []struct {
	id    sqlite.Limit
	value int32
}{
	{sqlite.LimitLength, 4 << 20},
	{sqlite.LimitSQLLength, maxStatement},
	{sqlite.LimitLikePatternLength, 1000},
	{sqlite.LimitCompoundSelect, 100},
	{sqlite.LimitFunctionArg, 32},
	{sqlite.LimitAttached, 0},
}

// run has the parameters for running a statement.
type run struct {
	timeout  time.Duration
	maxBytes int
	limit    int      // rows; 0 means all
	texts    []string // names of missing columns that became texts
}

// runFenced compiles a statement under an authorizer, and runs it after removing the authorizer.
func (r run) runFenced(conn *sqlite.Conn, statement string, auth sqlite.Authorizer) (Result, error) {
	// Large sorts and intermediate results go to disk.
	if err := setTempStore(conn, "FILE"); err != nil {
		return Result{}, err
	}
	// At its first use the full text table opens tables of its own. The authorizer cannot see on whose behalf, so this
	// must happen before it is set.
	if err := sqlitex.ExecuteTransient(conn, "SELECT 1 FROM blocks_fts LIMIT 0", nil); err != nil {
		return Result{}, err
	}
	if err := conn.SetAuthorizer(auth); err != nil {
		return Result{}, err
	}
	restrict := lowerLimits(conn)
	stmt, err := compile(conn, statement)
	if resetErr := conn.SetAuthorizer(nil); resetErr != nil && err == nil {
		err = errors.Join(resetErr, stmt.Finalize())
	}
	var result Result
	if err == nil {
		result, err = r.collectAndFinalize(conn, stmt)
	}
	restrict()
	if restoreErr := setTempStore(conn, "MEMORY"); restoreErr != nil {
		return Result{}, restoreErr
	}
	return result, err
}

// runOn runs a statement on a connection that already has an authorizer.
func (r run) runOn(conn *sqlite.Conn, statement string) (Result, error) {
	defer lowerLimits(conn)()
	stmt, err := compile(conn, statement)
	if err != nil {
		return Result{}, err
	}
	return r.collectAndFinalize(conn, stmt)
}

// lowerLimits sets compileLimits on a connection; undo restores the old limits.
func lowerLimits(conn *sqlite.Conn) (undo func()) {
	old := make([]int32, len(compileLimits))
	for i, l := range compileLimits {
		old[i] = conn.Limit(l.id, l.value)
	}
	return func() {
		for i, l := range compileLimits {
			conn.Limit(l.id, old[i])
		}
	}
}

// collectAndFinalize collects the rows of a statement and finalizes it.
func (r run) collectAndFinalize(conn *sqlite.Conn, stmt *sqlite.Stmt) (Result, error) {
	defer func() { _ = stmt.Finalize() }()
	stop, timedOut := r.interruptAtTimeout(conn)
	defer stop()
	var result Result
	release, err := keepInterrupts(conn)
	if err == nil {
		result, err = r.collect(stmt)
		release()
	}
	if err != nil && timedOut() {
		err = refuse(fmt.Sprintf("the statement was stopped: it ran longer than %v", r.timeout), "")
	}
	return result, err
}

func setTempStore(conn *sqlite.Conn, where string) error {
	return sqlitex.ExecuteTransient(conn, "PRAGMA temp_store = "+where, nil)
}

// interruptAtTimeout interrupts the connection after the timeout, or when its previous interrupt fires. stop ends the watch and
// restores the previous interrupt.
func (r run) interruptAtTimeout(conn *sqlite.Conn) (stop func(), timedOut func() bool) {
	previous := conn.SetInterrupt(nil)
	timer := time.NewTimer(r.timeout)
	interrupt, quit, overdue := make(chan struct{}), make(chan struct{}), make(chan bool, 1)
	go func() {
		defer close(overdue)
		select {
		case <-timer.C:
			overdue <- true
			close(interrupt)
		case <-previous:
			close(interrupt)
		case <-quit:
		}
	}()
	conn.SetInterrupt(interrupt)
	stop = func() {
		timer.Stop()
		close(quit)
		conn.SetInterrupt(previous)
	}
	timedOut = func() bool {
		select {
		case late := <-overdue:
			return late
		default:
			return false
		}
	}
	return stop, timedOut
}

// keepInterrupts makes interrupts of the connection last until release. When no statement is running, SQLite discards
// an interrupt at the start of the next statement, so a statement whose time ends during its start would run without
// end. Another open statement prevents that.
func keepInterrupts(conn *sqlite.Conn) (release func(), err error) {
	running, _, err := conn.PrepareTransient("VALUES (1), (2)")
	if err != nil {
		return nil, plainError(err)
	}
	release = func() { _ = running.Finalize() }
	if _, err := running.Step(); err != nil {
		release()
		return nil, plainError(err)
	}
	return release, nil
}

// collect reads the rows.
func (r run) collect(stmt *sqlite.Stmt) (Result, error) {
	var result Result
	columns := lastOfEachName(stmt)
	for _, i := range columns {
		result.Columns = append(result.Columns, r.columnName(stmt.ColumnName(i)))
	}
	size := 0
	for r.limit == 0 || len(result.Rows) < r.limit {
		hasRow, err := stmt.Step()
		if err != nil {
			return Result{}, plainError(err)
		}
		if !hasRow {
			break
		}
		size += rowSize + valueSize*len(columns)
		row := make([]any, len(columns))
		for at, i := range columns {
			if size += stmt.ColumnLen(i); size > r.maxBytes {
				return Result{}, refuse(fmt.Sprintf("the result is larger than %d KiB: select fewer columns or set a LIMIT", r.maxBytes>>10), "")
			}
			row[at] = value(stmt, i)
		}
		result.Rows = append(result.Rows, row)
	}
	return result, nil
}

// columnName returns the name of a result column. If the column is nothing but the name of a missing column, it is in
// double quotes, as in SiYuan.
func (r run) columnName(column string) string {
	for _, name := range r.texts {
		if column == asText(name) {
			return `"` + name + `"`
		}
	}
	return column
}

// The approximate size of a row and of a value in addition to its text, in bytes.
const (
	rowSize   = 64
	valueSize = 48
)

// lastOfEachName returns the indices of the columns to return. Of several with the same name, it is the last one, which
// is also the only one that the library finds by name.
func lastOfEachName(stmt *sqlite.Stmt) []int {
	var columns []int
	for i := range stmt.ColumnCount() {
		if stmt.ColumnIndex(stmt.ColumnName(i)) == i {
			columns = append(columns, i)
		}
	}
	return columns
}

func value(stmt *sqlite.Stmt, column int) any {
	switch stmt.ColumnType(column) {
	case sqlite.TypeInteger:
		return stmt.ColumnInt64(column)
	case sqlite.TypeFloat:
		return stmt.ColumnFloat(column)
	case sqlite.TypeText:
		return stmt.ColumnText(column)
	case sqlite.TypeBlob:
		data := make([]byte, stmt.ColumnLen(column))
		stmt.ColumnBytes(column, data)
		return data
	}
	return nil
}
