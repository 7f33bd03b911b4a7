package sqlguard

import (
	"errors"
	"fmt"
	"strings"
)

// Count is the column that each row of an answer has beside its own: how many rows there are. Without any there is
// one row all the same, whose other columns are NULL and whose Count is 0. A kernel that cannot carry a statement out
// to its end answers code 0 with less than that, which is how it is found out.
const Count = reserved + "count"

// Limited is the statement as it is to be sent where every notebook may be read. It returns at most n rows, in its
// own order, with their [Count]. Without an outer LIMIT the kernel would cut at 64 rows. Columns of the same name come
// apart instead of into one.
func (s *Statement) Limited(n int) string { return "WITH " + s.limited(n) }

// limited is what follows the expressions that stand before the statement.
//
// The kernel reads a statement with a parser of its own, writes it anew from what it understood, and so cuts it,
// changes it (LIMIT 1, 2) or ends in a panic (LIKE … ESCAPE). What that parser does not understand is left as it is,
// and an expression that is materialized is such a thing.
func (s *Statement) limited(n int) string {
	return fmt.Sprintf("%[1]srows AS MATERIALIZED (SELECT * FROM (%[2]s\n) LIMIT %[3]d) "+
		"SELECT * FROM (SELECT count(*) AS %[4]s FROM %[1]srows) LEFT JOIN %[1]srows ON 1 LIMIT %[3]d",
		reserved, s.sql, max(n, 1), Count)
}

// IDs is the statement that returns the column id of its rows and nothing else. Errors are a *[Refused].
func (s *Statement) IDs() (*Statement, error) {
	ids, err := Parse("SELECT id FROM (" + s.sql + "\n)")
	if r, refused := errors.AsType[*Refused](err); refused && strings.HasPrefix(r.Message, "there is no column") {
		return nil, refuse("its rows have no column id", "begin with SELECT * FROM blocks, or SELECT block_id AS id FROM spans")
	}
	return ids, err
}
