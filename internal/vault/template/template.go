// Package template executes the templates of notes: the language of text/template with the functions of package
// puretemplate, within bounds. A template cannot access files, the environment or the network, and cannot run for long
// or write without end.
//
// It evaluates the syntax tree of text/template/parse on a small closed set of types. It does not use text/template
// itself: since that calls methods by name, the linker would have to keep every exported method in the program.
//
// It does not know workspaces: the caller provides the notes that templates may read, see [Notes].
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
	// maxBuilt bounds the values that functions return during one execution, in bytes.
	maxBuilt = 8 << 20
	// maxNodes bounds how many parts are evaluated, counting each iteration and call.
	maxNodes = 200_000
	// maxQueries bounds how often notes are read.
	maxQueries = 64
	// maxTime is checked at each iteration and call.
	maxTime = 2 * time.Second
)

// Options are the inputs of a template. The zero value means {{ }} as delimiters and no data.
type Options struct {
	// Left and Right delimit actions; "{{" and "}}" if both are empty.
	Left, Right string
	// Data is the dot: texts by name.
	Data map[string]string
	// Values, if not nil, is the dot instead of Data: texts, numbers and booleans by name. For a missing name, the
	// error wraps errName.
	Values map[string]any
	// Notes is used by the functions that read notes; nil means that there are none.
	Notes Notes
}

// Notes gives templates access to notes. Statements come from the template, so an implementation must guard them.
type Notes interface {
	// Select returns the rows of a statement by column name.
	Select(statement string) ([]map[string]any, error)
	// Block returns the row of a block in the table blocks, nil if there is none.
	Block(id string) map[string]any
	// Stat returns the counts of a block's content, nil if there is none.
	Stat(id string) map[string]any
	// HPath returns the path of titles of a block's document, "" if there is none.
	HPath(id string) string
}

// ActionLeft and ActionRight are the delimiters of actions in the files below data/templates.
const (
	ActionLeft  = ".action{"
	ActionRight = "}"
)

// Execute executes a template. The error is that of text/template, as SiYuan shows it, or says which bound was reached.
// It is safe for concurrent use.
func Execute(text string, o Options) (out string, err error) {
	if len(text) > maxText {
		return "", fmt.Errorf("template: the template is longer than %d bytes", maxText)
	}
	r := &run{tree: parse.New(""), execution: &execution{
		budget: budget{deadline: time.Now().Add(maxTime)}, trees: map[string]*parse.Tree{}, strict: o.Values != nil, notes: o.Notes,
	}}
	names := map[string]any{}
	for name := range functions() {
		names[name] = true
	}
	if _, err := r.tree.Parse(text, o.Left, o.Right, r.trees, names); err != nil {
		return "", err
	}
	var dot any
	switch {
	case o.Values != nil:
		dot = plainDict(o.Values)
	case o.Data != nil:
		values := make(map[string]any, len(o.Data))
		for name, value := range o.Data {
			values[name] = value
		}
		dot = values
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
	errBuilt   boundError = "its texts grow too long"
	errNodes   boundError = "it has too many steps, in loops or in templates that call each other"
	errTime    boundError = "it takes too long"
	errQueries boundError = "it reads notes too often"
)
