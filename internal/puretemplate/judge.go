package puretemplate

import (
	"fmt"
	"slices"
	"text/template/parse"
	"unicode"
	"unicode/utf8"
)

// This file walks through a parsed template and refuses what reads notes, or takes too long, or produces too much.

// judge walks through a template once, and through the body of a loop up to three times, adding up bounds for what the
// template produces.
type judge struct {
	kind       Kind
	findings   []Finding
	vars       []variable
	times      int // how often the current part is evaluated
	produced   int // bytes of all values so far
	steps      int // parts that are evaluated, counting each iteration
	depth      int // nesting of the current part
	judgeSteps int // steps of the judge itself
}

// variable is a variable of the template with what is known of its value.
type variable struct {
	name string
	value
}

// inputValue returns the value that a template of this kind gets.
func inputValue(kind Kind) value {
	if kind == Path {
		return textValue(16) // prints as <no value>
	}
	return value{sort: data, size: 64 << 10}
}

// refuse adds a finding, unless it is there already or there are too many.
func (j *judge) refuse(name, why string) {
	f := Finding{name, why}
	if len(j.findings) < maxFindings && !slices.Contains(j.findings, f) {
		j.findings = append(j.findings, f)
	}
}

// countMade counts a value that is produced each time the current part is evaluated.
func (j *judge) countMade(v value) value {
	j.steps = addSizes(j.steps, multiplySizes(j.times, addSizes(v.work, 1)))
	j.produced = addSizes(j.produced, multiplySizes(v.size, j.times))
	v.work = 0
	return v
}

// enter goes one level deeper and refuses to go too deep; the caller must call leave.
func (j *judge) enter() (leave func(), ok bool) {
	if j.depth++; j.depth > maxDepth {
		j.refuse("", fmt.Sprintf("is nested deeper than %d", maxDepth))
		j.depth--
		return func() {}, false
	}
	return func() { j.depth-- }, true
}

// list judges nodes one after the other. dot is the value of the dot in them.
func (j *judge) list(l *parse.ListNode, dot value) {
	leave, ok := j.enter()
	defer leave()
	if l == nil || !ok {
		return
	}
	for _, node := range l.Nodes {
		// Nested loops are walked more than once each, and branches copy all variables.
		if j.judgeSteps += 1 + len(j.vars); j.judgeSteps > maxJudgeSteps || len(j.vars) > maxVariables {
			j.refuse("", "has too many variables, or loops in loops that change them")
			return
		}
		j.steps = addSizes(j.steps, j.times)
		switch n := node.(type) {
		case *parse.TextNode:
			j.countMade(textValue(len(n.Text)))
		case *parse.ActionNode:
			if v := j.pipe(n.Pipe, dot); len(n.Pipe.Decl) == 0 {
				j.countMade(v)
			}
		case *parse.IfNode:
			mark := len(j.vars)
			j.pipe(n.Pipe, dot)
			j.branches(n.List, n.ElseList, dot, dot)
			j.vars = j.vars[:mark]
		case *parse.WithNode:
			mark := len(j.vars)
			v := j.pipe(n.Pipe, dot)
			j.branches(n.List, n.ElseList, v, dot)
			j.vars = j.vars[:mark]
		case *parse.RangeNode:
			j.loop(n, dot)
		case *parse.BreakNode, *parse.ContinueNode, *parse.CommentNode:
		case *parse.TemplateNode:
			j.refuse("template", "runs a template of its own, which may call itself")
		default:
			j.refuse(node.String(), "is not known here")
		}
	}
}

// branches judges two lists, of which only one will run. dot is the value of the dot in the first, otherwise in the second.
// Afterwards, the bound of each variable holds for both.
func (j *judge) branches(first, second *parse.ListNode, dot, otherwise value) {
	before := slices.Clone(j.vars)
	j.list(first, dot)
	after := j.vars
	j.vars = before
	j.list(second, otherwise)
	for i := range j.vars[:min(len(j.vars), len(after))] {
		j.vars[i].value = join(j.vars[i].value, after[i].value)
	}
}

// loop judges a range. It walks the body until nothing new is learned about the outer variables, so that a variable
// which grows with each iteration is found.
func (j *judge) loop(n *parse.RangeNode, dot value) {
	mark := len(j.vars)
	outer := j.times
	defer func() { j.vars, j.times = j.vars[:min(mark, len(j.vars))], outer }()
	source := j.command(n.Pipe, dot)
	iterations, element := 0, source.elementBoundOf()
	switch c, ok := source.knownNumber(); {
	case source.sort == list || source.sort == dict:
		iterations = source.length
	case ok:
		iterations, element = max(c, 0), numberValue
	default:
		j.refuse("range", fmt.Sprintf("goes over something whose length does not stand in the template, or is above %d", maxCount))
		return
	}
	element.literal = nil
	switch d := n.Pipe.Decl; {
	case len(d) == 0:
	case n.Pipe.IsAssign:
		for _, v := range d {
			j.assign(v.Ident[0], join(element, join(numberValue, textValue(source.size))))
		}
	default:
		for i, v := range d {
			if i == len(d)-1 {
				j.vars = append(j.vars, variable{v.Ident[0], element})
				continue
			}
			j.vars = append(j.vars, variable{v.Ident[0], join(numberValue, value{size: source.size})}) // an index or a key
		}
	}
	before := slices.Clone(j.vars)
	j.times = multiplySizes(outer, iterations)
	j.steps = addSizes(j.steps, j.times)
	const rounds = 3
	for round := range rounds {
		produced, steps := j.produced, j.steps
		j.list(n.List, element)
		stable := true
		for i := range before {
			if i < len(j.vars) && !j.vars[i].isWithin(before[i].value) {
				stable = false
				before[i].value = join(before[i].value, j.vars[i].value)
			}
		}
		j.vars = slices.Clone(before)
		if stable {
			break
		}
		if round == rounds-1 {
			j.refuse("range", "has a variable that may grow from turn to turn")
			return
		}
		j.produced, j.steps = produced, steps
	}
	j.times = outer
	j.list(n.ElseList, dot)
	for i := range before {
		j.vars[i].value = join(j.vars[i].value, before[i].value)
	}
}

