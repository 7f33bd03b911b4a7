package query

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"collie/internal/lazyregexp"
)

// The defaults of a [Guard].
const (
	defaultTimeout  = 10 * time.Second
	defaultMaxBytes = 16 << 20
	maxStatement    = 1 << 20 // bytes of a statement; the longest one that was recorded has 200 kB
	maxUnknown      = 16      // columns that do not exist

	// schemaTimeout is how long a question about the schema may run; others wait for it.
	schemaTimeout = time.Second
)

// Guard runs statements of users. The zero value is ready. It is safe for concurrent use; Close releases what it holds.
type Guard struct {
	// Timeout is how long a statement may run; 0 means 10 s.
	Timeout time.Duration
	// MaxBytes is how large a result may be; 0 means 16 MiB.
	MaxBytes int

	mu      sync.Mutex
	scratch *scratch // nil until it is needed
	// below are the tables and views under the documented ones, which are the only ones that may read them. nil until
	// they are needed.
	below map[string]bool
}

// Result is what a statement answers.
type Result struct {
	// Columns are the names of the columns. Of several with one name only the last is there, as in SiYuan, where rows
	// are objects.
	Columns []string
	// Rows hold nil, int64, float64, string or []byte.
	Rows [][]any
}

// Refused is the error for a statement that does or sees more than it may.
type Refused struct {
	Message string
	// Write says that the statement would have changed a documented table.
	Write bool
}

func (r *Refused) Error() string { return r.Message }

// Error is an error of SQLite's about a statement, in SQLite's words.
type Error struct{ Message string }

func (e *Error) Error() string { return e.Message }

// Close releases what the guard holds. Safe to call twice; Select after it opens anew.
func (g *Guard) Close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.scratch == nil {
		return nil
	}
	err := g.scratch.close()
	g.scratch = nil
	return err
}

// Select runs one statement on a connection that [Prepare] has seen, in whatever transaction it is in. At most limit
// rows are returned of a statement without a LIMIT of its own; 0 returns all. A name of a column that does not exist
// stands for itself as a text, as it does in SiYuan. The connection is for nobody else meanwhile, and no other statement
// may be in the middle of its rows.
//
// Errors are a *[Refused], an *[Error], or anything else if the storage fails.
func (g *Guard) Select(conn *sqlite.Conn, statement string, limit int) (Result, error) {
	if len(statement) > maxStatement {
		return Result{}, &Refused{Message: fmt.Sprintf("the statement has %d bytes, more than %d", len(statement), maxStatement)}
	}
	if limited(statement) {
		limit = 0
	}
	statement, v, err := g.check(statement)
	if err != nil {
		return Result{}, err
	}
	run := run{
		timeout: orDefault(g.Timeout, defaultTimeout), maxBytes: orDefault(g.MaxBytes, defaultMaxBytes), limit: limit,
		texts: v.texts,
	}
	if v.schema {
		run.timeout = min(run.timeout, schemaTimeout)
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.scratch == nil {
			return Result{}, os.ErrClosed
		}
		return run.on(g.scratch.conn, statement)
	}
	below, err := g.tablesBelow(conn)
	if err != nil {
		return Result{}, err
	}
	return run.fenced(conn, statement, fence(below))
}

// check says what a statement does, and returns it with the names of unknown columns as texts.
func (g *Guard) check(statement string) (string, verdict, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.scratch == nil {
		s, err := openScratch()
		if err != nil {
			return "", verdict{}, fmt.Errorf("check a statement: %w", err)
		}
		g.scratch = s
	}
	var texts []string
	for range maxUnknown {
		v, err := g.scratch.judge(statement)
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
	return "", verdict{}, &Refused{Message: fmt.Sprintf("more than %d columns do not exist", maxUnknown)}
}

// objection says why a statement that compiles does not run all the same.
func (v verdict) objection(statement string) error {
	switch firstWord(statement) {
	case "pragma":
		return nil // one that the authorizer let through
	case "select", "with", "values":
	default:
		return &Refused{Message: "only SELECT is answered"}
	}
	if v.schema && v.rows {
		return &Refused{Message: "ask for the schema in a statement of its own"}
	}
	if name := unknownCall(statement); name != "" {
		return &Refused{Message: fmt.Sprintf("the function %q may not be called", name)}
	}
	return badPattern(statement)
}

var (
	missingColumn = lazyregexp.New(`^no such column: ([A-Za-z_][A-Za-z0-9_]*)$`)
	missingQuoted = lazyregexp.New(`^no such column: "((?s:.*))" - should this be a string literal in single-quotes\?$`)
)

// unknownColumn is the name in an error about a column that does not exist, "" for another error.
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

// tablesBelow are the names in a schema that are not documented. Guards are for one schema, so they are read once.
func (g *Guard) tablesBelow(conn *sqlite.Conn) (map[string]bool, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.below != nil {
		return g.below, nil
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
	g.below = below
	return below, nil
}

// fence is the authorizer on the real connection: what is below the documented tables is read by those, or by what
// stands between, and by nothing else.
func fence(below map[string]bool) sqlite.Authorizer {
	return sqlite.AuthorizeFunc(func(a sqlite.Action) sqlite.AuthResult {
		switch a.Type() {
		case sqlite.OpSelect, sqlite.OpFunction, sqlite.OpRecursive:
			return sqlite.AuthResultOK
		case sqlite.OpRead:
			// Without a column it may be an expression of the statement that happens to have the name of a table.
			by := lower(a.Accessor())
			if !below[lower(a.Table())] || below[by] || isTable(by) || a.Column() == "" {
				return sqlite.AuthResultOK
			}
		}
		return sqlite.AuthResultDeny
	})
}
