package validate

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"collie/internal/tool"
)

// This file turns the errors of the validator into problems that a model or a person can act on.

// explainer turns the validator's errors into problems that a model or a person can act on.
type explainer struct {
	schemas map[string]*jsonschema.Schema // by location
	doc     any
}

// schema returns the schema at a location; an empty one if there is none.
func (x *explainer) schema(location string) *jsonschema.Schema {
	if s := x.schemas[location]; s != nil {
		return s
	}
	return new(jsonschema.Schema)
}

// value returns the value at a location in the arguments.
func (x *explainer) value(at []string) any {
	v := x.doc
	for _, t := range at {
		switch c := v.(type) {
		case map[string]any:
			v = c[t]
		case []any:
			i, err := strconv.Atoi(t)
			if err != nil || i < 0 || i >= len(c) {
				return nil
			}
			v = c[i]
		default:
			return nil
		}
	}
	return v
}

// problems returns the problems in the tree of errors e.
func (x *explainer) problems(e *jsonschema.ValidationError) []problem {
	at, s := e.InstanceLocation, x.schema(e.SchemaURL)
	switch k := e.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.AllOf, *kind.Reference:
		return x.allProblems(e.Causes)
	case *kind.AnyOf:
		return x.explainBranches(at, e.Causes)
	case *kind.OneOf:
		if len(k.Subschemas) == 0 {
			return x.explainBranches(at, e.Causes)
		}
		return singleProblem(at, fmt.Sprintf("fits more than one of the forms it may have (%d and %d); it must fit exactly one", k.Subschemas[0]+1, k.Subschemas[1]+1))
	case *kind.Required:
		return x.missingProblems(at, s, k.Missing)
	case *kind.Dependency:
		return x.dependentMissingProblems(at, k.Prop, k.Missing)
	case *kind.DependentRequired:
		return x.dependentMissingProblems(at, k.Prop, k.Missing)
	case *kind.AdditionalProperties:
		return x.unknownProblems(at, slices.Sorted(maps.Keys(s.Properties)), k.Properties)
	case *kind.FalseSchema:
		return x.forbiddenProblems(at, e.SchemaURL)
	case *kind.PropertyNames:
		return x.badNameProblems(at, k.Property, e.Causes)
	case *kind.Type:
		if s.Enum != nil {
			return []problem{x.wrongValueProblem(at, s, s.Enum.Values)}
		}
		return []problem{x.wrongTypeProblem(at, s, k.Want)}
	case *kind.Enum:
		return []problem{x.wrongValueProblem(at, s, k.Want)}
	case *kind.Const:
		return []problem{x.wrongValueProblem(at, s, []any{k.Want})}
	case *kind.Not:
		return singleProblem(at, notText(s))
	}
	return singleProblem(at, x.boundText(at, s, e.ErrorKind))
}

func (x *explainer) allProblems(causes []*jsonschema.ValidationError) []problem {
	var ps []problem
	for _, c := range causes {
		ps = append(ps, x.problems(c)...)
	}
	return ps
}

func singleProblem(at []string, text string) []problem { return []problem{{at: at, text: text}} }

// expectedHint returns, in brackets, the values or types that a schema accepts; empty if it does not say.
func expectedHint(s *jsonschema.Schema) string {
	switch {
	case s == nil:
		return ""
	case s.Enum != nil && len(s.Enum.Values) > 1:
		return " (one of " + literals(s.Enum.Values) + ")"
	case s.Types != nil:
		return " (" + strings.Join(s.Types.ToStrings(), " or ") + ")"
	}
	return ""
}

// missingProblems reports each required name that obj at "at" lacks, with the given name that was probably meant
// instead.
func (x *explainer) missingProblems(at []string, s *jsonschema.Schema, lacks []string) []problem {
	obj, _ := x.value(at).(map[string]any)
	var strays []string
	for name := range obj {
		if s.Properties[name] == nil {
			strays = append(strays, name)
		}
	}
	slices.Sort(strays)
	var ps []problem
	for _, name := range lacks {
		text := "required " + memberNoun(at) + " " + quoted(name)
		text += expectedHint(s.Properties[name])
		text += " is missing" + objectPlace(at)
		if stray, ok := tool.Nearest(name, strays); ok {
			text += "; did you mean it by " + quoted(stray) + "?"
		} else if len(obj) == 0 {
			text += "; none are given"
		} else {
			text += "; given: " + list(slices.Sorted(maps.Keys(obj)))
		}
		ps = append(ps, problem{at: child(at, name), text: text, whole: true, missing: []string{name}})
	}
	return ps
}

