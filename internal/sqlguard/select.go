package sqlguard

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"collie/internal/lazyregexp"
)

// This file runs statements of users on the vault.

// The defaults of a [Runner].
const (
	defaultTimeout  = 10 * time.Second
	defaultMaxBytes = 16 << 20
	maxStatement    = 1 << 20 // bytes of a statement; the longest recorded one has 200 kB
	maxUnknown      = 16      // missing columns in a statement

	// schemaTimeout bounds a question about the schema, since others wait for it.
	schemaTimeout = time.Second
)

// Runner runs statements of users. The zero value is ready for use. It is safe for concurrent use. Close releases its
// resources.
type Runner struct {
	// Timeout bounds how long a statement may run; 0 means 10 s.
	Timeout time.Duration
	// MaxBytes bounds a result; 0 means 16 MiB.
	MaxBytes int

	mu      sync.Mutex
	scratch *documentedScratch // nil until needed
	// internal has the names of the tables and views below the documented ones, which only those may read; nil until
	// needed.
	internal map[string]bool
}

// Result is the result of a statement.
type Result struct {
	// Columns are the names of the columns. Of several with the same name, only the last is included, as in SiYuan,
	// where rows are objects.
	Columns []string
	// Rows have values of type nil, int64, float64, string or []byte.
	Rows [][]any
}

// Close releases the runner's resources. It may be called twice; a later Select opens them again.
func (r *Runner) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.scratch == nil {
		return nil
	}
	err := r.scratch.close()
	r.scratch = nil
	return err
}

// Select runs one statement, in the current transaction of a connection for which [Prepare] was called. If the
// statement has no LIMIT of its own, at most limit rows are returned; 0 means all. The name of a missing column is
// taken for a text, as in SiYuan. During Select nobody else may use the connection, and no rows of another statement
// may be left to read.
//
// The error is a *[Refused] or an *[Error] about the statement, or any other error if the storage fails.
func (r *Runner) Select(conn *sqlite.Conn, statement string, limit int) (Result, error) {
	if len(statement) > maxStatement {
		return Result{}, refuse(fmt.Sprintf("the statement has %d bytes, more than %d", len(statement), maxStatement), "")
	}
	if hasLimit(statement) {
		limit = 0
	}
	statement, v, err := r.check(statement)
	if err != nil {
		return Result{}, err
	}
	options := run{
		timeout: orDefault(r.Timeout, defaultTimeout), maxBytes: orDefault(r.MaxBytes, defaultMaxBytes), limit: limit,
		texts: v.texts,
	}
	if v.schema {
		options.timeout = min(options.timeout, schemaTimeout)
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.scratch == nil {
			return Result{}, os.ErrClosed
		}
		return options.runOn(r.scratch.conn, statement)
	}
	internal, err := r.internalTables(conn)
	if err != nil {
		return Result{}, err
	}
	return options.runFenced(conn, statement, fencedAuthorizer(internal))
}

// aboutSchema are the names of tables by which a statement reads the schema itself. The empty database answers such
// statements.
var aboutSchema = setOf("sqlite_master sqlite_schema pragma_table_info")

// documentedScratch is an empty database with the tables that SiYuan documents, under their own names. It also answers
// questions about the schema.
type documentedScratch struct {
	*scratchDB
	internal map[string]bool // names that exist in it, or could, and must not be read
	verdict  compileVerdict  // on the current statement
}

// compileVerdict holds what compiling a statement showed about it.
type compileVerdict struct {
	schema bool     // the statement reads the schema
	rows   bool     // it reads a documented table
	texts  []string // names of missing columns
}

func openDocumented() (*documentedScratch, error) {
	c, err := openScratch(schemaLayout{}.script())
	if err != nil {
		return nil, err
	}
	d := &documentedScratch{scratchDB: c, internal: map[string]bool{}}
	if err := d.prepare(); err != nil {
		return nil, fmt.Errorf("check SQL: %w", errors.Join(err, c.close()))
	}
	return d, nil
}

func (d *documentedScratch) prepare() error {
	for _, list := range []string{"SELECT name FROM sqlite_master", "SELECT name FROM pragma_module_list"} {
		err := sqlitex.ExecuteTransient(d.conn, list, &sqlitex.ExecOptions{ResultFunc: func(stmt *sqlite.Stmt) error {
			d.internal[lower(stmt.ColumnText(0))] = true
			return nil
		}})
		if err != nil {
			return err
		}
	}
	// At its first use the full text table opens tables of its own.
	if err := sqlitex.ExecuteTransient(d.conn, "SELECT 1 FROM blocks_fts LIMIT 0", nil); err != nil {
		return err
	}
	if err := setTempStore(d.conn, "FILE"); err != nil {
		return err
	}
	return d.setJudge(d) // stays set: questions about the schema run under it too
}

func (d *documentedScratch) read(table, column string) *Refused {
	switch {
	case isTable(table):
		d.verdict.rows = true
	case tableFunctions[table]:
	case aboutSchema[table]:
		d.verdict.schema = true
	case column == "" && !d.internal[table] && !strings.HasPrefix(table, "sqlite_") && !strings.HasPrefix(table, "pragma_"):
		// An expression in the statement of which no column is used.
	default:
		return refuse(fmt.Sprintf("the table %q may not be read", table), "")
	}
	return nil
}

