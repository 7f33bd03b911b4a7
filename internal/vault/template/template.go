// Package template runs the templates of notes: the language of text/template and the functions of package puretemplate,
// with bounds, so that a template can neither reach files, the environment or the network nor run for long or write
// without end.
//
// The tree of text/template/parse is evaluated here, on a small closed set of types. text/template itself calls methods
// by their names, and a program that does keeps every exported method that it links.
//
// It knows nothing of workspaces: what templates ask of notes is answered by the caller, see [Notes].
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
	// maxText is the longest template, in bytes.
	maxText = 256 << 10
	// maxOutput is the most a template may write, in bytes.
	maxOutput = 1 << 20
	// maxMade is what its functions may make in all, in bytes.
	maxMade = 8 << 20
	// maxNodes is how many parts of the template may be evaluated, loops and calls counted each time.
	maxNodes = 200_000
	// maxQueries is how often notes may be read.
	maxQueries = 64
	// maxTime is checked whenever a loop or a call goes round.
	maxTime = 2 * time.Second
)

// Options say what a template is given. The zero value is for {{ }} without data.
type Options struct {
	// Left and Right begin and end an action; "{{" and "}}" when both are empty.
	Left, Right string
	// Data is the dot. Its values are texts and numbers.
	Data map[string]string
	// Values is the dot in place of Data when it is not nil: texts, numbers and truth values. A name that is not in it
	// is an error, errName.
	Values map[string]any
	// Notes answers the functions that read notes; nil has none.
	Notes Notes
}

// Notes are what a template can ask of notes. What it asks comes from the template: statements must be guarded.
type Notes interface {
	// Select returns the rows of a statement by the names of columns.
	Select(statement string) ([]map[string]any, error)
	// Block is the row of a block in the table blocks, nil if there is none.
	Block(id string) map[string]any
	// Stat counts what is in a block, nil if there is none.
	Stat(id string) map[string]any
	// HPath is the path by titles of the document a block is in, "" if there is none.
	HPath(id string) string
}

// ActionLeft and ActionRight mark actions in the files below data/templates.
const (
	ActionLeft  = ".action{"
	ActionRight = "}"
)

// Execute runs a template. The error is that of text/template, as SiYuan shows it, or says which bound was reached. It is
// safe for concurrent use.
func Execute(text string, o Options) (out string, err error) {
	if len(text) > maxText {
		return "", fmt.Errorf("template: the template is longer than %d bytes", maxText)
	}
	r := &run{tree: parse.New(""), shared: &shared{
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

// errName is in the error of a template that asks for a name that is not in its values.
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
