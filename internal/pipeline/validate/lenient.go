package validate

import (
	"encoding/json"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// A schema of somebody else's server is stricter than the server more often than not. Many
// models write null for what they leave out, and a number, true or a list as text; many servers
// take these. So arguments pass, as they came, if they fit once each such value is read as what
// it was meant to be:
//
//   - null, for a field that may be left out, as left out
//   - text that holds a number, a boolean, an object or a list, where one is wanted, as that
//   - a required field that is missing and has a default, as the default
//
// All else that does not fit cannot have been meant.

// rereadings bounds how often arguments are read anew: a text may hold an object with fields that
// are null.
const rereadings = 4

// lenient returns what is wrong with obj when it is read so. err is what the schema says of obj
// as it is.
func (f *form) lenient(obj map[string]any, values int, err *jsonschema.ValidationError) []problem {
	strictly := (&explainer{schemas: f.schemas, doc: obj}).problems(err)
	doc := obj
	for range rereadings {
		r := reading{x: explainer{schemas: f.schemas, doc: doc}}
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
			return []problem{unchecked(again)}
		}
	}
	// A field that was null and must not be left out is wrong for what was given.
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

// reading is what is to be read otherwise in the arguments.
type reading struct {
	x      explainer
	edits  []edit
	values int // that texts hold
}

// edit says how the values in a place are to be read. In the path all items of a list are one
// place, since not every wrong item is told.
type edit struct {
	at      []string
	leftOut bool     // null stands for nothing
	types   []string // text stands for a value of one of these
	missing any      // what a field that is not there stands for
}

const anyItem = "*"

// collect goes through the tree of an error for values that may have been meant otherwise.
func (r *reading) collect(e *jsonschema.ValidationError) {
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
		r.edits = append(r.edits, edit{at: r.place(at), leftOut: true})
	}
	for _, c := range e.Causes {
		r.collect(c)
	}
}

// place is a location in the arguments as an edit has it.
func (r *reading) place(at []string) []string {
	out := slices.Clone(at)
	for i := range at {
		if _, ok := r.x.value(at[:i]).([]any); ok {
			out[i] = anyItem
		}
	}
	return out
}

// isNullField reports whether an object has the field that at leads to, and it is null.
func (r *reading) isNullField(at []string) bool {
	if len(at) == 0 {
		return false
	}
	parent, _ := r.x.value(at[:len(at)-1]).(map[string]any)
	v, given := parent[at[len(at)-1]]
	return given && v == nil
}

// meantBy returns the value that a text holds, if it is of one of the types want, and how many
// values are in it.
func meantBy(v any, want []string) (inner any, values int, ok bool) {
	text, ok := v.(string)
	if !ok || len(text) > quickly {
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

// apply returns v, which stands in the place at, as it is to be read. It changes nothing in v.
func (r *reading) apply(v any, at []string) any {
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

func (r *reading) applyTo(obj map[string]any, at []string) map[string]any {
	out := make(map[string]any, len(obj))
	for name, v := range obj {
		place := child(at, name)
		null := func(e edit) bool { return e.leftOut && slices.Equal(e.at, place) }
		if v != nil || !slices.ContainsFunc(r.edits, null) {
			out[name] = r.apply(v, place)
		}
	}
	for _, e := range r.edits {
		n := len(e.at) - 1
		if e.missing != nil && slices.Equal(e.at[:n], at) && !has(obj, e.at[n]) {
			out[e.at[n]] = e.missing
		}
	}
	return out
}
