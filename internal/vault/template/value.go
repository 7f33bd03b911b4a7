package template

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// This file converts values, and prints them as text/template does.

// anyKind is the letter for an argument of any type.
const anyKind = 'a'

// kinds are the types of arguments by the letters for them in [function].
var kinds = map[byte]string{
	's': "string", 'i': "int", 'f': "float64", 'b': "bool", 't': "time.Time", 'D': "time.Duration",
	'd': "map[string]interface {}", anyKind: "interface {}",
}

// kindOf returns the name of a value's kind. It covers all types that values in templates have.
func kindOf(value any) string {
	switch value.(type) {
	case nil:
		return "invalid"
	case []any, []int, []string:
		return "slice"
	case map[string]any:
		return "map"
	case time.Time:
		return "struct"
	case time.Duration:
		return "int64"
	case time.Month, time.Weekday:
		return "int"
	}
	return fmt.Sprintf("%T", value) // string, int, int64, uint8, float64, bool
}

// integer returns an integer of any type; false for another value.
func integer(value any) (int64, bool) {
	switch v := value.(type) {
	case int:
		return int64(v), true
	case int64:
		return v, true
	case uint8:
		return int64(v), true
	case time.Duration:
		return int64(v), true
	case time.Month:
		return int64(v), true
	case time.Weekday:
		return int64(v), true
	}
	return 0, false
}

// withTypeOf converts n to the type of value.
func withTypeOf(value any, n int64) any {
	switch value.(type) {
	case int64:
		return n
	case uint8:
		return uint8(n)
	case time.Duration:
		return time.Duration(n)
	case time.Month:
		return time.Month(n)
	case time.Weekday:
		return time.Weekday(n)
	}
	return int(n)
}

// fromInt converts an integer constant to a kind.
func fromInt(kind byte, n int64) any {
	if kind == 'D' {
		return time.Duration(n)
	}
	return int(n)
}

// elements returns the elements of a list; false for another value.
func elements(value any) ([]any, bool) {
	switch v := value.(type) {
	case []any:
		return v, true
	case []int:
		return toAny(v), true
	case []string:
		return toAny(v), true
	}
	return nil, false
}

func toAny[T any](list []T) []any {
	out := make([]any, len(list))
	for i, v := range list {
		out[i] = v
	}
	return out
}

// isTrue reports whether a value counts as true in conditions: it is neither zero nor empty.
func isTrue(value any) bool {
	switch v := value.(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		return v != ""
	case float64:
		return v != 0
	case map[string]any:
		return len(v) > 0
	case time.Time:
		return true
	}
	if n, ok := integer(value); ok {
		return n != 0
	}
	list, _ := elements(value)
	return len(list) > 0
}

// formatValue formats a value as an action prints it.
func formatValue(value any) string {
	if value == nil {
		return "<no value>"
	}
	return text(value)
}

// text returns a value as text, for functions that accept any value.
func text(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case int:
		return strconv.Itoa(v)
	}
	return fmt.Sprint(value)
}

// texts returns the elements of a list as texts, without nil ones; any other value is a single element.
func texts(value any) []string {
	out := []string{}
	list, ok := elements(value)
	if !ok {
		list = []any{value}
	}
	for _, v := range list {
		if v != nil || !ok {
			out = append(out, text(v))
		}
	}
	return out
}

// toInt converts a value to an integer; 0 if that is not possible. Texts may have the form of Go numbers. A fraction is
// dropped.
func toInt(value any) int64 {
	if n, ok := integer(value); ok {
		return n
	}
	switch v := value.(type) {
	case float64:
		return truncateFloat(v)
	case bool:
		if v {
			return 1
		}
	case string:
		if before, after, ok := strings.Cut(v, "."); ok && strings.Trim(after, "0123456789") == "" {
			if v = before; strings.Trim(v, "+-") == "" {
				return 0
			}
		}
		if n, err := strconv.ParseInt(v, 0, 64); err == nil {
			return n
		}
	}
	return 0
}

// truncateFloat drops the fraction of a number. A number that is too large becomes the smallest integer on every
// processor, as it does for SiYuan on most.
func truncateFloat(f float64) int64 {
	const limit = 1 << 63
	if f >= -limit && f < limit {
		return int64(f)
	}
	return -limit
}

// toFloat converts a value to a float; 0 if that is not possible.
func toFloat(value any) float64 {
	switch v := value.(type) {
	case float64:
		return v
	case string:
		f, err := strconv.ParseFloat(strings.ReplaceAll(v, "_", ""), 64)
		if err != nil {
			return 0
		}
		return f
	}
	return float64(toInt(value))
}

// comparisonClass returns a name that is the same for values which can be compared with each other, such as all
// integers; "" for values that cannot be compared.
func comparisonClass(value any) string {
	if _, ok := integer(value); ok {
		return "int"
	}
	switch value.(type) {
	case bool, string, float64:
		return kindOf(value)
	}
	return ""
}

var (
	errNoComparison  = errors.New("missing argument for comparison")
	errBadComparison = errors.New("invalid type for comparison")
)

func incompatible(a, b any) error {
	return fmt.Errorf("incompatible types for comparison: %T and %T", a, b)
}

func equal(a []any) (bool, error) {
	if len(a) < 2 {
		return false, errNoComparison
	}
	for _, other := range a[1:] {
		areEqual, err := basicEqual(a[0], other)
		if areEqual || err != nil {
			return areEqual, err
		}
	}
	return false, nil
}

// basicEqual reports whether two values are equal. Values that cannot be compared are an error.
func basicEqual(a, b any) (bool, error) {
	switch c, d := comparisonClass(a), comparisonClass(b); {
	case c != d && a != nil && b != nil:
		return false, incompatible(a, b)
	case a == nil || b == nil:
		return a == nil && b == nil, nil
	case c == "int":
		n, _ := integer(a)
		m, _ := integer(b)
		return n == m, nil
	case c != "":
		return a == b, nil
	}
	at, ok := a.(time.Time)
	bt, bothTimes := b.(time.Time)
	switch {
	case ok && bothTimes:
		return at.Equal(bt), nil // unlike in text/template, the same moment in another time zone is equal
	case ok || bothTimes || kindOf(a) != kindOf(b):
		return false, fmt.Errorf("non-comparable types %s: %T, %T: %s", a, a, b, b)
	}
	return false, fmt.Errorf("non-comparable type %s: %T", a, a)
}

// less reports whether a is less than b. Only numbers of one class and texts have an order.
func less(a, b any) (bool, error) {
	c, d := comparisonClass(a), comparisonClass(b)
	switch {
	case c == "" || d == "":
		return false, errBadComparison
	case c != d:
		return false, incompatible(a, b)
	}
	switch v := a.(type) {
	case string:
		return v < b.(string), nil
	case float64:
		return v < b.(float64), nil
	case bool:
		return false, errBadComparison
	}
	n, _ := integer(a)
	m, _ := integer(b)
	return n < m, nil
}

// atMost reports whether a is less than or equal to b.
func atMost(a, b any) (bool, error) {
	if isLess, err := less(a, b); isLess || err != nil {
		return isLess, err
	}
	return basicEqual(a, b)
}

// deepEqual compares values with everything they contain.
func deepEqual(a, b any) bool { return reflect.DeepEqual(a, b) }
