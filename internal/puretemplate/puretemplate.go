// Package puretemplate says of a template of SiYuan whether it is pure: whether all that it makes follows from its own
// text, what it is given and the clock.
//
// SiYuan renders the paths of daily notes and of new documents, the files below data/templates and the columns of
// databases that are templates. Its templates are those of Go's text/template with the functions of Sprig and some of
// its own, and these can read every notebook. So whoever is to see or to write some notebooks only may use what
// [Functions] lists, and nothing else: a function, a method or a field that is not in the tables here is refused, as is
// a template that cannot be read, one that defines templates, and one that could be more work than a note is worth.
//
// Nothing is run here. The tables are data that somebody who runs templates can use as well.
//
// Entry points: [Judge], [Functions].
package puretemplate

import (
	"fmt"
	"strings"
	"text/template/parse"
)

// Kind is where a template stands, which says how its actions are written and what it is given.
type Kind uint8

const (
	// Path is a text or a path with actions in {{ }}. It is given nothing.
	Path Kind = iota
	// File is a file below data/templates with actions in .action{ }. It is given the title, id, name and alias of a
	// document that its reader may read.
	File
	// Column is a column of a database, with actions in .action{ }; those in {{ }} are judged too, whether SiYuan runs
	// them or not. It is given the cells of one row by the names of their columns.
	Column
)

// The delimiters of actions in files and columns; in paths they are those of text/template.
const (
	actionLeft  = ".action{"
	actionRight = "}"
)

// Bounds of a pure template. SiYuan knows none.
const (
	// maxText is the longest template, in bytes.
	maxText = 64 << 10
	// maxCount is the largest number that a count in a template may be: how often to repeat, how long a list is.
	maxCount = 1000
	// maxMade is how many bytes a template may make at most, parts that it does not write counted.
	maxMade = 1 << 20
	// maxSteps is how many parts may be evaluated, those in loops each time.
	maxSteps = 50_000
	// maxDepth is how deep a template may be nested.
	maxDepth = 64
	// maxVariables is how many variables there may be at a time, maxWork how many the judge looks at in all.
	maxVariables = 100
	maxWork      = 1 << 20
	// maxFindings is how many findings are told.
	maxFindings = 8
)

// Finding is something in a template because of which it is not pure.
type Finding struct {
	// Name is what stands in the template: "queryBlocks", ".Content", "range". It is empty for the template as a whole.
	Name string
	// Why says what is wrong with it, as the end of a sentence that begins with the name.
	Why string
}

func (f Finding) String() string {
	if f.Name == "" {
		return "the template " + f.Why
	}
	return f.Name + " " + f.Why
}

// Judge returns why a template is not pure, each thing once and in order, or nothing if it is. It takes time and memory
// in proportion to the text, and is safe for concurrent use.
func Judge(kind Kind, text string) []Finding {
	if len(text) > maxText {
		return []Finding{{Why: fmt.Sprintf("is longer than %d bytes", maxText)}}
	}
	switch kind {
	case File: // where {{ }} is an embed block
		return judged(kind, text, actionLeft, actionRight)
	case Column:
		return append(judged(kind, text, actionLeft, actionRight), judged(kind, text, "{{", "}}")...)
	}
	if strings.Contains(text, actionLeft) {
		// Whoever renders it may know the other delimiters too.
		return []Finding{{Name: actionLeft, Why: "is how template files write actions; here they stand in {{ }}"}}
	}
	return judged(Path, text, "{{", "}}")
}

// judged is [Judge] for one pair of delimiters.
func judged(kind Kind, text, left, right string) []Finding {
	if !strings.Contains(text, left) {
		return nil
	}
	if deep(text, left) {
		return []Finding{{Why: fmt.Sprintf("is nested deeper than %d", maxDepth)}}
	}
	tree := parse.New("template")
	tree.Mode = parse.SkipFuncCheck
	trees := map[string]*parse.Tree{}
	if _, err := tree.Parse(text, left, right, trees); err != nil {
		return []Finding{{Why: "cannot be read: " + strings.TrimPrefix(err.Error(), "template: template:")}}
	}
	j := &judge{kind: kind, times: 1}
	for name := range trees {
		if name != tree.Name {
			j.refuse("define", "makes a template of its own, which may call itself")
		}
	}
	root := given(kind)
	j.vars = []variable{{"$", root}}
	j.list(tree.Root, root)
	if j.made > maxMade || j.steps > maxSteps {
		j.refuse("", "may be too much work")
	}
	return j.findings
}

// deep reports whether parentheses could be nested so deep that to read them is a burden. What stands in quotes counts
// too, which is no matter for templates that people write.
func deep(text, left string) bool {
	depth := 0
	_, text, _ = strings.Cut(text, left)
	for _, c := range text {
		switch c {
		case '(':
			if depth++; depth > 10*maxDepth {
				return true
			}
		case ')':
			depth = max(depth-1, 0)
		}
	}
	return false
}
