// Package puretemplate decides whether a SiYuan template is pure: everything it produces follows from its own text,
// its input and the clock.
//
// SiYuan renders the paths of daily notes and new documents, the files below data/templates, and template columns of
// databases. Its templates are those of Go's text/template with the functions of Sprig and some of its own, which can
// read every notebook. So a caller that may see or write only some notebooks may use only what [Functions] lists. A
// function, method or field that is not in the tables here is refused, and so is a template that cannot be parsed,
// that defines templates, or that could take more work than a note is worth.
//
// The package runs nothing. Whoever runs templates can use its tables too.
//
// Entry points: [Judge], [Functions].
package puretemplate

import (
	"fmt"
	"strings"
	"text/template/parse"
)

// Kind is where a template is used. It determines how actions are written, and the input.
type Kind uint8

const (
	// Path is a text or a path with actions in {{ }}. It gets no input.
	Path Kind = iota
	// File is a file below data/templates with actions in .action{ }. It gets title, id, name and alias of a document
	// that its reader may read.
	File
	// Column is a database column with actions in .action{ }; those in {{ }} are judged too, whether SiYuan runs them
	// or not. It gets the cells of one row by column name.
	Column
)

// The delimiters of actions in files and columns; in paths they are those of text/template.
const (
	actionLeft  = ".action{"
	actionRight = "}"
)

// Bounds of a pure template; SiYuan has none.
const (
	// maxText bounds a template in bytes.
	maxText = 64 << 10
	// maxCount bounds a count in a template, such as a number of repetitions or the length of a list.
	maxCount = 1000
	// maxOutput bounds the output of a template in bytes, including intermediate values.
	maxOutput = 1 << 20
	// maxSteps bounds how many parts are evaluated, counting each iteration of a loop.
	maxSteps = 50_000
	// workOfStep is how much of what [MatchWork] returns counts as one of these parts.
	workOfStep = 1000
	// maxDepth bounds the nesting of a template.
	maxDepth = 64
	// maxVariables bounds the variables that exist at the same time.
	maxVariables = 100
	// maxJudgeSteps bounds the work of judging: the parts that are visited, each time they are.
	maxJudgeSteps = 1 << 20
	// maxFindings bounds the reported findings.
	maxFindings = 8
)

// Finding is a reason why a template is not pure.
type Finding struct {
	// Name is the part of the template: "queryBlocks", ".Content", "range". It is empty for the template as a whole.
	Name string
	// Why says what is wrong with that part, as the rest of a sentence that begins with Name.
	Why string
}

func (f Finding) String() string {
	if f.Name == "" {
		return "the template " + f.Why
	}
	return f.Name + " " + f.Why
}

// Judge returns why a template is not pure, in the order of the text, or nothing if it is pure. It reports at most
// maxFindings reasons for each pair of delimiters. Time and memory are bounded, since long texts and too many nested loops
// are refused. Judge is safe for concurrent use.
func Judge(kind Kind, text string) []Finding {
	if len(text) > maxText {
		return []Finding{{Why: fmt.Sprintf("is longer than %d bytes", maxText)}}
	}
	switch kind {
	case File: // {{ }} is an embed block in files
		return judgeDelimited(kind, text, actionLeft, actionRight)
	case Column:
		return append(judgeDelimited(kind, text, actionLeft, actionRight), judgeDelimited(kind, text, "{{", "}}")...)
	}
	if strings.Contains(text, actionLeft) {
		// Whoever renders the path may accept the delimiters of files too.
		return []Finding{{Name: actionLeft, Why: "is how template files write actions; here they stand in {{ }}"}}
	}
	return judgeDelimited(Path, text, "{{", "}}")
}

// judgeDelimited is like [Judge] for one pair of delimiters.
func judgeDelimited(kind Kind, text, left, right string) []Finding {
	if !strings.Contains(text, left) {
		return nil
	}
	if isTooDeep(text, left) {
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
	root := inputValue(kind)
	j.vars = []variable{{"$", root}}
	j.list(tree.Root, root)
	if j.produced > maxOutput || j.steps > maxSteps {
		j.refuse("", "may be too much work")
	}
	return j.findings
}

// isTooDeep reports whether parentheses may be nested too deep for the parser. It counts those in quotes too, which does
// not matter for templates that people write.
func isTooDeep(text, left string) bool {
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
