package sqlguard

import (
	"strings"

	"zombiezen.com/go/sqlite/sqlitex"

	"collie/internal/lazyregexp"
)

var searchFrame = lazyregexp.New(`^sqlite: (?:step|prepare): (?:SQL logic error: )?(?:fts5: )?`)

// Words checks an expression of SQLite's full text search over blocks, as MATCH takes it: the kernel answers a wrong
// one with no hits, and not a word about why. Errors are a *[Refused].
func Words(expression string) (err error) {
	c, err := openScratch(fullTextScript()) // what it is over is not asked for
	if err != nil {
		return err
	}
	defer func() { err = joined(err, c.close()) }()
	wrong := sqlitex.ExecuteTransient(c.conn, "SELECT 1 FROM blocks_fts WHERE blocks_fts MATCH ?", &sqlitex.ExecOptions{Args: []any{expression}})
	if wrong == nil {
		return nil
	}
	message := strings.Replace(searchFrame.ReplaceAllString(wrong.Error(), ""), `syntax error near ""`, "syntax error at its end", 1)
	return refuse(message, `a word with other characters than letters and digits stands in double quotes: "a-b"`)
}
