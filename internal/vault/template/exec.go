package template

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/template/parse"
)

// This file executes a parsed template, within limits.

// run evaluates one parsed template. A template that it calls gets a run of its own with the same execution.
//
// Semantics and error texts are those of text/template. An error has the place of the last evaluated node. There is no
// reflection: all values have types that [kindOf] knows.
type run struct {
	*execution
	name string
	tree *parse.Tree
	node parse.Node // last one evaluated
	vars []variable
}

// execution is what all runs of one call of [Execute] share.
type execution struct {
	budget
	trees  map[string]*parse.Tree
	strict bool // a name missing in a dict is an error
	notes  Notes
	out    strings.Builder
}

type variable struct {
	name  string
	value any
}

// failure stops a template. It is a panic value that [Execute] recovers.
type failure struct{ err error }

// flow is how a list of nodes ended.
type flow uint8

const (
	flowNext flow = iota
	flowBreak
	flowContinue
)

// noValue marks that there is no value from an earlier command of the pipeline.
var noValue any = new(struct{ _ int })

// maxError bounds the text of an error in bytes, since some include values.
const maxError = 1000

// callCost is what calling a named template counts, which bounds recursion.
const callCost = 10

// at records the node that is evaluated, for errors.
func (r *run) at(node parse.Node) { r.node = node }

// fail ends the execution with an error that names the last evaluated node.
func (r *run) fail(format string, args ...any) {
	err := fmt.Errorf(format, args...)
	if bound, ok := errors.AsType[boundError](err); ok {
		panic(failure{bound})
	}
	if text := err.Error(); len(text) > maxError && !errors.Is(err, errKey) {
		err = errors.New(strings.ToValidUTF8(text[:maxError], "") + "…")
	}
	location, context := r.tree.ErrorContext(r.node)
	panic(failure{fmt.Errorf("template: %s: executing %q at <%s>: %w", location, r.name, context, err)})
}

// check fails the execution if err is not nil.
func (r *run) check(err error) {
	if err != nil {
		panic(failure{err})
	}
}

func (r *run) write(text string) {
	if r.out.Len()+len(text) > maxOutput {
		panic(failure{errOutput})
	}
	r.out.WriteString(text)
}

// variable returns the innermost variable with a name.
func (r *run) variable(name string) *any {
	for i := len(r.vars) - 1; i >= 0; i-- {
		if r.vars[i].name == name {
			return &r.vars[i].value
		}
	}
	r.fail("undefined variable: %s", name)
	return nil
}

// list evaluates nodes one after the other. dot is the value of the dot in them.
func (r *run) list(dot any, list *parse.ListNode) flow {
	if list == nil {
		return flowNext
	}
	for _, node := range list.Nodes {
		r.check(r.countParts(1))
		if f := r.evalNode(dot, node); f != flowNext {
			return f
		}
	}
	return flowNext
}

// evalNode evaluates one node and writes its output.
func (r *run) evalNode(dot any, node parse.Node) flow {
	r.at(node)
	switch n := node.(type) {
	case *parse.TextNode:
		r.write(string(n.Text))
	case *parse.ActionNode:
		v := r.evalPipe(dot, n.Pipe)
		if len(n.Pipe.Decl) == 0 {
			r.write(formatValue(v))
		}
	case *parse.IfNode:
		defer r.pop(len(r.vars))
		if isTrue(r.evalPipe(dot, n.Pipe)) {
			return r.list(dot, n.List)
		}
		return r.list(dot, n.ElseList)
	case *parse.WithNode:
		defer r.pop(len(r.vars))
		if v := r.evalPipe(dot, n.Pipe); isTrue(v) {
			return r.list(v, n.List)
		}
		return r.list(dot, n.ElseList)
	case *parse.RangeNode:
		return r.evalRange(dot, n)
	case *parse.TemplateNode:
		r.call(dot, n)
	case *parse.BreakNode:
		return flowBreak
	case *parse.ContinueNode:
		return flowContinue
	case *parse.CommentNode:
	default:
		r.fail("unknown node: %s", node)
	}
	return flowNext
}

// pop forgets the variables that were declared since there were mark of them.
func (r *run) pop(mark int) { r.vars = r.vars[:mark] }

// call executes a named template.
func (r *run) call(dot any, n *parse.TemplateNode) {
	tree := r.trees[n.Name]
	if tree == nil {
		r.fail("template %q not defined", n.Name)
	}
	var data any
	if n.Pipe != nil {
		data = r.evalPipe(dot, n.Pipe)
	}
	r.check(r.countParts(callCost))
	inner := &run{execution: r.execution, name: n.Name, tree: tree, vars: []variable{{"$", data}}}
	inner.list(data, tree.Root)
}

