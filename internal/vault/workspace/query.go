package workspace

import (
	"errors"

	"zombiezen.com/go/sqlite"

	"collie/internal/sqlguard"
)

// What [Tx.Select] answers.
type (
	// Result is what a statement that ran returned.
	Result = sqlguard.Result
	// Refused is the error for a statement that may not run.
	Refused = sqlguard.Refused
	// StatementError is an error of SQLite about a statement, in SQLite's words.
	StatementError = sqlguard.Error
)

// prepare gives a connection the functions SQL knows beside SQLite's own. It is called with every connection before its
// first use.
func prepare(conn *sqlite.Conn) error { return sqlguard.Prepare(conn) }

// Select runs a statement that a user wrote over the tables SiYuan documents: blocks, attributes, spans, refs, assets,
// file_annotation_refs, stat and blocks_fts. It only reads, runs for at most 10 s and returns at most 16 MiB. At most
// limit rows are returned of a statement without a LIMIT of its own; 0 returns all. It sees what was changed in trees,
// and must not be called from within Rows.
//
// The error is a *[Refused] or a *[StatementError]; it does not end the transaction. When the storage fails, that error
// is kept as for the other methods, and the Result is empty.
func (tx *Tx) Select(statement string, limit int) (Result, error) {
	tx.Flush()
	if tx.err != nil {
		return Result{}, nil //nolint:nilerr // the transaction ends with it
	}
	result, err := tx.ws.guard.Select(tx.conn, statement, limit)
	var refused *Refused
	var wrong *StatementError
	if err == nil || errors.As(err, &refused) || errors.As(err, &wrong) {
		return result, err
	}
	tx.fail(err)
	return Result{}, nil
}

// Statements cuts a text into its statements, without what separates them; comments alone are none.
func Statements(text string) []string { return sqlguard.Split(text) }

// ReadOnly reports whether a statement begins as one that only reads: with SELECT or WITH.
func ReadOnly(statement string) bool { return sqlguard.Reads(statement) }
