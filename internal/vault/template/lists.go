package template

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// This file has the functions for lists and dicts. The letters in params are types of arguments, as kinds in value.go lists them.

var listFunctions = map[string]function{
	"list":  {params: "a*", growth: 1, call: func(_ *run, a []any) (any, error) { return a, nil }},
	"tuple": {params: "a*", growth: 1, call: func(_ *run, a []any) (any, error) { return a, nil }},
	"dict":  {params: "a*", growth: 1, call: func(_ *run, a []any) (any, error) { return dict(a), nil }},
	"get": {params: "ds", call: func(_ *run, a []any) (any, error) {
		if v, ok := a[0].(map[string]any)[a[1].(string)]; ok {
			return v, nil
		}
		return "", nil
	}},
	"hasKey": {params: "ds", call: func(_ *run, a []any) (any, error) {
		_, ok := a[0].(map[string]any)[a[1].(string)]
		return ok, nil
	}},
	"keys": {params: "d*", growth: 1, call: func(_ *run, a []any) (any, error) {
		out := []string{}
		for _, d := range a {
			out = append(out, slices.Sorted(maps.Keys(d.(map[string]any)))...)
		}
		return out, nil
	}},
	"values": {params: "d", growth: 1, call: func(_ *run, a []any) (any, error) {
		d, out := a[0].(map[string]any), []any{}
		for _, name := range slices.Sorted(maps.Keys(d)) {
			out = append(out, d[name])
		}
		return out, nil
	}},

	"len":   {params: "a", call: func(_ *run, a []any) (any, error) { return length(a[0]) }},
	"index": {params: "aa*", call: func(_ *run, a []any) (any, error) { return index(a) }},
	"slice": {params: "aa*", growth: 1, call: func(_ *run, a []any) (any, error) { return slice(a) }},
	"has": {params: "aa", call: func(_ *run, a []any) (any, error) {
		if a[1] == nil {
			return false, nil
		}
		list, err := listOf(a[1], "Cannot find has on type %s")
		return slices.ContainsFunc(list, func(v any) bool { return deepEqual(v, a[0]) }), err
	}},
	"first": picker("first", func(list []any) any {
		if len(list) == 0 {
			return nil
		}
		return list[0]
	}),
	"last": picker("last", func(list []any) any {
		if len(list) == 0 {
			return nil
		}
		return list[len(list)-1]
	}),
	"rest":    rearranger("Cannot find rest on type %s", func(list []any) []any { return list[min(1, len(list)):] }),
	"initial": rearranger("Cannot find initial on type %s", func(list []any) []any { return list[:max(len(list)-1, 0)] }),
	"reverse": rearranger("Cannot find reverse on type %s", func(list []any) []any {
		slices.Reverse(list)
		return list
	}),
	"compact": rearranger("Cannot compact on type %s", func(list []any) []any { return slices.DeleteFunc(list, empty) }),
	"append":  {params: "aa", growth: 1, call: func(_ *run, a []any) (any, error) { return addElements(a[0], nil, a[1:]) }},
	"prepend": {params: "aa", growth: 1, call: func(_ *run, a []any) (any, error) { return addElements(a[0], a[1:], nil) }},
	"concat": {params: "a*", growth: 1, call: func(_ *run, a []any) (any, error) {
		out := []any{}
		for _, v := range a {
			list, err := listOf(v, "Cannot concat type %s as list")
			if err != nil {
				return nil, err
			}
			out = append(out, list...)
		}
		return out, nil
	}},

	"sortAlpha": {params: "a", growth: 2, call: func(_ *run, a []any) (any, error) {
		out := texts(a[0])
		slices.Sort(out)
		return out, nil
	}},
	"toStrings": {params: "a", growth: 2, call: func(_ *run, a []any) (any, error) {
		if a[0] == nil {
			return []string{}, nil
		}
		return texts(a[0]), nil
	}},
	"join": {params: "sa", growth: 1, call: func(r *run, a []any) (any, error) {
		separator, parts := a[0].(string), []string{}
		if a[1] != nil {
			parts = texts(a[1])
		}
		if err := r.countBytes(len(parts) * len(separator)); err != nil {
			return nil, err
		}
		return strings.Join(parts, separator), nil
	}},
	"splitList": {params: "ss", growth: 2, call: func(_ *run, a []any) (any, error) { return strings.Split(a[1].(string), a[0].(string)), nil }},

	"until": {params: "i", call: func(r *run, a []any) (any, error) {
		return steps(r, 0, a[0].(int), direction(0, a[0].(int)))
	}},
	"untilStep": {params: "iii", call: func(r *run, a []any) (any, error) { return steps(r, a[0].(int), a[1].(int), a[2].(int)) }},
	"seq":       {params: "i*", call: seq},
}

// listOf returns the elements of a list. wrong is the error text for another value, with %s for its kind.
func listOf(value any, wrong string) ([]any, error) {
	list, ok := elements(value)
	if !ok {
		return nil, errors.New(strings.Replace(wrong, "%s", kindOf(value), 1))
	}
	return list, nil
}

