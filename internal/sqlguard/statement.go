package sqlguard

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"collie/internal/lazyregexp"
)

// This file checks statements that are sent to a kernel.

// maxLength bounds a statement for a kernel, in bytes.
const maxLength = 32 << 10

// reservedPrefix is the prefix of our own names.
const reservedPrefix = "collie_"

// Statement is a statement for a kernel that only reads. It is immutable and safe for concurrent use.
type Statement struct {
	sql     string // without comments and the final semicolon
	aliases map[string]bool
	tables  map[string]bool // tables that it may name
	match   bool            // it may use MATCH
}

// Parse checks a statement. Errors are a *[Refused].
func Parse(sql string) (*Statement, error) {
	if len(sql) > maxLength {
		return nil, refuse(fmt.Sprintf("the statement has %d bytes, more than %d", len(sql), maxLength), "")
	}
	tokens, err := singleStatement(sql)
	if err != nil {
		return nil, err
	}
	s := &Statement{sql: withoutComments(tokens), aliases: map[string]bool{}, tables: map[string]bool{}}
	if err := s.inspect(withoutBlanks(tokens)); err != nil {
		return nil, err
	}
	return s, s.withScratch(schemaLayout{indexes: reservedPrefix, flat: !s.tables[fullText]}, func(c *scratchDB) error {
		if err := s.accept(c); err != nil {
			return err
		}
		if err := c.checkFunctions(s.sql); err != nil {
			return err
		}
		return c.checkCost(s.Limited(1))
	})
}

// singleStatement returns the tokens of a statement without the final semicolon. It refuses a second statement, and
// text with an unclosed quote or comment.
func singleStatement(sql string) ([]token, error) {
	if !utf8.ValidString(sql) || strings.ContainsRune(sql, 0) {
		return nil, refuse("the statement is not plain text", "")
	}
	tokens := kernelPolicy.lex(sql)
	end := len(tokens)
	for end > 0 && (tokens[end-1].blank() && !tokens[end-1].open || tokens[end-1].is(";")) {
		end--
	}
	tokens = tokens[:end]
	for _, t := range tokens { // only the last one can be open
		switch {
		case t.open && t.kind == comment:
			return nil, refuse("a comment /* is not closed", "")
		case t.open:
			return nil, refuse("a "+strings.TrimLeft(t.raw, "xX")[:1]+" is not closed", "")
		}
	}
	for _, t := range tokens {
		if t.is(";") {
			return nil, refuse("there is more than one statement", "send one SELECT at a time")
		}
	}
	return tokens, nil
}

// withoutComments returns the text of tokens with each comment replaced by a blank.
func withoutComments(tokens []token) string {
	var b strings.Builder
	for _, t := range tokens {
		if t.kind == comment {
			b.WriteByte(' ')
			continue
		}
		b.WriteString(t.raw)
	}
	return strings.TrimSpace(b.String())
}

// inspect checks what SQLite's authorizer does not see: the first keyword, variables, and the names of functions and
// common table expressions. tokens have no blanks.
func (s *Statement) inspect(tokens []token) error {
	if len(tokens) == 0 {
		return refuse("the statement is empty", "")
	}
	if first := tokens[0]; !first.is("select") && !first.is("with") && !first.is("values") {
		return refuse("only SELECT is allowed, and this begins with "+clip(first.raw), "notes are changed with the block and document tools")
	}
	for i, t := range tokens {
		name := t.name()
		switch {
		case t.kind == variable:
			return refuse("a statement takes no variables, and this has "+clip(t.raw), "write the value itself")
		case !t.isName():
			continue
		case strings.HasPrefix(name, reservedPrefix):
			return refuseName()
		case isTable(name):
			s.tables[name] = true
		}
		s.match = s.match || name == "match"
		if isCTEName(tokens, i) {
			if err := s.define(name); err != nil {
				return err
			}
			continue
		}
		if kernelPolicy.unknownCall(tokens, i) {
			return refuseFunction(t.raw)
		}
	}
	return nil
}

func refuseName() error { return refuse("names that begin with "+reservedPrefix+" are reserved", "") }

func refuseFunction(name string) error {
	return refuse("the function "+clip(name)+" is not allowed", "common functions of text, numbers, dates, JSON and aggregation are")
}

// define records the name of a common table expression.
func (s *Statement) define(name string) error {
	if isTable(name) {
		return refuse("WITH "+clip(name)+" hides the table of that name", "choose another name")
	}
	for _, begin := range []string{"sqlite_", "pragma_", "json_", "dbstat"} {
		if strings.HasPrefix(name, begin) {
			return refuse("WITH "+clip(name)+": names that begin with "+begin+" are SQLite's", "choose another name")
		}
	}
	s.aliases[name] = true
	return nil
}

// withScratch runs f with a scratch database that judges this statement.
func (s *Statement) withScratch(l schemaLayout, f func(*scratchDB) error) (err error) {
	c, err := openScratch(l.script())
	if err != nil {
		return err
	}
	defer func() { err = joinRefusal(err, c.close()) }()
	if err := c.setJudge(kernelJudge{prefix: l.tables, aliases: s.aliases}); err != nil {
		return err
	}
	return f(c)
}