// pipe judges a pipeline with the variables that it sets.
func (j *judge) pipe(p *parse.PipeNode, dot value) value {
	v := j.command(p, dot)
	for _, d := range p.Decl {
		if p.IsAssign {
			j.assign(d.Ident[0], v)
		} else {
			j.vars = append(j.vars, variable{d.Ident[0], v})
		}
	}
	return v
}

// assign sets the innermost variable with a name.
func (j *judge) assign(name string, v value) {
	for i := len(j.vars) - 1; i >= 0; i-- {
		if j.vars[i].name == name {
			j.vars[i].value = v
			return
		}
	}
}

// command returns the value of a pipeline.
func (j *judge) command(p *parse.PipeNode, dot value) value {
	leave, ok := j.enter()
	defer leave()
	var v value
	if !ok {
		return v
	}
	for i, c := range p.Cmds {
		var args []value
		for _, a := range c.Args[1:] {
			args = append(args, j.operand(a, nil, dot))
		}
		if i > 0 {
			args = append(args, v)
		}
		v = j.operand(c.Args[0], args, dot)
	}
	return v
}

// operand returns the value of the first part of a command with its arguments, or of an argument.
func (j *judge) operand(node parse.Node, args []value, dot value) value {
	switch n := node.(type) {
	case *parse.IdentifierNode:
		return j.call(n.Ident, args)
	case *parse.FieldNode:
		return j.chain(dot, n.Ident, args)
	case *parse.VariableNode:
		return j.chain(j.variable(n.Ident[0]), n.Ident[1:], args)
	case *parse.ChainNode:
		return j.chain(j.operand(n.Node, nil, dot), n.Field, args)
	}
	if len(args) > 0 {
		j.refuse(node.String(), "takes no arguments")
		return value{}
	}
	switch n := node.(type) {
	case *parse.DotNode:
		return dot
	case *parse.NilNode:
		return textValue(8)
	case *parse.BoolNode:
		return boolValue
	case *parse.StringNode:
		v := textValue(len(n.Text))
		v.literal = n.Text
		return v
	case *parse.NumberNode:
		v := numberValue
		if n.IsInt {
			v.literal = n.Int64
		}
		return v
	case *parse.PipeNode:
		return j.command(n, dot)
	}
	j.refuse(node.String(), "is not known here")
	return value{}
}

func (j *judge) variable(name string) value {
	for _, v := range slices.Backward(j.vars) {
		if v.name == name {
			return v.value
		}
	}
	return value{}
}

// call returns the value of a function call.
func (j *judge) call(name string, args []value) value {
	f, ok := byName(name)
	switch {
	case !ok:
		j.refuse(name, "is not a function of texts, numbers and dates alone")
		return value{}
	case len(args) < f.Min || f.Max >= 0 && len(args) > f.Max:
		j.refuse(name, "has too few arguments or too many")
		return value{}
	}
	for _, i := range f.Counts {
		if i >= len(args) {
			continue
		}
		if _, ok := args[i].knownNumber(); !ok {
			j.refuse(name, fmt.Sprintf("takes a number that stands in the template and is at most %d", maxCount))
			return value{}
		}
	}
	result, why := f.shape(args)
	if why != "" {
		j.refuse(name, why)
	}
	return j.countMade(result)
}

// chain returns the value of a chain of fields or methods that begins at v, as in v.A.B. args are for the last one.
func (j *judge) chain(v value, names []string, args []value) value {
	for i, name := range names {
		fieldArgs := args
		if i < len(names)-1 {
			fieldArgs = nil
		}
		v = j.field(v, name, fieldArgs)
	}
	if len(names) == 0 && len(args) > 0 {
		j.refuse("", "gives arguments to a variable")
	}
	return v
}

// field returns the value of one field or method of v. It refuses those that the tables do not list.
func (j *judge) field(v value, name string, args []value) value {
	m, method := methods[name]
	key, _ := utf8.DecodeRuneInString(name)
	switch {
	case v.sort == data && len(args) == 0 && (j.kind == Column || slices.Contains(fields, name)):
		return value{size: 4 << 10}
	case v.sort == moment || v.sort == span || v.sort == unknown && method:
		if !method || len(args) != m.maxArgs {
			break
		}
		result, why := m.shape(args)
		if why != "" {
			j.refuse("."+name, why)
		}
		return j.countMade(result)
	case (v.sort == dict || v.sort == unknown) && len(args) == 0 && !unicode.IsUpper(key):
		out := v.elementBoundOf()
		out.literal = nil
		return out
	case v.sort == dict && len(args) == 0:
		return v.elementBoundOf()
	}
	j.refuse("."+name, "is not a field or a method that templates here may use")
	return value{}
}