// picker returns a function that returns an element of a list.
func picker(name string, pick func([]any) any) function {
	return function{params: "a", call: func(_ *run, a []any) (any, error) {
		list, err := listOf(a[0], "Cannot find "+name+" on type %s")
		return pick(list), err
	}}
}

// rearranger returns a function that makes a list from a list. arrange may change its argument.
func rearranger(wrong string, arrange func([]any) []any) function {
	return function{params: "a", growth: 1, call: func(_ *run, a []any) (any, error) {
		list, err := listOf(a[0], wrong)
		return arrange(append([]any{}, list...)), err
	}}
}

func addElements(value any, before, after []any) (any, error) {
	list, err := listOf(value, "Cannot push on type %s")
	return slices.Concat(before, list, after), err
}

// dict returns a dict of alternating names and values.
func dict(a []any) map[string]any {
	out := map[string]any{}
	for i := 0; i < len(a); i += 2 {
		out[text(a[i])] = ""
		if i+1 < len(a) {
			out[text(a[i])] = a[i+1]
		}
	}
	return out
}

// length is the function len: bytes of a text, elements of a list or entries of a dict.
func length(value any) (any, error) {
	switch v := value.(type) {
	case string:
		return len(v), nil
	case map[string]any:
		return len(v), nil
	case nil:
		return nil, errors.New("len of nil pointer")
	}
	list, ok := elements(value)
	if !ok {
		return nil, fmt.Errorf("len of type %T", value)
	}
	return len(list), nil
}

// index is the function index: it follows indexes and keys into lists, texts and dicts.
func index(a []any) (any, error) {
	value := a[0]
	if value == nil {
		return nil, errors.New("index of untyped nil")
	}
	for _, at := range a[1:] {
		if d, ok := value.(map[string]any); ok {
			name, ok := at.(string)
			switch {
			case at == nil:
				return nil, errors.New("value is nil; should be of type string")
			case !ok:
				return nil, fmt.Errorf("value has type %T; should be string", at)
			}
			value = d[name]
			continue
		}
		s, isText := value.(string)
		list, isList := elements(value)
		n, isNumber := integer(at)
		switch {
		case value == nil:
			return nil, errors.New("index of nil pointer")
		case !isText && !isList:
			return nil, fmt.Errorf("can't index item of type %T", value)
		case at == nil:
			return nil, errors.New("cannot index slice/array with nil")
		case !isNumber:
			return nil, fmt.Errorf("cannot index slice/array with type %T", at)
		case n < 0 || n >= int64(max(len(s), len(list))):
			return nil, fmt.Errorf("index out of range: %d", n)
		case isText:
			value = s[n]
		default:
			value = list[n]
		}
	}
	return value, nil
}

// slice returns a part of a list. It is the function of Sprig, which replaces that of text/template and does not accept
// texts.
func slice(a []any) (any, error) {
	list, ok := elements(a[0])
	if !ok {
		return nil, fmt.Errorf("list should be type of slice or array but %s", kindOf(a[0]))
	}
	if len(list) == 0 {
		return nil, nil //nolint:nilnil // nothing is a value of templates
	}
	from, to := int64(0), int64(len(list))
	if len(a) > 1 {
		from = toInt(a[1])
	}
	if len(a) > 2 {
		to = toInt(a[2])
	}
	if from < 0 || from > to || to > int64(len(list)) {
		return nil, errors.New("reflect.Value.Slice: slice index out of bounds")
	}
	switch v := a[0].(type) {
	case []int:
		return v[from:to:to], nil
	case []string:
		return v[from:to:to], nil
	}
	return list[from:to:to], nil
}

func direction(from, to int) int {
	if to < from {
		return -1
	}
	return 1
}

// steps returns the numbers from one to another, which is not included.
func steps(r *run, from, to, step int) ([]int, error) {
	n := 0
	switch {
	case step > 0 && from < to:
		n = int((uint(to)-uint(from)-1)/uint(step)) + 1
	case step < 0 && from > to:
		n = int((uint(from)-uint(to)-1)/uint(-step)) + 1
	}
	if n < 0 {
		return nil, errNodes
	}
	if err := r.countParts(n); err != nil {
		return nil, err
	}
	out := make([]int, n)
	for i := range out {
		out[i] = from + i*step
	}
	return out, r.countBytes(21 * n)
}

// seq returns numbers joined by spaces: from 1 to a number, from one number to another, or from one by steps to
// another. Both ends are included.
func seq(r *run, a []any) (any, error) {
	n := make([]int, len(a))
	for i := range a {
		n[i] = a[i].(int)
	}
	from, step, to := 1, 0, 0
	switch len(n) {
	case 1:
		to = n[0]
	case 2:
		from, to = n[0], n[1]
	case 3:
		from, step, to = n[0], n[1], n[2]
	default:
		return "", nil
	}
	way := direction(from, to)
	switch {
	case len(n) < 3:
		step = way
	case step*way <= 0:
		return "", nil
	}
	numbers, err := steps(r, from, to+way, step)
	if err != nil {
		return nil, err
	}
	out := make([]string, len(numbers))
	for i, number := range numbers {
		out[i] = strconv.Itoa(number)
	}
	return strings.Join(out, " "), nil
}
