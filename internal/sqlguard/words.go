package sqlguard

import (
	"errors"
	"fmt"
	"strings"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"collie/internal/lazyregexp"
	"collie/internal/sqliteconn"
)

var stepFrame = lazyregexp.New(`^sqlite: (?:step|prepare): (?:SQL logic error: )?(?:fts5: )?`)

// Words checks an expression of SQLite's full text search over blocks, as MATCH takes it: the kernel answers a wrong
// one with no hits, and not a word about why. Errors are a *[Refused].
func Words(expression string) (err error) {
	conn, err := sqliteconn.Open(":memory:", sqlite.OpenReadWrite, sqlite.OpenMemory)
	if err != nil {
		return fmt.Errorf("check a search: %w", err)
	}
	defer func() { err = errors.Join(err, sqliteconn.Close(conn)) }()
	if err := sqlitex.ExecuteScript(conn, "CREATE VIRTUAL TABLE words USING fts5("+strings.Join(columns("blocks"), ", ")+");", nil); err != nil {
		return fmt.Errorf("check a search: %w", err)
	}
	wrong := sqlitex.ExecuteTransient(conn, "SELECT 1 FROM words WHERE words MATCH ?", &sqlitex.ExecOptions{Args: []any{expression}})
	if wrong == nil {
		return nil
	}
	message := strings.Replace(stepFrame.ReplaceAllString(wrong.Error(), ""), `syntax error near ""`, "syntax error at its end", 1)
	return refuse(message, `a word with other characters than letters and digits stands in double quotes: "a-b"`)
}
