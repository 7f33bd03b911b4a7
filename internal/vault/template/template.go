// Package template runs the templates of notes: text/template with a closed set of functions and with bounds, so that a
// template can neither reach files, the environment or the network nor run for long or write without end.
//
// It knows nothing of workspaces: what queryBlocks asks is answered by a function of the caller.
//
// Entry point: [Execute].
package template

import (
	"errors"
	"fmt"
	"strings"
	"text/template"
	"time"
)

// Bounds of one execution.
const (
	// MaxText is the longest template, in bytes.
	MaxText = 256 << 10
	// MaxOutput is the most a template may write, in bytes.
	MaxOutput = 1 << 20
	// maxMade is what its functions may make in all, in bytes.
	maxMade = 8 << 20
	// maxNodes is how many parts of the template may be evaluated, loops and calls counted each time.
	maxNodes = 200_000
	// maxQueries is how often queryBlocks may be called.
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
	// is an error, [ErrName].
	Values map[string]any
	// Query answers queryBlocks; nil gives no blocks. The statement comes from the template, so it must be guarded.
	Query func(statement string) ([]map[string]any, error)
}

// ActionLeft and ActionRight mark actions in the files below data/templates.
const (
	ActionLeft  = ".action{"
	ActionRight = "}"
)

// Execute runs a template. The error is that of text/template, as SiYuan shows it, or says which bound was reached.
func Execute(text string, o Options) (string, error) {
	if len(text) > MaxText {
		return "", fmt.Errorf("template: the template is longer than %d bytes", MaxText)
	}
	b := &budget{deadline: time.Now().Add(maxTime)}
	t, err := template.New("").Delims(o.Left, o.Right).Funcs(functions(b, o.Query)).Parse(text)
	if err != nil {
		return "", err
	}
	if err := meter(t); err != nil {
		return "", err
	}
	var dot any = o.Data
	if o.Values != nil {
		t.Option("missingkey=error")
		dot = o.Values
	}
	var out strings.Builder
	if err := t.Execute(&limited{&out}, dot); err != nil {
		if bound, ok := errors.AsType[boundError](err); ok {
			return "", bound
		}
		if o.Values != nil && strings.Contains(err.Error(), "map has no entry for key") {
			return "", fmt.Errorf("%w: %w", ErrName, err)
		}
		return "", err
	}
	return out.String(), nil
}

// ErrName is in the error of a template that asks for a name that is not in its values.
var ErrName = errors.New("template: there is no such name")

// boundError says which bound a template reached.
type boundError string

func (e boundError) Error() string { return "template: " + string(e) }

const (
	errOutput  boundError = "it writes more than 1 MiB"
	errMade    boundError = "its texts grow too long"
	errNodes   boundError = "it has too many steps, in loops or in templates that call each other"
	errTime    boundError = "it takes too long"
	errQueries boundError = "it asks queryBlocks too often"
)

// limited refuses what goes beyond MaxOutput.
type limited struct{ out *strings.Builder }

func (l *limited) Write(p []byte) (int, error) {
	if l.out.Len()+len(p) > MaxOutput {
		return 0, errOutput
	}
	return l.out.Write(p)
}
