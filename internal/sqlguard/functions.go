package sqlguard

import (
	"strings"

	"zombiezen.com/go/sqlite"
)

// This file lists the SQL functions that a statement may call.

// policy has the lists by which the names in a statement are checked.
type policy struct {
	functions map[string]bool // functions that may be called, and table-valued functions
	keywords  map[string]bool // keywords that may stand before a bracket without being a call
	// markIsLetter makes a byte order mark part of a name. SQLite takes one between two tokens for a blank.
	markIsLetter bool
}

// The lists have no functions that make large values from small ones, read files, run SQL or load code, and no unknown
// functions.
var (
	// kernelPolicy is for statements sent to a kernel. It lacks functions that a kernel may not know, and printf,
	// since a kernel does not limit the length of a value.
	kernelPolicy = &policy{
		functions: setOf(commonFunctions + "json_group_array json_group_object median"),
		keywords:  setOf(allowedKeywords),
	}
	// vaultPolicy is for statements that run in this process. It lacks aggregates that collect all values, since no
	// limit on a single value bounds them: json_group_array, json_group_object, median, percentile.
	vaultPolicy = &policy{
		functions: setOf(commonFunctions + `
			format json_array_insert json_insert printf soundex sqlite_version unistr acosh asinh atanh cosh sinh tanh
			current_date current_time current_timestamp pragma_table_info`),
		keywords:     setOf(allowedKeywords + "check null returning rows"),
		markIsLetter: true,
	}
)

const commonFunctions = `
	abs char coalesce concat concat_ws glob hex if ifnull iif instr length like likelihood likely lower ltrim max min nullif
	octet_length quote random regexp replace round rtrim sign substr substring trim typeof unhex unicode unlikely upper
	avg count group_concat string_agg sum total
	cume_dist dense_rank first_value lag last_value lead nth_value ntile percent_rank rank row_number
	date datetime julianday strftime time timediff unixepoch
	json json_array json_array_length json_each json_error_position json_extract
	json_object json_patch json_pretty json_quote json_remove json_replace json_set json_tree json_type json_valid
	acos asin atan atan2 ceil ceiling cos degrees exp floor ln log log10 log2 mod pi pow power radians sin sqrt tan trunc
	bm25 highlight snippet match `

const allowedKeywords = `
	all and as between by case cast collate distinct else end escape except exists filter from glob group having in
	intersect is isnull join like limit match materialized not notnull offset on or order over partition regexp select
	then union using values when where window with `

// tableFunctions are the table-valued functions that return only values from their arguments.
var tableFunctions = setOf("json_each json_tree")

func setOf(list string) map[string]bool {
	set := map[string]bool{}
	for name := range strings.FieldsSeq(list) {
		set[name] = true
	}
	return set
}

// unknownCall reports whether the token at i is called as a function that is not allowed. The check is needed since the
// library's authorizer does not get the names of functions.
func (p *policy) unknownCall(tokens []token, i int) bool {
	t := tokens[i]
	if name := t.name(); name == "" || p.functions[name] || t.kind == word && p.keywords[name] {
		return false
	}
	return i+1 < len(tokens) && tokens[i+1].is("(") && !isCTEName(tokens, i)
}

// isCTEName reports whether the token at i is the name of a common table expression: name [(columns)] AS [[NOT]
// MATERIALIZED] (. No function call has that form. tokens have no blanks.
func isCTEName(tokens []token, i int) bool {
	if i == 0 || !tokens[i-1].is("with") && !tokens[i-1].is("recursive") && !tokens[i-1].is(",") {
		return false
	}
	remaining := tokens[i+1:]
	skip := func(s string) bool {
		if len(remaining) > 0 && remaining[0].is(s) {
			remaining = remaining[1:]
			return true
		}
		return false
	}
	if skip("(") {
		for len(remaining) > 0 && (remaining[0].isName() || remaining[0].is(",")) {
			remaining = remaining[1:]
		}
		if !skip(")") {
			return false
		}
	}
	if !skip("as") {
		return false
	}
	if skip("not") && !skip("materialized") {
		return false
	}
	skip("materialized")
	return skip("(")
}

// operatorFunctions are functions into which SQLite compiles syntax that is not a call.
var operatorFunctions = setOf("-> ->> current_date current_time current_timestamp")

// checkFunctions refuses a statement for a kernel that calls a function which is not on the list. It inspects the
// compiled program, since the lexer recognizes calls only by the bracket after a name. It does not see functions that
// SQLite compiles into other instructions; these are harmless.
func (s *scratchDB) checkFunctions(sql string) error {
	return s.eachInstruction("EXPLAIN "+sql, func(instruction *sqlite.Stmt) error {
		if name := calledFunction(instruction); name != "" && !kernelPolicy.functions[name] && !operatorFunctions[name] {
			return refuseFunction(name)
		}
		return nil
	})
}

// eachInstruction calls f for each line of SQLite's explanation of a statement, until f returns an error.
func (s *scratchDB) eachInstruction(sql string, f func(*sqlite.Stmt) error) error {
	stmt, err := s.compile(sql)
	if err != nil {
		return refuse(err.Error(), "")
	}
	for {
		row, err := stmt.Step()
		if err == nil && row {
			err = f(stmt)
		}
		if err != nil || !row {
			return joinRefusal(err, stmt.Finalize())
		}
	}
}

// calledFunction returns the name of the function that an instruction calls, "" if it calls none.
func calledFunction(instruction *sqlite.Stmt) string {
	switch instruction.GetText("opcode") {
	case "Function", "PureFunc", "AggStep", "AggStep1", "AggInverse", "AggValue", "AggFinal":
		name, _, _ := strings.Cut(instruction.GetText("p4"), "(")
		return lower(name)
	}
	return ""
}