func (x *explainer) dependentMissingProblems(at []string, with string, lacks []string) []problem {
	var ps []problem
	for _, name := range lacks {
		text := memberNoun(at) + " " + quoted(name) + " is required together with " + quoted(with) + ", and is missing" + objectPlace(at)
		ps = append(ps, problem{at: child(at, name), text: text, whole: true, missing: []string{name}})
	}
	return ps
}

func (x *explainer) unknownProblems(at, known, strays []string) []problem {
	obj, _ := x.value(at).(map[string]any)
	slices.Sort(strays)
	return unknownNames(at, strays, obj, known)
}

// unknownNames reports the names in strays, which are sorted; if there are many, only the first maxSimilarErrors.
func unknownNames(at, strays []string, obj map[string]any, known []string) []problem {
	var ps []problem
	for _, name := range strays[:min(len(strays), maxSimilarErrors)] {
		ps = append(ps, unknownName(at, name, obj, known))
	}
	return ps
}

// unknownName reports a name that the object obj at "at" must not have, and suggests a similar known name
// that is not given yet.
func unknownName(at []string, name string, obj map[string]any, known []string) problem {
	text := "unknown " + memberNoun(at) + " " + quoted(name) + objectPlace(at)
	var open []string
	for _, k := range known {
		if _, present := obj[k]; !present {
			open = append(open, k)
		}
	}
	if best, ok := tool.Nearest(name, open); ok {
		text += "; did you mean " + quoted(best) + "?"
	}
	if len(known) == 0 {
		text += "; none is known here"
	} else {
		sep := "; "
		if strings.HasSuffix(text, "?") {
			sep = " "
		}
		text += sep + "known: " + list(known)
	}
	return problem{at: child(at, name), text: text, whole: true, unknown: true}
}

// forbiddenProblems reports a value for which the schema is "false".
func (x *explainer) forbiddenProblems(at []string, location string) []problem {
	if owner, ok := strings.CutSuffix(location, "/unevaluatedProperties"); ok && len(at) > 0 {
		n := len(at) - 1
		return x.unknownProblems(at[:n], namesOf(x.schema(owner)).sorted(), at[n:])
	}
	return singleProblem(at, "is not allowed here")
}

func (x *explainer) badNameProblems(at []string, name string, causes []*jsonschema.ValidationError) []problem {
	if obj, _ := x.value(at).(map[string]any); !hasName(obj, name) {
		at = nil // the library reuses the memory of this path
	}
	text := "the name " + quoted(name) + " is not allowed" + objectPlace(at)
	// The causes treat the name as if it were the whole arguments.
	named := explainer{schemas: x.schemas, doc: name}
	if ps := inOrder(named.allProblems(causes)); len(ps) > 0 && !ps[0].whole {
		text += ": " + ps[0].text
	}
	return []problem{{at: at, text: text, whole: true}}
}

func hasName(obj map[string]any, name string) bool {
	_, ok := obj[name]
	return ok
}

// notText describes what a "not" forbids, in simple cases.
func notText(s *jsonschema.Schema) string {
	if s.Not == nil {
		return "has a form that is not allowed"
	}
	switch {
	case len(s.Not.Required) == 1 && len(s.Not.Properties) == 0:
		return quoted(s.Not.Required[0]) + " must not be given"
	case len(s.Not.Required) > 1 && len(s.Not.Properties) == 0:
		var options []any
		for _, name := range s.Not.Required {
			options = append(options, name)
		}
		return literals(options) + " must not be given together"
	case s.Not.Const != nil:
		return "must not be " + literal(*s.Not.Const)
	case s.Not.Enum != nil:
		return "must not be one of " + literals(s.Not.Enum.Values)
	}
	return "has a form that is not allowed"
}

// memberNoun returns the word for the members of an object at "at".
func memberNoun(at []string) string {
	if len(at) == 0 {
		return "argument"
	}
	return "field"
}

// objectPlace returns the place of an object, empty for the arguments themselves.
func objectPlace(at []string) string {
	if len(at) == 0 {
		return ""
	}
	return " in " + quoted(pointer(at))
}

func child(at []string, name string) []string { return append(slices.Clone(at), name) }
