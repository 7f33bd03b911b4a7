package puretemplate

import (
	"slices"
	"strings"

	"collie/internal/sorting"
)

// This file lists the functions that a pure template may call.

// Function is a function that a pure template may call. It reads only its arguments, the clock or random numbers, and
// does not change its arguments.
type Function struct {
	Name string
	// Min and Max bound the number of arguments; Max -1 means any number.
	Min, Max int
	// Counts are the indices of arguments that decide how much the function produces. They must be numbers of at most
	// maxCount in the template's text, or variables that never have another value.
	Counts []int

	shape boundFunc
}

// Functions returns all functions of pure templates by name. The caller may change the slice.
func Functions() []Function {
	out := slices.Clone(functionTable)
	sorting.By(out, func(a, b Function) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// byName returns the function with that name.
func byName(name string) (Function, bool) {
	i := slices.IndexFunc(functionTable, func(f Function) bool { return f.Name == name })
	if i < 0 {
		return Function{}, false
	}
	return functionTable[i], true
}

// Left out on purpose, besides functions that read notes (queryBlocks, querySpans, querySQL, getBlock, getHPathByID,
// statBlock): functions that read the machine (env, expandenv, getHostByName, osBase and the like, dateInZone, which
// reads time zone files); that are expensive by design (genPrivateKey, derivePassword, bcrypt, htpasswd); that change
// a dict, which could then contain itself (set, unset, merge); that return values with methods (semver); call, which
// calls any other function; Sprig's variants that fail instead of returning a default (mustX); and regular expressions
// that replace, whose result has no known bound.
var functionTable = slices.Concat(
	// Conditions.
	functionsOf(2, 2, boolBound, "ne", "lt", "le", "gt", "ge"),
	functionsOf(2, -1, boolBound, "eq"),
	functionsOf(1, 1, boolBound, "not"),
	functionsOf(1, -1, eitherBound, "and", "or"),
	functionsOf(2, 2, eitherBound, "default"),
	functionsOf(1, -1, eitherBound, "coalesce"),
	functionsOf(3, 3, eitherBound, "ternary"),
	functionsOf(1, 1, boolBound, "empty", "isAbs"),
	functionsOf(1, -1, boolBound, "all", "any"),
	functionsOf(2, 2, boolBound, "kindIs", "typeIs", "typeIsLike", "deepEqual"),
	functionsOf(1, 1, shortBound, "kindOf", "typeOf"),

	// Texts.
	functionsOf(0, -1, grownBound(2), "print", "println"),
	functionsOf(1, -1, printfBound, "printf"),
	functionsOf(0, -1, grownBound(6), "html", "js", "urlquery"),
	functionsOf(1, 1, countBound, "len"),
	functionsOf(1, 1, grownBound(3), "upper", "lower", "title", "untitle", "swapcase", "snakecase", "camelcase", "kebabcase"),
	functionsOf(1, 1, grownBound(1), "trim", "nospace", "initials", "shuffle", "base", "dir", "ext", "clean", "toString"),
	functionsOf(2, 2, grownBound(1), "trimAll", "trimSuffix", "trimPrefix", "trunc"),
	functionsOf(2, 2, boolBound, "contains", "hasPrefix", "hasSuffix"),
	functionsOf(2, 2, matchBound(boolBound), "regexMatch"),
	functionsOf(2, 2, matchBound(grownBound(1)), "regexFind"),
	functionsOf(2, 2, grownBound(1), "abbrev"),
	functionsOf(3, 3, grownBound(1), "abbrevboth", "substr", "plural"),
	functionsOf(0, -1, grownBound(6), "quote", "squote"),
	functionsOf(0, -1, grownBound(2), "cat"),
	functionsOf(3, 3, replaceBound, "replace"),
	functionsOf(2, 2, grownBound(2), "wrap"),
	withCounts(functionsOf(2, 2, repeatBound, "repeat", "indent", "nindent"), 0),
	withCounts(functionsOf(1, 1, randomBound, "randAlphaNum", "randAlpha", "randNumeric", "randAscii"), 0),
	functionsOf(0, 0, shortBound, "uuidv4"),
	functionsOf(1, 1, grownBound(2), "b64enc", "b64dec", "b32enc", "b32dec"),
	functionsOf(1, 1, digestBound, "sha1sum", "sha256sum", "sha512sum", "adler32sum"),
	functionsOf(1, 1, grownBound(8), "toJson", "toRawJson"),
	functionsOf(1, 1, countBound, "runeCount", "wordCount"),

	// Numbers.
	functionsOf(0, -1, countBound, "add", "addf"),
	functionsOf(1, -1, countBound, "mul", "mulf", "max", "min", "maxf", "minf", "biggest"),
	functionsOf(2, -1, countBound, "subf", "divf"),
	functionsOf(2, 2, countBound, "sub", "div", "mod", "randInt"),
	functionsOf(1, 1, countBound, "add1", "add1f", "floor", "ceil", "int", "int64", "float64", "atoi", "toDecimal"),
	functionsOf(2, 3, countBound, "round"),
	functionsOf(2, 2, countBound, "pow", "powf", "log", "logf"),
	functionsOf(2, 2, shortBound, "FormatFloat"),

	// Dates.
	functionsOf(0, 0, nowBound, "now"),
	functionsOf(2, 2, layoutBound, "date"),
	functionsOf(1, 1, shortBound, "htmlDate", "unixEpoch", "ago", "duration", "durationRound"),
	functionsOf(2, 2, nowBound, "dateModify", "date_modify", "toDate"),
	functionsOf(1, 1, nowBound, "parseTime"),
	functionsOf(1, 1, shortBound, "Weekday", "WeekdayCN", "WeekdayCN2", "ISOWeek", "ISOMonth", "ISOYear"),
	functionsOf(2, 2, nowBound, "ISOWeekDate"),

	// Lists.
	functionsOf(0, -1, listBound, "list", "tuple"),
	functionsOf(0, -1, dictBound, "dict"),
	functionsOf(2, 2, elementBound, "get"),
	functionsOf(2, -1, elementBound, "index"),
	functionsOf(1, 4, partBound, "slice"),
	functionsOf(2, 2, boolBound, "has", "hasKey"),
	functionsOf(1, 1, elementBound, "first", "last"),
	functionsOf(1, 1, partBound, "rest", "initial", "reverse", "compact", "sortAlpha", "toStrings"),
	functionsOf(2, 2, appendBound, "append", "prepend"),
	functionsOf(0, -1, concatBound, "concat"),
	functionsOf(2, 2, joinBound, "join"),
	functionsOf(2, 2, splitBound, "splitList"),
	functionsOf(1, -1, keysBound, "keys"),
	functionsOf(1, 1, partBound, "values"),
	withCounts(functionsOf(1, 1, numbersBound, "until"), 0),
	withCounts(functionsOf(3, 3, numbersBound, "untilStep"), 0, 1, 2),
	withCounts(functionsOf(0, 3, numbersBound, "seq"), 0, 1, 2),
)

func functionsOf(minArgs, maxArgs int, s boundFunc, names ...string) []Function {
	out := make([]Function, len(names))
	for i, name := range names {
		out[i] = Function{Name: name, Min: minArgs, Max: maxArgs, shape: s}
	}
	return out
}

// withCounts returns functions with those arguments as their Counts.
func withCounts(functions []Function, arguments ...int) []Function {
	for i := range functions {
		functions[i].Counts = arguments
	}
	return functions
}

// methods are the allowed methods of values that functions return, times and durations, by name. Methods of other
// values are refused.
var methods = map[string]struct {
	maxArgs int // the exact number of arguments
	shape   boundFunc
}{
	"Format": {1, layoutBound}, "String": {0, shortBound}, "Year": {0, countBound}, "Month": {0, constantBound}, "Day": {0, countBound}, "Weekday": {0, constantBound},
	"YearDay": {0, countBound}, "Hour": {0, countBound}, "Minute": {0, countBound}, "Second": {0, countBound}, "Unix": {0, countBound}, "UnixMilli": {0, countBound},
	"AddDate": {3, nowBound}, "Add": {1, nowBound}, "Sub": {1, durationBound}, "Before": {1, boolBound}, "After": {1, boolBound}, "Equal": {1, boolBound}, "Compare": {1, countBound},
	"IsZero": {0, boolBound}, "Hours": {0, countBound}, "Minutes": {0, countBound}, "Seconds": {0, countBound}, "Milliseconds": {0, countBound},
	"Local": {0, nowBound}, "UTC": {0, nowBound}, "Truncate": {1, nowBound}, "Round": {1, nowBound},
}

// fields are the fields that template files get.
var fields = []string{"title", "id", "name", "alias"}
