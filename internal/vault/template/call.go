package template

import (
	"errors"
	"fmt"
	"strings"
	"text/template/parse"
)

// This file calls functions and methods, after checking their arguments.

// field returns a field of a value, or the result of a method.
func (r *run) field(dot, value any, node parse.Node, name string, args []parse.Node, last any) any {
	if value == nil {
		if r.strict {
			r.fail("nil data; no entry for key %q", name)
		}
		return nil
	}
	if m, ok := method(value, name); ok {
		return r.callFunction(dot, m, node, args, last)
	}
	entries, ok := value.(map[string]any)
	if !ok {
		r.fail("can't evaluate field %s in type %T", name, value)
	}
	if len(args) > 1 || last != noValue {
		r.fail("%s is not a method but has arguments", name)
	}
	v, ok := entries[name]
	if !ok && r.strict {
		r.fail("%w %q", errKey, name)
	}
	return v
}

var errKey = errors.New("map has no entry for key")

// callNamed calls a function by name. An error shows node as its place.
func (r *run) callNamed(dot any, n *parse.IdentifierNode, node parse.Node, args []parse.Node, last any) any {
	r.at(n)
	f, ok := functions()[n.Ident]
	if !ok {
		r.fail("%q is not a defined function", n.Ident)
	}
	if n.Ident == "and" || n.Ident == "or" {
		return r.callLazy(dot, n.Ident, args, last)
	}
	f.name = n.Ident
	return r.callFunction(dot, f, node, args, last)
}

// callLazy evaluates and and or, which stop at the first argument that decides the result.
func (r *run) callLazy(dot any, name string, args []parse.Node, last any) any {
	args = args[min(1, len(args)):]
	if len(args) == 0 && last == noValue {
		r.fail("wrong number of args for %s: want at least 1 got 0", name)
	}
	var v any
	for _, arg := range args {
		if v = r.evalArgument(dot, anyKind, arg); isTrue(v) == (name == "or") {
			return v
		}
	}
	if last != noValue {
		v = last
	}
	return v
}

// callFunction evaluates the arguments, checks their number and types, and calls a function.
func (r *run) callFunction(dot any, f function, node parse.Node, args []parse.Node, last any) any {
	args = args[min(1, len(args)):]
	n := len(args)
	if last != noValue {
		n++
	}
	least, variadic := len(f.params), strings.HasSuffix(f.params, "*")
	if variadic {
		least -= 2
	}
	switch {
	case variadic && n < least:
		r.fail("wrong number of args for %s: want at least %d got %d", f.name, least, n)
	case !variadic && n != least:
		r.fail("wrong number of args for %s: want %d got %d", f.name, least, n)
	}
	values := make([]any, 0, n)
	for i, arg := range args {
		values = append(values, r.evalArgument(dot, f.params[min(i, len(strings.TrimSuffix(f.params, "*"))-1)], arg))
	}
	if last != noValue {
		values = append(values, r.convert(last, f.params[min(n, len(strings.TrimSuffix(f.params, "*")))-1]))
	}
	r.check(r.countParts(1))
	if f.growth > 0 {
		r.check(r.countBytes(f.growth * (weight(values...) + len(values) + 16)))
	}
	result, err := f.call(r, values)
	if err != nil {
		r.at(node)
		r.fail("error calling %s: %w", f.name, err)
	}
	return result
}

// evalArgument returns the value of an argument of a kind, one of those in [function].
func (r *run) evalArgument(dot any, kind byte, node parse.Node) any {
	r.at(node)
	switch n := node.(type) {
	case *parse.DotNode:
		return r.convert(dot, kind)
	case *parse.NilNode:
		if !strings.ContainsRune("advV", rune(kind)) {
			r.fail("cannot assign nil to %s", kinds[kind])
		}
		return r.convert(nil, kind)
	case *parse.FieldNode:
		return r.convert(r.fields(dot, dot, n, n.Ident, []parse.Node{n}, noValue), kind)
	case *parse.VariableNode:
		return r.convert(r.evalVariable(dot, n, nil, noValue), kind)
	case *parse.PipeNode:
		return r.convert(r.evalPipe(dot, n), kind)
	case *parse.IdentifierNode:
		return r.convert(r.callNamed(dot, n, n, nil, noValue), kind)
	case *parse.ChainNode:
		return r.convert(r.chain(dot, n, nil, noValue), kind)
	}
	number, _ := node.(*parse.NumberNode)
	switch kind {
	case 'b':
		if n, ok := node.(*parse.BoolNode); ok {
			return n.True
		}
		r.fail("expected bool; found %s", node)
	case 's':
		if n, ok := node.(*parse.StringNode); ok {
			return n.Text
		}
		r.fail("expected string; found %s", node)
	case 'i', 'D':
		if number == nil || !number.IsInt {
			r.fail("expected integer; found %s", node)
		}
		return fromInt(kind, number.Int64)
	case 'f':
		if number == nil || !number.IsFloat {
			r.fail("expected float; found %s", node)
		}
		return number.Float64
	case 't', 'd':
		r.fail("can't handle %s for arg of type %s", node, kinds[kind])
	}
	return r.literal(dot, node)
}

// convert checks that a value is of a kind, and fails if it is not. nil becomes a nil dict.
func (r *run) convert(value any, kind byte) any {
	if kind == 'a' || kind == 'v' {
		return value
	}
	if value == nil && kind == 'd' {
		return map[string]any(nil)
	}
	if value == nil {
		r.fail("invalid value; expected %s", kinds[kind])
	}
	if got := fmt.Sprintf("%T", value); got != kinds[kind] {
		r.fail("wrong type for value; expected %s; got %s", kinds[kind], got)
	}
	return value
}
