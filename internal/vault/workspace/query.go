package workspace

import (
	"errors"

	"zombiezen.com/go/sqlite"

	"collie/internal/sqlguard"
)

// Types of the results of [Tx.Select].
type (
	// Result is the result of a statement.
	Result = sqlguard.Result
	// Refused is the error for a statement that may not run.
	Refused = sqlguard.Refused
	// StatementError is SQLite's error about a statement, in SQLite's words.
	StatementError = sqlguard.Error
)

// registerFunctions adds the functions of SiYuan's SQL to a connection. It is called for every connection before its
// first use.
func registerFunctions(conn *sqlite.Conn) error { return sqlguard.Prepare(conn) }

// Select runs a user's statement over the tables that SiYuan documents: blocks, attributes, spans, refs, assets,
// file_annotation_refs, stat and blocks_fts. It can only read, runs for at most 10 s and returns at most 16 MiB. If the
// statement has no LIMIT of its own, at most limit rows are returned; 0 means all. It sees changes to trees. It must
// not be called from within Rows.
//
// The error is a *[Refused] or a *[StatementError]; the transaction goes on. An error of the storage is kept in tx,
// like those of the other methods, and the Result is then empty.
func (tx *Tx) Select(statement string, limit int) (Result, error) {
	tx.Flush()
	if tx.err != nil {
		return Result{}, nil //nolint:nilerr // the transaction ends with it
	}
	result, err := tx.ws.guard.Select(tx.conn, statement, limit)
	var refused *Refused
	var statementErr *StatementError
	if err == nil || errors.As(err, &refused) || errors.As(err, &statementErr) {
		return result, err
	}
	tx.fail(err)
	return Result{}, nil
}

// Statements splits a text into its statements, without separators. Comments alone are not statements.
func Statements(text string) []string { return sqlguard.Split(text) }

// ReadOnly reports whether a statement begins with SELECT or WITH.
func ReadOnly(statement string) bool { return sqlguard.Reads(statement) }