func (d *documentedScratch) other(a sqlite.Action) *Refused {
	switch a.Type() {
	case sqlite.OpRecursive: // bounded by the limits of time and size
		return nil
	case sqlite.OpPragma:
		if lower(a.Pragma()) == "table_info" && a.PragmaArg() != "" {
			d.verdict.schema = true
			return nil
		}
	case sqlite.OpInsert, sqlite.OpUpdate, sqlite.OpDelete:
		if isTable(lower(a.Table())) {
			return &Refused{Message: "the tables are for reading only", Write: true}
		}
	}
	return refuse("only SELECT is answered", "")
}

// judge compiles a statement and returns what it does. The error is an *[Error] or a *[Refused].
func (d *documentedScratch) judge(statement string) (compileVerdict, error) {
	d.verdict = compileVerdict{}
	stmt, err := d.compile(statement)
	if err == nil {
		err = stmt.Finalize()
	}
	return d.verdict, err
}

// check compiles a statement. It returns the statement with the names of missing columns replaced by texts, and what it
// does.
func (r *Runner) check(statement string) (string, compileVerdict, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.scratch == nil {
		d, err := openDocumented()
		if err != nil {
			return "", compileVerdict{}, err
		}
		r.scratch = d
	}
	var texts []string
	for range maxUnknown {
		v, err := r.scratch.judge(statement)
		if name := unknownColumn(err); name != "" {
			statement, texts = textFor(statement, name), append(texts, name)
			continue
		}
		v.texts = texts
		if err == nil {
			err = v.objection(statement)
		}
		return statement, v, err
	}
	return "", compileVerdict{}, refuse(fmt.Sprintf("more than %d columns do not exist", maxUnknown), "")
}

// objection returns why a statement that compiles is refused, nil if it is not.
func (v compileVerdict) objection(statement string) error {
	switch firstWord(statement) {
	case "pragma":
		return nil // a pragma that the authorizer has allowed
	case "select", "with", "values":
	default:
		return refuse("only SELECT is answered", "")
	}
	if v.schema && v.rows {
		return refuse("ask for the schema in a statement of its own", "")
	}
	tokens := withoutBlanks(vaultPolicy.lex(statement))
	for i, t := range tokens {
		if vaultPolicy.unknownCall(tokens, i) {
			return refuse(fmt.Sprintf("the function %q may not be called", t.name()), "")
		}
	}
	return badPatternError(tokens)
}

var (
	missingColumn = lazyregexp.New(`^no such column: ([A-Za-z_][A-Za-z0-9_]*)$`)
	missingQuoted = lazyregexp.New(`^no such column: "((?s:.*))" - should this be a string literal in single-quotes\?$`)
)

// unknownColumn returns the name in an error about a missing column, "" for another error.
func unknownColumn(err error) string {
	var e *Error
	if !errors.As(err, &e) {
		return ""
	}
	for _, pattern := range []*lazyregexp.Regexp{missingColumn, missingQuoted} {
		if m := pattern.FindStringSubmatch(e.Message); m != nil {
			return m[1]
		}
	}
	return ""
}

func orDefault[T int | time.Duration](n, otherwise T) T {
	if n > 0 {
		return n
	}
	return otherwise
}

// internalTables returns the names in a schema that are not documented. All connections of a runner have the same
// schema, so the names are read once.
func (r *Runner) internalTables(conn *sqlite.Conn) (map[string]bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.internal != nil {
		return r.internal, nil
	}
	internal := map[string]bool{"sqlite_master": true, "sqlite_schema": true}
	err := sqlitex.ExecuteTransient(conn, "SELECT name FROM sqlite_master WHERE type IN ('table', 'view')", &sqlitex.ExecOptions{
		ResultFunc: func(stmt *sqlite.Stmt) error {
			if name := lower(stmt.ColumnText(0)); !isTable(name) {
				internal[name] = true
			}
			return nil
		},
	})
	if err != nil {
		return nil, fmt.Errorf("check a statement: %w", err)
	}
	r.internal = internal
	return internal, nil
}

// fencedAuthorizer returns the authorizer for the real connection: internal tables may be read only by documented ones,
// or by views in between.
func fencedAuthorizer(internal map[string]bool) sqlite.Authorizer {
	return sqlite.AuthorizeFunc(func(a sqlite.Action) sqlite.AuthResult {
		switch a.Type() {
		case sqlite.OpSelect, sqlite.OpFunction, sqlite.OpRecursive:
			return sqlite.AuthResultOK
		case sqlite.OpRead:
			// Without a column it may be an expression in the statement with the name of a table.
			accessor := lower(a.Accessor())
			if !internal[lower(a.Table())] || internal[accessor] || isTable(accessor) || a.Column() == "" {
				return sqlite.AuthResultOK
			}
		}
		return sqlite.AuthResultDeny
	})
}
