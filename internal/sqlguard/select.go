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

// The defaults of a [Runner].
const (
	defaultTimeout  = 10 * time.Second
	defaultMaxBytes = 16 << 20
	maxStatement    = 1 << 20 // bytes of a statement; the longest recorded one has 200 kB
	maxUnknown      = 16      // missing columns in a statement

	// schemaTimeout bounds a question about the schema, since others wait for it.
	schemaTimeout = time.Second
)

// Runner runs statements of users. The zero value is ready. It is safe for concurrent use. Close releases its
// resources.
type Runner struct {
	// Timeout bounds how long a statement may run; 0 means 10 s.
	Timeout time.Duration
	// MaxBytes bounds a result; 0 means 16 MiB.
	MaxBytes int

	mu      sync.Mutex
	scratch *documentedScratch // nil until needed
	// below has the tables and views under the documented ones, which are the only ones that may read them; nil until
	// needed.
	below map[string]bool
}

// Result is the result of a statement.
type Result struct {
	// Columns are the names of the columns. Of several with the same name only the last is there, as in SiYuan, where
	// rows are objects.
	Columns []string
	// Rows hold nil, int64, float64, string or []byte.
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

// Select runs one statement on a connection that [Prepare] has seen, in the connection's current transaction. If the
// statement has no LIMIT of its own, at most limit rows are returned; 0 returns all. The name of a missing column
// stands for itself as a text, as in SiYuan. During Select nobody else may use the connection, and no other statement
// may be in the middle of its rows.
//
// Errors are a *[Refused], an *[Error], or any other error if the storage fails.
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
	below, err := r.tablesBelow(conn)
	if err != nil {
		return Result{}, err
	}
	return options.runFenced(conn, statement, fencedAuthorizer(below))
}

// aboutSchema are the names by which a statement asks for the schema itself. The empty database answers those
// statements.
var aboutSchema = setOf("sqlite_master sqlite_schema pragma_table_info")

// documentedScratch is the empty database with what SiYuan documents, under its own names. It also answers questions
// about the schema.
type documentedScratch struct {
	*scratchDB
	internal map[string]bool // names that exist in it, or could, and may not be read
	verdict  compileVerdict  // on the current statement
}

// compileVerdict is what compiling a statement shows about it.
type compileVerdict struct {
	schema bool     // it asks for the schema
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
	if err := tempStore(d.conn, "FILE"); err != nil {
		return err
	}
	return d.guardedBy(d) // stays set: questions about the schema run under it too
}

func (d *documentedScratch) read(table, column string) *Refused {
	switch {
	case isTable(table):
		d.verdict.rows = true
	case tableFunctions[table]:
	case aboutSchema[table]:
		d.verdict.schema = true
	case column == "" && !d.internal[table] && !strings.HasPrefix(table, "sqlite_") && !strings.HasPrefix(table, "pragma_"):
		// An expression of the statement, none of whose columns is used.
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

// compileJudged compiles a statement and returns what it does. An error is SQLite's about the statement, or a
// *[Refused].
func (d *documentedScratch) compileJudged(statement string) (compileVerdict, error) {
	d.verdict = compileVerdict{}
	stmt, err := d.compile(statement)
	if err == nil {
		err = stmt.Finalize()
	}
	return d.verdict, err
}

// check returns the statement with the names of missing columns as texts, and what it does.
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
		v, err := r.scratch.compileJudged(statement)
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

// objection returns why a statement that compiles is refused nevertheless.
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
	return badPattern(tokens)
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

// tablesBelow returns the names in a schema that are not documented. A runner is for one schema, so they are read
// once.
func (r *Runner) tablesBelow(conn *sqlite.Conn) (map[string]bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.below != nil {
		return r.below, nil
	}
	below := map[string]bool{"sqlite_master": true, "sqlite_schema": true}
	err := sqlitex.ExecuteTransient(conn, "SELECT name FROM sqlite_master WHERE type IN ('table', 'view')", &sqlitex.ExecOptions{
		ResultFunc: func(stmt *sqlite.Stmt) error {
			if name := lower(stmt.ColumnText(0)); !isTable(name) {
				below[name] = true
			}
			return nil
		},
	})
	if err != nil {
		return nil, fmt.Errorf("check a statement: %w", err)
	}
	r.below = below
	return below, nil
}

// fencedAuthorizer returns the authorizer for the real connection: the tables below the documented ones may be read
// only by those, or by views in between.
func fencedAuthorizer(below map[string]bool) sqlite.Authorizer {
	return sqlite.AuthorizeFunc(func(a sqlite.Action) sqlite.AuthResult {
		switch a.Type() {
		case sqlite.OpSelect, sqlite.OpFunction, sqlite.OpRecursive:
			return sqlite.AuthResultOK
		case sqlite.OpRead:
			// Without a column it may be an expression of the statement that has the name of a table.
			by := lower(a.Accessor())
			if !below[lower(a.Table())] || below[by] || isTable(by) || a.Column() == "" {
				return sqlite.AuthResultOK
			}
		}
		return sqlite.AuthResultDeny
	})
}
