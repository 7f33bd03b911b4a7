// Package template runs the templates of notes: the language of text/template with the functions of package
// puretemplate, and with bounds. A template can neither reach files, the environment or the network, nor run for long
// or write without end.
//
// It evaluates the syntax tree of text/template/parse on a small closed set of types. It does not use text/template
// itself, which calls methods by name, so that the linker keeps every exported method of a program that uses it.
//
// It does not know workspaces: the caller answers what templates ask of notes, see [Notes].
//
// Entry point: [Execute].
package template

import (
	"errors"
	"fmt"
	"text/template/parse"
	"time"
)

// Bounds of one execution.
const (
	// maxText bounds a template in bytes.
	maxText = 256 << 10
	// maxOutput bounds the output in bytes.
	maxOutput = 1 << 20
	// maxBuilt bounds all that functions return during one execution, in bytes.
	maxBuilt = 8 << 20
	// maxNodes bounds how many parts are evaluated, counting each iteration and call.
	maxNodes = 200_000
	// maxQueries bounds how often notes may be read.
	maxQueries = 64
	// maxTime is checked at each iteration and call.
	maxTime = 2 * time.Second
)

// Options are the inputs of a template. The zero value is for {{ }} without data.
type Options struct {
	// Left and Right delimit actions; "{{" and "}}" if both are empty.
	Left, Right string
	// Data is the dot: texts and numbers by name.
	Data map[string]string
	// Values is the dot instead of Data if it is not nil: texts, numbers and booleans. A missing name is the error
	// errName.
	Values map[string]any
	// Notes answers the functions that read notes; nil means none.
	Notes Notes
}

// Notes answers what a template asks of notes. Statements come from the template, so an implementation must guard
// them.
type Notes interface {
	// Select returns the rows of a statement by column name.
	Select(statement string) ([]map[string]any, error)
	// Block returns the row of a block in the table blocks, nil if there is none.
	Block(id string) map[string]any
	// Stat returns the counts of a block's content, nil if there is none.
	Stat(id string) map[string]any
	// HPath returns the path by titles of a block's document, "" if there is none.
	HPath(id string) string
}

// ActionLeft and ActionRight delimit actions in the files below data/templates.
const (
	ActionLeft  = ".action{"
	ActionRight = "}"
)

// Execute runs a template. The error is that of text/template, as SiYuan shows it, or says which bound was reached.
// It is safe for concurrent use.
func Execute(text string, o Options) (out string, err error) {
	if len(text) > maxText {
		return "", fmt.Errorf("template: the template is longer than %d bytes", maxText)
	}
	r := &run{tree: parse.New(""), execution: &execution{
		budget: budget{deadline: time.Now().Add(maxTime)}, trees: map[string]*parse.Tree{}, strict: o.Values != nil, notes: o.Notes,
	}}
	known := map[string]any{}
	for name := range functions() {
		known[name] = true
	}
	if _, err := r.tree.Parse(text, o.Left, o.Right, r.trees, known); err != nil {
		return "", err
	}
	var dot any
	switch {
	case o.Values != nil:
		dot = plain(o.Values)
	case o.Data != nil:
		held := make(map[string]any, len(o.Data))
		for name, value := range o.Data {
			held[name] = value
		}
		dot = held
	}
	defer func() {
		if thrown := recover(); thrown != nil {
			f, ok := thrown.(failure)
			if !ok {
				panic(thrown)
			}
			if out, err = "", f.err; errors.Is(err, errKey) {
				err = fmt.Errorf("%w: %w", errName, err)
			}
		}
	}()
	r.vars = []variable{{"$", dot}}
	r.list(dot, r.tree.Root)
	return r.out.String(), nil
}

// errName is part of the error for a name that is missing in Values.
var errName = errors.New("template: there is no such name")

// boundError says which bound a template reached.
type boundError string

func (e boundError) Error() string { return "template: " + string(e) }

const (
	errOutput  boundError = "it writes more than 1 MiB"
	errMade    boundError = "its texts grow too long"
	errNodes   boundError = "it has too many steps, in loops or in templates that call each other"
	errTime    boundError = "it takes too long"
	errQueries boundError = "it reads notes too often"
)
