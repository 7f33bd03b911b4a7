package validate

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"collie/internal/sorting"
	"collie/internal/tool"
)

// This file validates arguments and puts the problems found into one error.

// maxFields is the maximum number of problems reported at once, maxPath the maximum length of each path.
const (
	maxFields = 8
	maxPath   = 200
)

// problem is one error in the arguments.
type problem struct {
	at    []string // location of the wrong or missing value, or of the object if one of several names is missing
	text  string
	whole bool // text names the place itself, so it is not put in front

	// explainer.explainBranches compares the branches of an anyOf or oneOf by the following fields. At most one is set.
	types   []string // that were expected
	values  []any    // expected values
	missing []string // names that are missing
	unknown bool     // the problem is an unknown name
}

// problems validates obj, which holds that many values.
func (f *form) problems(obj map[string]any, values int) []problem {
	var ps []problem
	if f.schema != nil {
		switch err := f.validate(obj, values).(type) { //nolint:errorlint // validate wraps none
		case nil:
		case *jsonschema.ValidationError:
			if f.strict {
				ps = (&explainer{schemas: f.schemas, doc: obj}).problems(err)
			} else {
				ps = f.lenient(obj, values, err)
			}
		default:
			return []problem{uncheckedProblem(err)}
		}
	}
	if f.names != nil {
		ps = append(ps, unknownNames(nil, f.names.unknown(obj), obj, f.names.sorted())...)
	}
	return inOrder(ps)
}

// validate calls the library within limits for steps, and recovers from its panics.
func (f *form) validate(obj map[string]any, values int) (err error) {
	if f.unboundedErrors && values > maxUnboundedValues {
		return errUnbounded
	}
	defer func() {
		if p := recover(); p != nil { // the library and the schema are not ours
			err = errors.New("the schema breaks its validator")
		}
	}()
	return f.schema.ValidateWithin(obj, stepLimit(values))
}

// inOrder sorts ps: the validator visits objects in random order.
func inOrder(ps []problem) []problem {
	sorting.By(ps, func(a, b problem) int {
		if c := slices.CompareFunc(a.at, b.at, compareTokens); c != 0 {
			return c
		}
		return strings.Compare(a.text, b.text)
	})
	return slices.CompactFunc(ps, func(a, b problem) bool {
		// two rules may know different names, but the argument is unknown only once
		return slices.Equal(a.at, b.at) && (a.text == b.text || a.unknown && b.unknown)
	})
}

// compareTokens compares two path tokens; indices are compared as numbers.
func compareTokens(a, b string) int {
	i, errA := strconv.Atoi(a)
	j, errB := strconv.Atoi(b)
	if errA == nil && errB == nil && i != j {
		return i - j
	}
	return strings.Compare(a, b)
}

// refusalError returns the error for the caller; ps is not empty.
func refusalError(c *tool.Call, ps []problem) error {
	e := &tool.Error{Op: "call", Kind: tool.Invalid, Subject: c.Name, Message: ps[0].sentence()}
	if c.Tool != "" {
		e.Subject = c.Tool + "." + c.Action.Name
	}
	if len(ps) > 1 {
		e.Message += fmt.Sprintf(" (and %d more)", len(ps)-1)
	}
	switch {
	case c.Action != nil && c.Action.Signature != "":
		e.Hint = fmt.Sprintf("%s.%s; %s(action=\"help\", topic=%q) tells more", c.Tool, c.Action.Signature, c.Tool, c.Action.Name)
	case c.Name != "":
		e.Hint = "see the inputSchema of " + c.Name
	}
	for _, p := range ps[:min(len(ps), maxFields)] {
		e.Fields = append(e.Fields, tool.Field{Path: shorten(pointer(p.at), maxPath), Message: p.text})
	}
	return e
}

func (p *problem) sentence() string {
	switch {
	case p.whole:
		return p.text
	case len(p.at) == 0:
		return "the arguments: " + p.text
	case len(p.at) == 1:
		return "argument " + quoted(p.at[0]) + ": " + p.text
	}
	return "argument " + quoted(pointer(p.at)) + ": " + p.text
}

// pointer converts at to a JSON pointer (RFC 6901).
func pointer(at []string) string {
	var b strings.Builder
	for _, t := range at {
		b.WriteByte('/')
		b.WriteString(strings.NewReplacer("~", "~0", "/", "~1").Replace(t))
	}
	return b.String()
}
