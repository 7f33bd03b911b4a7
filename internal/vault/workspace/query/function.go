package query

import (
	"fmt"
	"regexp"
	"strings"

	"zombiezen.com/go/sqlite"
)

// functions are those a statement may call, and the tables that are functions. What makes large values of small ones,
// runs SQL of its own, reads files or loads code is not among them, and nor is what nobody knows yet. Aggregates that
// hold all they have seen, whatever the limit of a value, are missing for the same reason: json_group_array,
// json_group_object, median, percentile.
var functions = setOf(`
	abs char coalesce concat concat_ws format glob hex if ifnull iif instr length like likelihood likely lower ltrim max
	min nullif octet_length printf quote random regexp replace round rtrim sign soundex sqlite_version substr substring
	trim typeof unhex unicode unistr unlikely upper
	avg count group_concat string_agg sum total
	cume_dist dense_rank first_value lag last_value lead nth_value ntile percent_rank rank row_number
	current_date current_time current_timestamp date datetime julianday strftime time timediff unixepoch
	json json_array json_array_insert json_array_length json_each json_error_position json_extract json_insert json_object
	json_patch json_pretty json_quote json_remove json_replace json_set
	json_tree json_type json_valid
	acos acosh asin asinh atan atan2 atanh ceil ceiling cos cosh degrees exp floor ln log log10 log2 mod pi pow power
	radians sin sinh sqrt tan tanh trunc
	bm25 highlight snippet match pragma_table_info`)

// beforeBracket are the keywords that may stand before a bracket that is not a call.
var beforeBracket = setOf(`
	all and as between by case cast check collate distinct else end escape except exists filter from glob group having in
	intersect is isnull join like limit match materialized not notnull null offset on or order over partition regexp
	returning rows select then union using values when where window with`)

func setOf(list string) map[string]bool {
	set := map[string]bool{}
	for name := range strings.FieldsSeq(list) {
		set[name] = true
	}
	return set
}

// unknownCall is the name of a function a statement calls that it may not, "" if there is none. It looks at names
// before an opening bracket; SQLite's authorizer, as the library hands it on, does not name functions.
func unknownCall(statement string) string {
	var solid []token
	for _, t := range lex(statement) {
		if t.kind != space {
			solid = append(solid, t)
		}
	}
	for i, t := range solid {
		name := t.name()
		if name == "" || i+1 == len(solid) || !solid[i+1].is("(") || functions[name] {
			continue
		}
		if t.kind == word && beforeBracket[name] || names(solid, i) {
			continue
		}
		return name
	}
	return ""
}

// names reports whether the token at i gives a name to an expression of WITH: name (columns) AS [[NOT] MATERIALIZED] (.
// It cannot be a call, since SQL knows no call that goes on so. A name of a window before its definition, WINDOW name AS
// (, is followed by no bracket at all.
func names(tokens []token, i int) bool {
	rest := tokens[i+1:]
	skip := func(text string) bool {
		if len(rest) > 0 && rest[0].is(text) {
			rest = rest[1:]
			return true
		}
		return false
	}
	if i == 0 || !tokens[i-1].is("with") && !tokens[i-1].is("recursive") && !tokens[i-1].is(",") || !skip("(") {
		return false
	}
	for len(rest) > 0 && (rest[0].name() != "" || rest[0].is(",")) {
		rest = rest[1:]
	}
	if !skip(")") || !skip("as") {
		return false
	}
	if skip("not") && !skip("materialized") {
		return false
	}
	skip("materialized")
	return skip("(")
}

// maxPattern is the longest regular expression, in bytes.
const maxPattern = 4 << 10

// Prepare gives a connection what SiYuan's SQL has beside SQLite's: the operator REGEXP, with the syntax of Go's
// package regexp. It is called once for each connection.
//
// A pattern that is none matches nothing. One that stands in the statement as a text is refused before, see badPattern;
// the library has no way to return an error from a function.
func Prepare(conn *sqlite.Conn) error {
	return conn.CreateFunction("regexp", &sqlite.FunctionImpl{
		NArgs: 2, Deterministic: true, AllowIndirect: true,
		Scalar: func(ctx sqlite.Context, args []sqlite.Value) (sqlite.Value, error) {
			if args[0].Type() == sqlite.TypeNull || args[1].Type() == sqlite.TypeNull {
				return sqlite.Value{}, nil
			}
			pattern, _ := ctx.AuxData(0).(*regexp.Regexp)
			if pattern == nil {
				var err error
				if pattern, err = compilePattern(args[0].Text()); err != nil {
					return sqlite.Value{}, nil
				}
				ctx.SetAuxData(0, pattern)
			}
			if pattern.MatchString(args[1].Text()) {
				return sqlite.IntegerValue(1), nil
			}
			return sqlite.IntegerValue(0), nil
		},
	})
}

func compilePattern(text string) (*regexp.Regexp, error) {
	if len(text) > maxPattern {
		return nil, fmt.Errorf("the regular expression has %d bytes, more than %d", len(text), maxPattern)
	}
	return regexp.Compile(text)
}

// badPattern is the error of a regular expression in a statement, as far as it is written there as a text.
func badPattern(statement string) error {
	isOperand := false
	for _, t := range lex(statement) {
		switch {
		case t.kind == space:
			continue
		case isOperand && t.raw[0] == '\'':
			text := strings.ReplaceAll(strings.Trim(t.raw, "'"), "''", "'")
			if _, err := compilePattern(text); err != nil {
				return &Error{Message: err.Error()}
			}
		}
		isOperand = t.is("regexp")
	}
	return nil
}
