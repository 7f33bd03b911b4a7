package puretemplate

import (
	"slices"
	"strings"

	"collie/internal/sorting"
)

// Function is a function that a pure template may call. It reads only its arguments, the clock or random numbers, and
// does not change its arguments.
type Function struct {
	Name string
	// Min and Max bound the number of arguments; Max -1 means any number.
	Min, Max int
	// Counts are the indices of arguments that decide how much the function produces. They must be numbers of at most
	// maxCount in the template's text, or variables that never have another value.
	Counts []int

	shape shape
}

// Functions returns all functions of pure templates by name. The caller may change the slice.
func Functions() []Function {
	out := slices.Clone(table)
	sorting.By(out, func(a, b Function) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// byName returns the function with that name.
func byName(name string) (Function, bool) {
	i := slices.IndexFunc(table, func(f Function) bool { return f.Name == name })
	if i < 0 {
		return Function{}, false
	}
	return table[i], true
}

// Left out on purpose, besides functions that read notes (queryBlocks, querySpans, querySQL, getBlock, getHPathByID,
// statBlock): functions that read the machine (env, expandenv, getHostByName, osBase and the like, dateInZone, which
// reads time zone files); that are expensive by design (genPrivateKey, derivePassword, bcrypt, htpasswd); that change
// a dict, which could then contain itself (set, unset, merge); that return values with methods (semver); that call
// others (call, mustX); and regular expressions that replace, whose result has no known bound.
var table = slices.Concat(
	// Conditions.
	group(2, 2, yes, "ne", "lt", "le", "gt", "ge"),
	group(2, -1, yes, "eq"),
	group(1, 1, yes, "not"),
	group(1, -1, either, "and", "or"),
	group(2, 2, either, "default"),
	group(1, -1, either, "coalesce"),
	group(3, 3, either, "ternary"),
	group(1, 1, yes, "empty", "isAbs"),
	group(1, -1, yes, "all", "any"),
	group(2, 2, yes, "kindIs", "typeIs", "typeIsLike", "deepEqual"),
	group(1, 1, short, "kindOf", "typeOf"),

	// Texts.
	group(0, -1, grown(2), "print", "println"),
	group(1, -1, formatted, "printf"),
	group(0, -1, grown(6), "html", "js", "urlquery"),
	group(1, 1, count, "len"),
	group(1, 1, grown(3), "upper", "lower", "title", "untitle", "swapcase", "snakecase", "camelcase", "kebabcase"),
	group(1, 1, grown(1), "trim", "nospace", "initials", "shuffle", "base", "dir", "ext", "clean", "toString"),
	group(2, 2, grown(1), "trimAll", "trimSuffix", "trimPrefix", "trunc"),
	group(2, 2, yes, "contains", "hasPrefix", "hasSuffix", "regexMatch"),
	group(2, 2, grown(1), "abbrev", "regexFind"),
	group(3, 3, grown(1), "abbrevboth", "substr", "plural"),
	group(0, -1, grown(6), "quote", "squote"),
	group(0, -1, grown(2), "cat"),
	group(3, 3, replaced, "replace"),
	group(2, 2, grown(2), "wrap"),
	counting(group(2, 2, repeated, "repeat", "indent", "nindent"), 0),
	counting(group(1, 1, random, "randAlphaNum", "randAlpha", "randNumeric", "randAscii"), 0),
	group(0, 0, short, "uuidv4"),
	group(1, 1, grown(2), "b64enc", "b64dec", "b32enc", "b32dec"),
	group(1, 1, digest, "sha1sum", "sha256sum", "sha512sum", "adler32sum"),
	group(1, 1, grown(8), "toJson", "toRawJson"),
	group(1, 1, count, "runeCount", "wordCount"),

	// Numbers.
	group(0, -1, count, "add", "addf"),
	group(1, -1, count, "mul", "mulf", "max", "min", "maxf", "minf", "biggest"),
	group(2, -1, count, "subf", "divf"),
	group(2, 2, count, "sub", "div", "mod", "randInt"),
	group(1, 1, count, "add1", "add1f", "floor", "ceil", "int", "int64", "float64", "atoi", "toDecimal"),
	group(2, 3, count, "round"),
	group(2, 2, count, "pow", "powf", "log", "logf"),
	group(2, 2, short, "FormatFloat"),

	// Dates.
	group(0, 0, now, "now"),
	group(2, 2, layout, "date"),
	group(1, 1, short, "htmlDate", "unixEpoch", "ago", "duration", "durationRound"),
	group(2, 2, now, "dateModify", "date_modify", "toDate"),
	group(1, 1, now, "parseTime"),
	group(1, 1, short, "Weekday", "WeekdayCN", "WeekdayCN2", "ISOWeek", "ISOMonth", "ISOYear"),
	group(2, 2, now, "ISOWeekDate"),

	// Lists.
	group(0, -1, gathered, "list", "tuple"),
	group(0, -1, named, "dict"),
	group(2, 2, picked, "get"),
	group(2, -1, picked, "index"),
	group(1, 4, part, "slice"),
	group(2, 2, yes, "has", "hasKey"),
	group(1, 1, picked, "first", "last"),
	group(1, 1, part, "rest", "initial", "reverse", "compact", "sortAlpha", "toStrings"),
	group(2, 2, added, "append", "prepend"),
	group(0, -1, concatenated, "concat"),
	group(2, 2, joined, "join"),
	group(2, 2, split, "splitList"),
	group(1, -1, keys, "keys"),
	group(1, 1, part, "values"),
	counting(group(1, 1, numbers, "until"), 0),
	counting(group(3, 3, numbers, "untilStep"), 0, 1, 2),
	counting(group(0, 3, numbers, "seq"), 0, 1, 2),
)

func group(least, most int, s shape, names ...string) []Function {
	out := make([]Function, len(names))
	for i, name := range names {
		out[i] = Function{Name: name, Min: least, Max: most, shape: s}
	}
	return out
}

// counting returns functions with those arguments as their Counts.
func counting(functions []Function, arguments ...int) []Function {
	for i := range functions {
		functions[i].Counts = arguments
	}
	return functions
}

// methods are the allowed methods of values that functions return, times and durations, by name. Methods of other
// values are refused.
var methods = map[string]struct {
	most  int // arguments
	shape shape
}{
	"Format": {1, layout}, "String": {0, short}, "Year": {0, count}, "Month": {0, constant}, "Day": {0, count}, "Weekday": {0, constant},
	"YearDay": {0, count}, "Hour": {0, count}, "Minute": {0, count}, "Second": {0, count}, "Unix": {0, count}, "UnixMilli": {0, count},
	"AddDate": {3, now}, "Add": {1, now}, "Sub": {1, lasts}, "Before": {1, yes}, "After": {1, yes}, "Equal": {1, yes}, "Compare": {1, count},
	"IsZero": {0, yes}, "Hours": {0, count}, "Minutes": {0, count}, "Seconds": {0, count}, "Milliseconds": {0, count},
	"Local": {0, now}, "UTC": {0, now}, "Truncate": {1, now}, "Round": {1, now},
}

// fields are the fields that template files get.
var fields = []string{"title", "id", "name", "alias"}
