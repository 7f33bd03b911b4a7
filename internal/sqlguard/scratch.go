package sqlguard

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"collie/internal/lazyregexp"
	"collie/internal/sqliteconn"
)

// scratch is an empty database that statements are compiled against.
type scratch struct {
	conn    *sqlite.Conn
	known   []string // tables that may be read
	aliases map[string]bool
	reason  *Refused // why the authorizer said no
}

// withTables runs f with a database that has the kernel's tables under their names. The table
// for the full text search is one only if words says so, since to make it takes half the time.
func withTables(words bool, f func(*scratch) error) error {
	return withScratch("", words, f)
}

// withoutTables runs f with a database where all of them have names of ours.
func withoutTables(f func(*scratch) error) error {
	return withScratch(reserved, false, f)
}

func withScratch(prefix string, words bool, f func(*scratch) error) (err error) {
	conn, err := sqliteconn.Open(":memory:", sqlite.OpenReadWrite, sqlite.OpenMemory)
	if err != nil {
		return fmt.Errorf("check SQL: %w", err)
	}
	defer func() { err = errors.Join(err, sqliteconn.Close(conn)) }()
	c := &scratch{conn: conn}
	var script strings.Builder
	for _, table := range Tables() {
		c.known = append(c.known, prefix+table)
		names := strings.Join(columns(table), ", ")
		if table == "blocks_fts" && words {
			fmt.Fprintf(&script, "CREATE VIRTUAL TABLE blocks_fts USING fts5(%s, content='blocks', content_rowid='rowid');", names)
			continue
		}
		fmt.Fprintf(&script, "CREATE TABLE %s%s (%s);", prefix, table, names)
	}
	for i, index := range indexes {
		fmt.Fprintf(&script, "CREATE INDEX %sindex_%d ON %s%s;", reserved, i, prefix, index)
	}
	if err := sqlitex.ExecuteScript(conn, script.String(), nil); err != nil {
		return fmt.Errorf("check SQL: %w", err)
	}
	// The kernel has the operator REGEXP; here it is never computed.
	err = conn.CreateFunction("regexp", &sqlite.FunctionImpl{NArgs: 2, Scalar: func(sqlite.Context, []sqlite.Value) (sqlite.Value, error) {
		return sqlite.IntegerValue(0), nil
	}})
	if err != nil {
		return fmt.Errorf("check SQL: %w", err)
	}
	if err := conn.SetAuthorizer(sqlite.AuthorizeFunc(c.authorize)); err != nil {
		return fmt.Errorf("check SQL: %w", err)
	}
	return f(c)
}

// authorize allows what a statement that only reads does.
func (c *scratch) authorize(a sqlite.Action) sqlite.AuthResult {
	switch a.Type() {
	case sqlite.OpSelect, sqlite.OpFunction: // functions have been checked by name
		return sqlite.AuthResultOK
	case sqlite.OpRead:
		table := strings.ToLower(a.Table())
		if slices.Contains(c.known, table) || slices.Contains(modules, table) || a.Column() == "" && (c.aliases[table] || table == reserved+"rows") {
			return sqlite.AuthResultOK
		}
		// Where the tables have other names, these are the expressions that shadow them.
		if a.Column() == "" && isTable(table) {
			return sqlite.AuthResultOK
		}
		c.deny("the table "+clip(a.Table())+" may not be read", tablesHint)
	case sqlite.OpRecursive:
		c.deny("recursion is not allowed: the kernel cannot stop a statement that does not end",
			`document(action="list_tree") and block(action="breadcrumb") walk up and down; path LIKE '%id%' finds what is below a document`)
	default:
		c.deny("only SELECT is allowed", "notes are changed with the block and document tools")
	}
	return sqlite.AuthResultDeny
}

func (c *scratch) deny(message, hint string) {
	if c.reason == nil {
		c.reason = refuse(message, hint)
	}
}

// accept has SQLite compile the statement as it came. A column may be named by a text as well, which is not a name to the
// lexer, and one of ours would stand in the place of ours.
func (c *scratch) accept(s *Statement) error {
	stmt, err := c.prepare(s, s.sql)
	if err != nil {
		return err
	}
	for i := range stmt.ColumnCount() {
		if strings.HasPrefix(strings.ToLower(stmt.ColumnName(i)), reserved) {
			err = refuseName()
		}
	}
	return errors.Join(err, stmt.Finalize())
}

// compile has SQLite compile a statement, and nothing more.
func (c *scratch) compile(s *Statement, sql string) error {
	stmt, err := c.prepare(s, sql)
	if err != nil {
		return err
	}
	return stmt.Finalize()
}

func (c *scratch) prepare(s *Statement, sql string) (*sqlite.Stmt, error) {
	c.reason, c.aliases = nil, s.aliases
	stmt, trailing, err := c.conn.PrepareTransient(sql)
	switch {
	case c.reason != nil:
		err = c.reason
	case err != nil:
		err = s.explain(err)
	case stmt == nil || trailing != 0:
		err = refuse("there is more than one statement", "send one SELECT at a time")
	default:
		return stmt, nil
	}
	if stmt != nil {
		err = errors.Join(err, stmt.Finalize())
	}
	return nil, err
}

var (
	sqliteFrame = lazyregexp.New(`^sqlite: prepare: (?:\d+:\d+: )?(?:SQL logic error: )?`)
	noColumn    = lazyregexp.New(`no such column: (\S+)`)
	noTable     = lazyregexp.New(`no such table: (\S+)`)
)

var tablesHint = "tables: " + strings.Join(Tables(), ", ")

// explain makes of SQLite's error one that says what to try.
func (s *Statement) explain(err error) *Refused {
	message := sqliteFrame.ReplaceAllString(err.Error(), "")
	if m := noColumn.FindStringSubmatch(message); m != nil {
		return s.unknownColumn(m[1])
	}
	if m := noTable.FindStringSubmatch(message); m != nil {
		out := refuse("there is no table "+clip(m[1]), tablesHint)
		if like := nearest(m[1], Tables()); like != "" {
			out.Message += "; perhaps " + like
		}
		return out
	}
	return refuse(message, "")
}

// unknownColumn is the error for a column that does not exist. The kernel would answer its name
// as a text.
func (s *Statement) unknownColumn(name string) *Refused {
	name = strings.Trim(name, `"`)
	bare := name[strings.LastIndexByte(name, '.')+1:]
	out := refuse("there is no column "+clip(name), "")
	hints := []string{"a text stands in single quotes: 'd'"}
	var all []string
	for _, table := range sortedByUse(s.used) {
		all = append(all, columns(table)...)
		if s.used[table] {
			hints = append(hints, "columns of "+table+": "+strings.Join(columns(table), ", "))
		}
	}
	if like := nearest(bare, all); like != "" {
		out.Message += "; perhaps " + like
	}
	out.Hint = strings.Join(hints, "; ")
	return out
}
