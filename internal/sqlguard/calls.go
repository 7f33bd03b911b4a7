package sqlguard

import (
	"errors"
	"fmt"
	"strings"

	"zombiezen.com/go/sqlite"
)

// operators are the functions that SQLite makes of what is not a call.
var operators = setOf("-> ->> current_date current_time current_timestamp")

// allowed refuses a statement that calls a function which is not on the list, as its compiled program says: the lexer
// only knows a call by the bracket behind a name. Functions that SQLite compiles into something else are not seen, and
// have nothing in them to be afraid of.
func (c *scratch) allowed(sql string) (err error) {
	stmt, _, err := c.conn.PrepareTransient("EXPLAIN " + sql)
	if err != nil {
		return refuse(sqliteFrame.ReplaceAllString(err.Error(), ""), "")
	}
	defer func() { err = joined(err, stmt.Finalize()) }()
	for {
		row, err := stmt.Step()
		if err != nil || !row {
			return err
		}
		if name := called(stmt); name != "" && !functions[name] && !operators[name] {
			return refuseFunction(name)
		}
	}
}

// called is the name of the function that an instruction calls, "" if it calls none.
func called(instruction *sqlite.Stmt) string {
	switch instruction.GetText("opcode") {
	case "Function", "PureFunc", "AggStep", "AggStep1", "AggInverse", "AggValue", "AggFinal":
		name, _, _ := strings.Cut(instruction.GetText("p4"), "(")
		return strings.ToLower(name)
	}
	return ""
}

// joined is a refusal alone, or what else went wrong.
func joined(err, finalize error) error {
	if _, refused := errors.AsType[*Refused](err); refused {
		return err
	}
	if err = errors.Join(err, finalize); err != nil {
		return fmt.Errorf("check SQL: %w", err)
	}
	return nil
}
