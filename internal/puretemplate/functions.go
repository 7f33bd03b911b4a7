package puretemplate

import (
	"slices"
	"strings"

	"collie/internal/sorting"
)

// Group is what the functions of a template are about.
type Group string

// The groups of functions.
const (
	OfText   Group = "text"
	OfNumber Group = "numbers"
	OfDate   Group = "dates"
	OfList   Group = "lists"
	OfLogic  Group = "conditions"
)

// Function is one that a pure template may call. None of them reads anything but its arguments, the clock or a source
// of random numbers, and none changes its arguments.
type Function struct {
	Name  string
	Group Group
	// Min and Max are how many arguments it takes; Max is -1 where there may be any number.
	Min, Max int
	// Source is whose documentation describes it: "go" for text/template, "sprig", "siyuan".
	Source string
	// Counts are the arguments, from 0, that decide how much it makes. They must be numbers that stand in the template,
	// or variables that are never anything else, of at most [MaxCount].
	Counts []int

	shape shape
}

// Functions are all functions of pure templates by name. The slice is the caller's.
func Functions() []Function {
	out := slices.Clone(table)
	sorting.By(out, func(a, b Function) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// byName is the table by name.
func byName(name string) (Function, bool) {
	i := slices.IndexFunc(table, func(f Function) bool { return f.Name == name })
	if i < 0 {
		return Function{}, false
	}
	return table[i], true
}

// Left out on purpose, beside what reads notes (queryBlocks, querySpans, querySQL, getBlock, getHPathByID, statBlock):
// what reads the machine (env, expandenv, getHostByName, osBase and its like, dateInZone, which reads files of zones);
// what is much work by design (genPrivateKey, derivePassword, bcrypt, htpasswd); what changes a dict, which could hold
// itself then (set, unset, merge); what gives values with methods (semver); what calls (call, mustX); and regular
// expressions that write, whose size cannot be told.
var table = slices.Concat(
	// Conditions.
	group(OfLogic, "go", 2, 2, yes, "ne", "lt", "le", "gt", "ge"),
	group(OfLogic, "go", 2, -1, yes, "eq"),
	group(OfLogic, "go", 1, 1, yes, "not"),
	group(OfLogic, "go", 1, -1, either, "and", "or"),
	group(OfLogic, "sprig", 2, 2, either, "default"),
	group(OfLogic, "sprig", 1, -1, either, "coalesce"),
	group(OfLogic, "sprig", 3, 3, either, "ternary"),
	group(OfLogic, "sprig", 1, 1, yes, "empty", "isAbs"),
	group(OfLogic, "sprig", 1, -1, yes, "all", "any"),
	group(OfLogic, "sprig", 2, 2, yes, "kindIs", "typeIs", "typeIsLike", "deepEqual"),
	group(OfLogic, "sprig", 1, 1, short, "kindOf", "typeOf"),

	// Texts.
	group(OfText, "go", 0, -1, grown(2), "print", "println"),
	group(OfText, "go", 1, -1, formatted, "printf"),
	group(OfText, "go", 0, -1, grown(6), "html", "js", "urlquery"),
	group(OfText, "go", 1, 1, count, "len"),
	group(OfText, "sprig", 1, 1, grown(3), "upper", "lower", "title", "untitle", "swapcase", "snakecase", "camelcase", "kebabcase"),
	group(OfText, "sprig", 1, 1, grown(1), "trim", "nospace", "initials", "shuffle", "base", "dir", "ext", "clean", "toString"),
	group(OfText, "sprig", 2, 2, grown(1), "trimAll", "trimSuffix", "trimPrefix", "trunc"),
	group(OfText, "sprig", 2, 2, yes, "contains", "hasPrefix", "hasSuffix", "regexMatch"),
	group(OfText, "sprig", 2, 2, grown(1), "abbrev", "regexFind"),
	group(OfText, "sprig", 3, 3, grown(1), "abbrevboth", "substr", "plural"),
	group(OfText, "sprig", 0, -1, grown(6), "quote", "squote"),
	group(OfText, "sprig", 0, -1, grown(2), "cat"),
	group(OfText, "sprig", 3, 3, replaced, "replace"),
	group(OfText, "sprig", 2, 2, grown(2), "wrap"),
	counting(group(OfText, "sprig", 2, 2, repeated, "repeat", "indent", "nindent"), 0),
	counting(group(OfText, "sprig", 1, 1, random, "randAlphaNum", "randAlpha", "randNumeric", "randAscii"), 0),
	group(OfText, "sprig", 0, 0, short, "uuidv4"),
	group(OfText, "sprig", 1, 1, grown(2), "b64enc", "b64dec", "b32enc", "b32dec"),
	group(OfText, "sprig", 1, 1, digest, "sha1sum", "sha256sum", "sha512sum", "adler32sum"),
	group(OfText, "sprig", 1, 1, grown(8), "toJson", "toRawJson"),
	group(OfText, "siyuan", 1, 1, count, "runeCount", "wordCount"),

	// Numbers.
	group(OfNumber, "sprig", 0, -1, count, "add", "addf"),
	group(OfNumber, "sprig", 1, -1, count, "mul", "mulf", "max", "min", "maxf", "minf", "biggest"),
	group(OfNumber, "sprig", 2, -1, count, "subf", "divf"),
	group(OfNumber, "sprig", 2, 2, count, "sub", "div", "mod", "randInt"),
	group(OfNumber, "sprig", 1, 1, count, "add1", "add1f", "floor", "ceil", "int", "int64", "float64", "atoi", "toDecimal"),
	group(OfNumber, "sprig", 2, 3, count, "round"),
	group(OfNumber, "siyuan", 2, 2, count, "pow", "powf", "log", "logf"),
	group(OfNumber, "siyuan", 2, 2, short, "FormatFloat"),

	// Dates.
	group(OfDate, "sprig", 0, 0, now, "now"),
	group(OfDate, "sprig", 2, 2, layout, "date"),
	group(OfDate, "sprig", 1, 1, short, "htmlDate", "unixEpoch", "ago", "duration", "durationRound"),
	group(OfDate, "sprig", 2, 2, now, "dateModify", "date_modify", "toDate"),
	group(OfDate, "siyuan", 1, 1, now, "parseTime"),
	group(OfDate, "siyuan", 1, 1, short, "Weekday", "WeekdayCN", "WeekdayCN2", "ISOWeek", "ISOMonth", "ISOYear"),
	group(OfDate, "siyuan", 2, 2, now, "ISOWeekDate"),

	// Lists.
	group(OfList, "sprig", 0, -1, gathered, "list", "tuple"),
	group(OfList, "sprig", 0, -1, named, "dict"),
	group(OfList, "sprig", 2, 2, picked, "get"),
	group(OfList, "go", 2, -1, picked, "index"),
	group(OfList, "go", 1, 4, part, "slice"),
	group(OfList, "sprig", 2, 2, yes, "has", "hasKey"),
	group(OfList, "sprig", 1, 1, picked, "first", "last"),
	group(OfList, "sprig", 1, 1, part, "rest", "initial", "reverse", "compact", "sortAlpha", "toStrings"),
	group(OfList, "sprig", 2, 2, added, "append", "prepend"),
	group(OfList, "sprig", 0, -1, concatenated, "concat"),
	group(OfList, "sprig", 2, 2, joined, "join"),
	group(OfList, "sprig", 2, 2, split, "splitList"),
	group(OfList, "sprig", 1, -1, keys, "keys"),
	group(OfList, "sprig", 1, 1, part, "values"),
	counting(group(OfList, "sprig", 1, 1, numbers, "until"), 0),
	counting(group(OfList, "sprig", 3, 3, numbers, "untilStep"), 0, 1, 2),
	counting(group(OfList, "sprig", 0, 3, numbers, "seq"), 0, 1, 2),
)

func group(g Group, source string, least, most int, s shape, names ...string) []Function {
	out := make([]Function, len(names))
	for i, name := range names {
		out[i] = Function{Name: name, Group: g, Min: least, Max: most, Source: source, shape: s}
	}
	return out
}

// counting says which arguments of functions decide how much they make.
func counting(functions []Function, arguments ...int) []Function {
	for i := range functions {
		functions[i].Counts = arguments
	}
	return functions
}

// methods are those of the values that functions give, times and durations, by name. Those of other values are refused.
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

// fields are what template files are given.
var fields = []string{"title", "id", "name", "alias"}
