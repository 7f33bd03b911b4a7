package template

import (
	"fmt"
	"maps"
	"sync"
)

// This file joins the functions that templates can call, and lists those for logic and for queries.

// function is a function or method that templates can call.
type function struct {
	name string
	// params has the types of the arguments, one letter of [kinds] each. A * after the last means any number of that
	// type.
	params string
	// growth is how many times larger than all arguments the result can be. 0 means that the function produces no text
	// or list, or counts it itself.
	growth int
	// call gets arguments whose number and types were checked.
	call func(r *run, a []any) (any, error)
}

// functions are all functions that a template can call: those of package puretemplate, [queryFunctions] and
// [refusedFunctions].
var functions = sync.OnceValue(func() map[string]function {
	byName := map[string]function{}
	for _, group := range []map[string]function{logicFunctions, textFunctions, numberFunctions, dateFunctions, listFunctions, queryFunctions, refusedFunctions} {
		maps.Copy(byName, group)
	}
	return byName
})

// logicFunctions has conditions and tests of values.
var logicFunctions = map[string]function{
	"and": {params: "aa*"}, "or": {params: "aa*"}, // evaluated by [run.callLazy]
	"not":      {params: "a", call: func(_ *run, a []any) (any, error) { return !isTrue(a[0]), nil }},
	"eq":       {params: "aa*", call: func(_ *run, a []any) (any, error) { return equal(a) }},
	"ne":       {params: "aa", call: func(_ *run, a []any) (any, error) { return not(basicEqual(a[0], a[1])) }},
	"lt":       {params: "aa", call: func(_ *run, a []any) (any, error) { return less(a[0], a[1]) }},
	"le":       {params: "aa", call: func(_ *run, a []any) (any, error) { return atMost(a[0], a[1]) }},
	"gt":       {params: "aa", call: func(_ *run, a []any) (any, error) { return not(atMost(a[0], a[1])) }},
	"ge":       {params: "aa", call: func(_ *run, a []any) (any, error) { return not(less(a[0], a[1])) }},
	"empty":    {params: "a", call: func(_ *run, a []any) (any, error) { return empty(a[0]), nil }},
	"default":  {params: "aa*", call: func(_ *run, a []any) (any, error) { return defaultTo(a), nil }},
	"coalesce": {params: "a*", call: func(_ *run, a []any) (any, error) { return first(a) }},
	"all":      {params: "a*", call: func(_ *run, a []any) (any, error) { return count(a, empty) == 0, nil }},
	"any":      {params: "a*", call: func(_ *run, a []any) (any, error) { return count(a, empty) < len(a), nil }},
	"kindOf":   {params: "a", call: func(_ *run, a []any) (any, error) { return kindOf(a[0]), nil }},
	"typeOf":   {params: "a", call: func(_ *run, a []any) (any, error) { return typeOf(a[0]), nil }},
	"kindIs":   {params: "sa", call: func(_ *run, a []any) (any, error) { return a[0] == kindOf(a[1]), nil }},
	"typeIs":   {params: "sa", call: func(_ *run, a []any) (any, error) { return a[0] == typeOf(a[1]), nil }},
	"typeIsLike": {params: "sa", call: func(_ *run, a []any) (any, error) {
		return a[0] == typeOf(a[1]) || "*"+a[0].(string) == typeOf(a[1]), nil
	}},
	"deepEqual": {params: "aa", call: func(_ *run, a []any) (any, error) { return deepEqual(a[0], a[1]), nil }},
	"ternary": {params: "aab", call: func(_ *run, a []any) (any, error) {
		if a[2] == true {
			return a[0], nil
		}
		return a[1], nil
	}},
}

func typeOf(value any) string { return fmt.Sprintf("%T", value) }

func not(result bool, err error) (any, error) { return !result, err }

// empty reports whether Sprig calls a value empty: if it counts as false in conditions.
func empty(value any) bool { return !isTrue(value) }

// defaultTo returns the second value, or the first if the second is empty or missing.
func defaultTo(a []any) any {
	if len(a) > 1 && !empty(a[1]) {
		return a[1]
	}
	return a[0]
}

// first returns the first value that is not empty.
func first(values []any) (any, error) {
	for _, v := range values {
		if !empty(v) {
			return v, nil
		}
	}
	return nil, nil //nolint:nilnil // nothing is a value of templates
}

func count(values []any, matches func(any) bool) int {
	n := 0
	for _, v := range values {
		if matches(v) {
			n++
		}
	}
	return n
}

// queryFunctions are the functions that read notes.
var queryFunctions = map[string]function{
	"queryBlocks":  {params: "ss*", call: queryRows(withFields)},
	"querySpans":   {params: "ss*", call: queryRows(withFields)},
	"querySQL":     {params: "s", call: queryRows(withoutFields)},
	"getBlock":     {params: "a", call: getBlock},
	"getHPathByID": {params: "s", call: getHPathByID},
	"statBlock":    {params: "s", call: statBlock},
}

// refusedFunctions are functions of text/template that always fail, so that templates which use them can still be
// parsed.
var refusedFunctions = map[string]function{
	"call": {params: "aa*", call: func(_ *run, args []any) (any, error) { // templates have no values that are functions
		return nil, fmt.Errorf("non-function %v of type %T", args[0], args[0])
	}},
}
