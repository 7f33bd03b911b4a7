package sqlguard

import (
	"errors"
	"testing"
)

// TestAllowed: the compiled program shows calls of functions that the lexer would miss.
func TestAllowed(t *testing.T) {
	t.Parallel()
	for sql, fine := range map[string]bool{
		"select hex(randomblob(5))": false, "select id from blocks where zeroblob(length) = 1": false, "select max(randomblob(2)) from blocks group by box": false,
		"select json_group_array(id), '[1]' -> 0, current_date from blocks where id like 'a%' and id regexp 'b'": true,
		"select id, lag(id) over (order by id), sum(length) over (order by id rows 1 preceding) from blocks":     true,
	} {
		var refused *Refused
		err := (&Statement{}).withScratch(schemaLayout{flat: true}, func(c *scratchDB) error { return c.checkFunctions(sql) })
		if fine != (err == nil) || !fine && !errors.As(err, &refused) {
			t.Errorf("%s: %v", sql, err)
		}
	}
}
