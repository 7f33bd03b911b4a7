package validate

import (
	"encoding/json"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// The schema of somebody else's server is often stricter than the server itself. Many models write null for
// an omitted argument, or a number, true or a list as a string, and many servers accept that. So arguments
// pass, unchanged, if they match once such values are reinterpreted:
//
//   - null for an optional field counts as omitted;
//   - a string that holds a number, boolean, object or list counts as that, if one is required;
//   - a missing required field that has a default counts as the default.
//
// Everything else that does not match is refused.

// maxRereadings is how many rounds of reinterpretation there are at most. One may not be enough: a string may
// hold an object with fields that are null.
const maxRereadings = 4

// lenient returns the problems of obj after reinterpretation. values is the number of values in obj. err is the result of
// validating obj unchanged.
func (f *form) lenient(obj map[string]any, values int, err *jsonschema.ValidationError) []problem {
	strictly := (&explainer{schemas: f.schemas, doc: obj}).problems(err)
	doc := obj
	for range maxRereadings {
		r := rereading{x: explainer{schemas: f.schemas, doc: doc}}
		r.collect(err)
		if len(r.edits) == 0 {
			break
		}
		doc, _ = r.apply(doc, nil).(map[string]any)
		switch again := f.validate(doc, values+r.values).(type) { //nolint:errorlint // validate wraps none
		case nil:
			return nil
		case *jsonschema.ValidationError:
			err = again
		default:
			return []problem{uncheckedProblem(again)}
		}
	}
	// A null in a required field is reported as it was given, not as missing.
	ps := (&explainer{schemas: f.schemas, doc: doc}).problems(err)
	for i, p := range ps {
		if p.missing == nil {
			continue
		}
		if j := slices.IndexFunc(strictly, func(q problem) bool { return q.missing == nil && slices.Equal(p.at, q.at) }); j >= 0 {
			ps[i] = strictly[j]
		}
	}
	return ps
}

// rereading holds the reinterpretations of one set of arguments.
type rereading struct {
	x      explainer
	edits  []edit
	values int // number of values inside strings
}

// edit says how the values at a place are to be reinterpreted. All items of a list are one place, since not
// every wrong item is reported.
type edit struct {
	at      []string
	omitted bool     // null counts as omitted
	types   []string // a string counts as a value of one of these types
	missing any      // the value for a missing field
}

const anyItem = "*"

// collect finds values to reinterpret in the tree of errors e.
func (r *rereading) collect(e *jsonschema.ValidationError) {
	at := e.InstanceLocation
	switch k := e.ErrorKind.(type) {
	case *kind.PropertyNames: // its causes are not about values
		return
	case *kind.Required:
		for _, name := range k.Missing {
			if p := r.x.schema(e.SchemaURL).Properties[name]; p != nil && p.Default != nil {
				r.edits = append(r.edits, edit{at: child(r.place(at), name), missing: *p.Default})
			}
		}
	case *kind.Type:
		if _, _, ok := meantBy(r.x.value(at), k.Want); ok {
			r.edits = append(r.edits, edit{at: r.place(at), types: k.Want})
		}
	}
	if len(e.Causes) == 0 && r.isNullField(at) {
		r.edits = append(r.edits, edit{at: r.place(at), omitted: true})
	}
	for _, c := range e.Causes {
		r.collect(c)
	}
}

// place converts a location in the arguments to the form used in edits.
func (r *rereading) place(at []string) []string {
	out := slices.Clone(at)
	for i := range at {
		if _, ok := r.x.value(at[:i]).([]any); ok {
			out[i] = anyItem
		}
	}
	return out
}

// isNullField reports whether at leads to a field of an object that is null.
func (r *rereading) isNullField(at []string) bool {
	if len(at) == 0 {
		return false
	}
	parent, _ := r.x.value(at[:len(at)-1]).(map[string]any)
	v, present := parent[at[len(at)-1]]
	return present && v == nil
}

// meantBy parses v if it is a string that holds a value of one of the types in want. values is the number of
// values in it.
func meantBy(v any, want []string) (inner any, values int, ok bool) {
	text, ok := v.(string)
	if !ok || len(text) > maxQuickSize {
		return nil, 0, false
	}
	inner, values, err := decode([]byte(text), true)
	if err != nil {
		return nil, 0, false
	}
	var types []string
	switch inner.(type) {
	case json.Number:
		types = []string{"number", "integer"}
	case bool:
		types = []string{"boolean"}
	case map[string]any:
		types = []string{"object"}
	case []any:
		types = []string{"array"}
	}
	return inner, values, slices.ContainsFunc(types, func(t string) bool { return slices.Contains(want, t) })
}

// apply returns v, the value at the place at, reinterpreted. It does not modify v.
func (r *rereading) apply(v any, at []string) any {
	for _, e := range r.edits {
		if e.types == nil || !slices.Equal(e.at, at) {
			continue
		}
		if inner, values, ok := meantBy(v, e.types); ok {
			r.values += values
			return inner
		}
	}
	switch v := v.(type) {
	case map[string]any:
		return r.applyTo(v, at)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = r.apply(v[i], child(at, anyItem))
		}
		return out
	}
	return v
}

func (r *rereading) applyTo(obj map[string]any, at []string) map[string]any {
	out := make(map[string]any, len(obj))
	for name, v := range obj {
		place := child(at, name)
		null := func(e edit) bool { return e.omitted && slices.Equal(e.at, place) }
		if v != nil || !slices.ContainsFunc(r.edits, null) {
			out[name] = r.apply(v, place)
		}
	}
	for _, e := range r.edits {
		n := len(e.at) - 1
		if e.missing != nil && slices.Equal(e.at[:n], at) && !hasName(obj, e.at[n]) {
			out[e.at[n]] = e.missing
		}
	}
	return out
}
