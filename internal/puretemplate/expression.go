package puretemplate

import "regexp/syntax"

// MatchWork returns a bound for the steps that a search for a regular expression in a text of length bytes may take, each
// some nanoseconds. A short expression can have many: "(.?){1000}" stands for thousands of instructions, all of which may be
// tried at each character. It is 0 for an invalid expression.
func MatchWork(expression string, length int) int {
	re, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return 0
	}
	return multiplySizes(instructions(re), addSizes(length, 1))
}

// instructions returns about how many instructions a regular expression becomes. It expands nothing, so it is quick.
// The parser bounds how deep expressions are nested.
func instructions(re *syntax.Regexp) int {
	n := 1
	switch re.Op {
	case syntax.OpLiteral:
		n = len(re.Rune)
	case syntax.OpCapture:
		n = 2
	}
	for _, part := range re.Sub {
		n = addSizes(n, instructions(part))
	}
	if re.Op == syntax.OpRepeat {
		n = multiplySizes(n, max(re.Max, re.Min+1))
	}
	return n
}