// evalRange evaluates a range action.
func (r *run) evalRange(dot any, n *parse.RangeNode) flow {
	defer r.pop(len(r.vars))
	list := r.evalPipe(dot, n.Pipe)
	mark, decl, turns := len(r.vars), n.Pipe.Decl, 0
	// turn runs the body once and reports whether to continue.
	turn := func(index, element any) bool {
		turns++
		r.check(r.countParts(1))
		switch {
		case len(decl) == 0:
		case n.Pipe.IsAssign:
			if len(decl) > 1 {
				*r.variable(decl[0].Ident[0]) = index
			}
			*r.variable(decl[len(decl)-1].Ident[0]) = element
		default:
			r.vars[mark-1].value = element
			if len(decl) > 1 {
				r.vars[mark-2].value = index
			}
		}
		f := r.list(element, n.List)
		r.pop(mark)
		return f != flowBreak
	}
	if items, ok := elements(list); ok {
		for i, item := range items {
			if !turn(i, item) {
				break
			}
		}
	} else if entries, ok := list.(map[string]any); ok {
		for _, name := range slices.Sorted(maps.Keys(entries)) {
			if !turn(name, entries[name]) {
				break
			}
		}
	} else if count, ok := integer(list); ok {
		if len(decl) > 1 {
			r.fail("can't use %v to iterate over more than one variable", list)
		}
		for i := range count {
			if !turn(nil, withTypeOf(list, i)) {
				break
			}
		}
	} else if list != nil {
		r.fail("range can't iterate over %v", formatValue(list))
	}
	if turns == 0 {
		return r.list(dot, n.ElseList)
	}
	return flowNext
}

// evalPipe returns the value of a pipeline, and sets the variables that it declares or assigns.
func (r *run) evalPipe(dot any, pipe *parse.PipeNode) any {
	r.at(pipe)
	value := noValue
	for _, cmd := range pipe.Cmds {
		value = r.command(dot, cmd, value)
	}
	for _, v := range pipe.Decl {
		if pipe.IsAssign {
			*r.variable(v.Ident[0]) = value
		} else {
			r.vars = append(r.vars, variable{v.Ident[0], value})
		}
	}
	return value
}

// command returns the value of one command in a pipeline. last is the result of the command before it.
func (r *run) command(dot any, cmd *parse.CommandNode, last any) any {
	first := cmd.Args[0]
	switch n := first.(type) {
	case *parse.FieldNode:
		r.at(n)
		return r.fields(dot, dot, n, n.Ident, cmd.Args, last)
	case *parse.ChainNode:
		return r.chain(dot, n, cmd.Args, last)
	case *parse.IdentifierNode:
		return r.callNamed(dot, n, cmd, cmd.Args, last)
	case *parse.VariableNode:
		return r.evalVariable(dot, n, cmd.Args, last)
	case *parse.PipeNode:
		r.refuseArguments(cmd.Args, last)
		return r.evalPipe(dot, n)
	}
	r.at(first)
	r.refuseArguments(cmd.Args, last)
	switch n := first.(type) {
	case *parse.NilNode:
		r.fail("nil is not a command")
	default:
		return r.literal(dot, n)
	}
	return nil
}

// refuseArguments fails if something that is not a function has arguments.
func (r *run) refuseArguments(args []parse.Node, last any) {
	if len(args) > 1 || last != noValue {
		r.fail("can't give argument to non-function %s", args[0])
	}
}

// literal returns the value of a constant in the template.
func (r *run) literal(dot any, node parse.Node) any {
	switch n := node.(type) {
	case *parse.DotNode:
		return dot
	case *parse.BoolNode:
		return n.True
	case *parse.StringNode:
		return n.Text
	case *parse.NumberNode:
		switch {
		// A number with a point or an exponent is a float, even if its value is whole.
		case n.IsFloat && !hexadecimal(n.Text) && !strings.HasPrefix(n.Text, "'") && strings.ContainsAny(n.Text, ".eEpP"):
			return n.Float64
		case n.IsInt:
			return int(n.Int64)
		case n.IsUint:
			r.fail("%s overflows int", n.Text)
		case n.IsFloat:
			return n.Float64
		}
	}
	r.fail("can't evaluate command %q", node)
	return nil
}

// hexadecimal reports whether an e in the text of a number is a digit.
func hexadecimal(text string) bool {
	text = strings.TrimLeft(text, "+-")
	return (strings.HasPrefix(text, "0x") || strings.HasPrefix(text, "0X")) && !strings.ContainsAny(text, "pP")
}

// evalVariable returns the value of a variable or of a field in it.
func (r *run) evalVariable(dot any, n *parse.VariableNode, args []parse.Node, last any) any {
	r.at(n)
	value := *r.variable(n.Ident[0])
	if len(n.Ident) == 1 {
		r.refuseArguments(args, last)
		return value
	}
	return r.fields(dot, value, n, n.Ident[1:], args, last)
}

// chain returns a field of an expression in parentheses or of a function's result.
func (r *run) chain(dot any, n *parse.ChainNode, args []parse.Node, last any) any {
	r.at(n)
	if n.Node.Type() == parse.NodeNil {
		r.fail("indirection through explicit nil in %s", n)
	}
	return r.fields(dot, r.evalArgument(dot, 'v', n.Node), n, n.Field, args, last)
}

// fields follows a path of fields from a value. args are for the last one.
func (r *run) fields(dot, value any, node parse.Node, path []string, args []parse.Node, last any) any {
	for i, name := range path {
		if i == len(path)-1 {
			return r.field(dot, value, node, name, args, last)
		}
		value = r.field(dot, value, node, name, nil, noValue)
	}
	return value
}