// kernelJudge lets a statement read the documented tables, its own expressions, and the expressions that
// [Statement.Scoped] adds.
type kernelJudge struct {
	prefix  string          // of the tables' names
	aliases map[string]bool // the statement's own expressions
}

func (j kernelJudge) read(table, column string) *Refused {
	name, real := strings.CutPrefix(table, j.prefix)
	switch {
	case real && isTable(name), tableFunctions[table]:
		return nil
	case column == "" && (j.aliases[table] || table == reservedPrefix+"rows" || isTable(table)): // an expression of which no column is used
		return nil
	}
	return refuse("the table "+clip(table)+" may not be read", tablesHint)
}

func (j kernelJudge) other(a sqlite.Action) *Refused {
	if a.Type() == sqlite.OpRecursive {
		return refuse("recursion is not allowed: the kernel cannot stop a statement that does not end",
			`document(action="list_tree") and block(action="breadcrumb") walk up and down; path LIKE '%id%' finds what is below a document`)
	}
	return refuse("only SELECT is allowed", "notes are changed with the block and document tools")
}

// accept compiles the statement as it was given. It also checks the names of the result columns, since one with our
// prefix could replace a column of ours, and a string can name a column without the lexer taking it for a name.
func (s *Statement) accept(c *scratchDB) error {
	stmt, err := s.compile(c, s.sql)
	if err != nil {
		return err
	}
	for i := range stmt.ColumnCount() {
		if strings.HasPrefix(lower(stmt.ColumnName(i)), reservedPrefix) {
			err = refuseName()
		}
	}
	return joinRefusal(err, stmt.Finalize())
}

// compile compiles a text that contains the statement. The error says what to try.
func (s *Statement) compile(c *scratchDB, sql string) (*sqlite.Stmt, error) {
	stmt, err := c.compile(sql)
	if sqlErr, ok := errors.AsType[*Error](err); ok {
		return nil, s.explain(sqlErr.Message)
	}
	return stmt, err
}

// joinRefusal returns err alone if it is a refusal, else both errors, nil if there are none.
func joinRefusal(err, closeErr error) error {
	if _, refused := errors.AsType[*Refused](err); refused {
		return err
	}
	if err = errors.Join(err, closeErr); err != nil {
		return fmt.Errorf("check SQL: %w", err)
	}
	return nil
}

// Count is an additional column in each row of an answer: the number of rows. If there are none, there is still one
// row, with Count 0 and NULL in all other columns. A kernel that fails in the middle of a statement answers code 0 with
// fewer rows; Count shows that.
const Count = reservedPrefix + "count"

// Limited returns the statement to send if every notebook may be read. It returns at most n rows in the statement's own
// order, with [Count]. Without the outer LIMIT the kernel would return at most 64 rows. Columns of the same name stay
// separate.
func (s *Statement) Limited(n int) string { return "WITH " + s.limited(n) }

// limited returns the part of the text after the WITH and the expressions before ours.
//
// The kernel parses a statement with a parser of its own and sends SQLite what it generates from the result. Doing so,
// it cuts off parts of statements, changes them (LIMIT 1, 2) or panics (LIKE … ESCAPE). A statement that its parser
// does not understand is left as it is, and a materialized expression has that effect.
func (s *Statement) limited(n int) string {
	return fmt.Sprintf("%[1]srows AS MATERIALIZED (SELECT * FROM (%[2]s\n) LIMIT %[3]d) "+
		"SELECT * FROM (SELECT count(*) AS %[4]s FROM %[1]srows) LEFT JOIN %[1]srows ON 1 LIMIT %[3]d",
		reservedPrefix, s.sql, max(n, 1), Count)
}

// IDs returns a statement that selects only the column id of this one's rows. Errors are a *[Refused].
func (s *Statement) IDs() (*Statement, error) {
	ids, err := Parse("SELECT id FROM (" + s.sql + "\n)")
	if r, refused := errors.AsType[*Refused](err); refused && strings.HasPrefix(r.Message, "there is no column") {
		return nil, refuse("its rows have no column id", "begin with SELECT * FROM blocks, or SELECT block_id AS id FROM spans")
	}
	return ids, err
}

var searchFrame = lazyregexp.New(`^sqlite: (?:step|prepare): (?:SQL logic error: )?(?:fts5: )?`)

// Words checks an expression of SQLite's full text search over blocks, as for MATCH. For an invalid one, a kernel
// returns no hits and no error. Errors are a *[Refused].
func Words(expression string) (err error) {
	c, err := openScratch(fullTextScript()) // only the expression is checked, so the database may be empty
	if err != nil {
		return err
	}
	defer func() { err = joinRefusal(err, c.close()) }()
	wrong := sqlitex.ExecuteTransient(c.conn, "SELECT 1 FROM blocks_fts WHERE blocks_fts MATCH ?", &sqlitex.ExecOptions{Args: []any{expression}})
	if wrong == nil {
		return nil
	}
	message := strings.Replace(searchFrame.ReplaceAllString(wrong.Error(), ""), `syntax error near ""`, "syntax error at its end", 1)
	return refuse(message, `a word with other characters than letters and digits stands in double quotes: "a-b"`)
}
