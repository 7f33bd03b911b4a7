package sqlguard

import (
	"fmt"
	"regexp"
	"strings"

	"zombiezen.com/go/sqlite"
)

// maxPattern bounds a regular expression, in bytes.
const maxPattern = 4 << 10

// Prepare adds to a connection what SiYuan's SQL has and SQLite's lacks: the operator REGEXP, with the syntax of Go's
// package regexp. Call it once for each connection.
//
// An invalid pattern matches nothing, since the library cannot return an error from a function. If the pattern is a
// string in the statement, badPattern refuses it beforehand.
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
					return sqlite.Value{}, nil //nolint:nilerr // NULL, as the kernel answers
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

// badPatternError returns the error of an invalid regular expression that is a string in the statement, nil if there is
// none. tokens have no blanks.
func badPatternError(tokens []token) error {
	isOperand := false
	for _, t := range tokens {
		if isOperand && t.kind == text && t.raw[0] == '\'' {
			pattern := strings.ReplaceAll(strings.Trim(t.raw, "'"), "''", "'")
			if _, err := compilePattern(pattern); err != nil {
				return &Error{Message: err.Error()}
			}
		}
		isOperand = t.is("regexp")
	}
	return nil
}
