package sqlguard

import (
	"strings"

	"zombiezen.com/go/sqlite"
)

// operators are the functions that SQLite makes of what is not a call.
var operators = setOf("-> ->> current_date current_time current_timestamp")

// allowed refuses a statement for a kernel that calls a function which is not on the list, as its compiled program says:
// the lexer only knows a call by the bracket behind a name. Functions that SQLite compiles into something else are not
// seen, and have nothing in them to be afraid of.
func (c *scratch) allowed(sql string) error {
	return c.lines("EXPLAIN "+sql, func(instruction *sqlite.Stmt) error {
		if name := called(instruction); name != "" && !kernelPolicy.functions[name] && !operators[name] {
			return refuseFunction(name)
		}
		return nil
	})
}

// lines calls f with each line that SQLite explains a statement in, until f returns an error.
func (c *scratch) lines(sql string, f func(*sqlite.Stmt) error) error {
	stmt, err := c.compile(sql)
	if err != nil {
		return refuse(err.Error(), "")
	}
	for {
		row, err := stmt.Step()
		if err == nil && row {
			err = f(stmt)
		}
		if err != nil || !row {
			return joined(err, stmt.Finalize())
		}
	}
}

// called is the name of the function that an instruction calls, "" if it calls none.
func called(instruction *sqlite.Stmt) string {
	switch instruction.GetText("opcode") {
	case "Function", "PureFunc", "AggStep", "AggStep1", "AggInverse", "AggValue", "AggFinal":
		name, _, _ := strings.Cut(instruction.GetText("p4"), "(")
		return lower(name)
	}
	return ""
}
