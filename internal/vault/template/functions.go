package template

import (
	"fmt"
	"regexp"
	"strings"
	"text/template"
	"time"
)

// functions is all a template can call. Those of text/template that make texts are replaced by ones that count. What
// remains of its own (and, or, not, len, index, slice, eq, ne, lt, le, gt, ge) makes nothing.
func functions(b *budget, query func(string) ([]map[string]any, error)) template.FuncMap {
	return template.FuncMap{
		"step":    b.step,
		"now":     func() moment { return moment{time.Now(), b} },
		"date":    func(layout string, at moment) (string, error) { return at.Format(layout) },
		"upper":   func(s string) (string, error) { return strings.ToUpper(s), b.make(2 * len(s)) },
		"lower":   func(s string) (string, error) { return strings.ToLower(s), b.make(2 * len(s)) },
		"add":     add,
		"list":    list,
		"until":   func(n int) ([]int, error) { return until(b, n) },
		"join":    func(by string, items []any) (string, error) { return join(b, by, items) },
		"print":   func(v ...any) (string, error) { return counted(b, 1, fmt.Sprint, v) },
		"println": func(v ...any) (string, error) { return counted(b, 1, fmt.Sprintln, v) },
		"printf":  func(format string, v ...any) (string, error) { return printf(b, format, v) },
		"html":    func(v ...any) (string, error) { return counted(b, 6, template.HTMLEscaper, v) },
		"js":      func(v ...any) (string, error) { return counted(b, 6, template.JSEscaper, v) },
		"urlquery": func(v ...any) (string, error) {
			return counted(b, 3, template.URLQueryEscaper, v)
		},
		"call": func(...any) (string, error) { return "", fmt.Errorf("there is nothing to call") },
		"queryBlocks": func(statement string, args ...string) ([]map[string]any, error) {
			return queryBlocks(b, query, statement, args)
		},
	}
}

// counted makes a text that is at most factor times as long as its parts.
func counted(b *budget, factor int, text func(...any) string, v []any) (string, error) {
	if err := b.make(factor * (weight(v...) + len(v))); err != nil {
		return "", err
	}
	return text(v...), nil
}

// wide matches widths and precisions of more than three digits and those taken from an argument.
var wide = regexp.MustCompile(`[0-9]{4,}|\*`)

func printf(b *budget, format string, v []any) (string, error) {
	if wide.MatchString(format) {
		return "", fmt.Errorf("printf takes no width above 999 and no *")
	}
	// A verb with an index may name the same argument again and again.
	verbs := 1 + strings.Count(format, "%")
	if err := b.make(len(format) + verbs*(1000+6*weight(v...))); err != nil {
		return "", err
	}
	return fmt.Sprintf(format, v...), nil
}

func add(numbers ...int) int {
	sum := 0
	for _, n := range numbers {
		sum += n
	}
	return sum
}

// list makes a list of single values: lists in lists could grow without being long.
func list(items ...any) ([]any, error) {
	for _, item := range items {
		switch item.(type) {
		case nil, string, bool, int, int64, float64, moment:
		default:
			return nil, fmt.Errorf("list takes texts, numbers and times, not %T", item)
		}
	}
	return items, nil
}

func until(b *budget, n int) ([]int, error) {
	n = max(n, 0)
	if _, err := b.step(n); err != nil {
		return nil, err
	}
	numbers := make([]int, n)
	for i := range numbers {
		numbers[i] = i
	}
	return numbers, nil
}

func join(b *budget, by string, items []any) (string, error) {
	if err := b.make(weight(items...) + len(items)*len(by)); err != nil {
		return "", err
	}
	texts := make([]string, len(items))
	for i, item := range items {
		texts[i] = fmt.Sprint(item)
	}
	return strings.Join(texts, by), nil
}

// queryBlocks puts args in place of the question marks of a statement, as texts that cannot end the quotes around
// them, and asks for blocks.
func queryBlocks(b *budget, query func(string) ([]map[string]any, error), statement string, args []string) ([]map[string]any, error) {
	if b.queries++; b.queries > maxQueries {
		return nil, errQueries
	}
	var filled strings.Builder
	for _, arg := range args {
		before, after, found := strings.Cut(statement, "?")
		if !found {
			break
		}
		filled.WriteString(before + strings.ReplaceAll(arg, "'", "''"))
		statement = after
	}
	filled.WriteString(statement)
	if err := b.make(filled.Len()); err != nil || query == nil {
		return nil, err
	}
	rows, err := query(filled.String())
	if err != nil {
		return nil, err
	}
	return rows, b.make(weight(rows))
}
