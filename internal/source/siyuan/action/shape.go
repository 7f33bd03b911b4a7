package action

import (
	"encoding/json"
	"strings"
	"sync"

	"github.com/tidwall/gjson"
)

// This file corrects values inside arrays and objects, by what the schema says about them.

// valueShape is what a schema says about the types of a value and its parts. A nil shape says nothing.
type valueShape struct {
	typ          string
	items        *valueShape            // for items of a list
	members      map[string]*valueShape // for members of an object
	required     map[string]bool
	fallback     *valueShape   // for members without a shape of their own
	alternatives []*valueShape // from anyOf: an object or a list
}

// lateShape builds the shape of a schema when a value has to fit it, since most actions are never called.
type lateShape struct {
	schema json.RawMessage
	once   sync.Once
	shape  *valueShape
}

func (l *lateShape) get() *valueShape {
	l.once.Do(func() { l.shape = shapeOf(gjson.ParseBytes(l.schema)) })
	return l.shape
}

func shapeOf(schema gjson.Result) *valueShape {
	s := &valueShape{typ: schema.Get("type").String()}
	if strings.Contains(s.typ, `"null"`) { // null is a normal value here
		s.typ = ""
	}
	for _, form := range schema.Get("anyOf").Array() {
		s.alternatives = append(s.alternatives, shapeOf(form))
	}
	if items := schema.Get("items"); items.IsObject() {
		s.items = shapeOf(items)
	}
	if props := schema.Get("properties"); props.IsObject() {
		s.members, s.required = map[string]*valueShape{}, map[string]bool{}
		props.ForEach(func(name, of gjson.Result) bool {
			s.members[name.String()] = shapeOf(of)
			return true
		})
		for _, name := range schema.Get("required").Array() {
			s.required[name.String()] = true
		}
	}
	if more := schema.Get("additionalProperties"); more.IsObject() {
		s.fallback = shapeOf(more)
	}
	return s
}

// coerce converts a value to this shape if it is obvious how. A value that fits keeps its bytes.
func (s *valueShape) coerce(v gjson.Result) json.RawMessage {
	if s == nil {
		return json.RawMessage(v.Raw)
	}
	if s.alternatives != nil {
		return s.coerceAlternative(v)
	}
	switch s.typ {
	case "array":
		return s.coerceList(v)
	case "object":
		return s.coerceObject(v)
	}
	return coerceType(v, s.typ)
}

// coerceAlternative converts a value to the alternative whose form it has.
func (s *valueShape) coerceAlternative(v gjson.Result) json.RawMessage {
	if inner, ok := embeddedJSON(v); ok && (inner.IsObject() || inner.IsArray()) {
		v = inner
	}
	for _, f := range s.alternatives {
		if f.typ == "object" && v.IsObject() || f.typ == "array" && v.IsArray() {
			return f.coerce(v)
		}
	}
	return json.RawMessage(v.Raw)
}

// coerceList converts the items of a list; a single value becomes a list of one.
func (s *valueShape) coerceList(v gjson.Result) json.RawMessage {
	if inner, ok := embeddedJSON(v); ok && inner.IsArray() {
		v = inner
	}
	switch {
	case v.Type == gjson.Null:
		return json.RawMessage(v.Raw)
	case !v.IsArray():
		return json.RawMessage("[" + string(s.items.coerce(v)) + "]")
	}
	out, changed := []byte{'['}, false
	v.ForEach(func(_, item gjson.Result) bool {
		if len(out) > 1 {
			out = append(out, ',')
		}
		fitted := s.items.coerce(item)
		changed = changed || string(fitted) != item.Raw
		out = append(out, fitted...)
		return true
	})
	if !changed {
		return json.RawMessage(v.Raw)
	}
	return append(out, ']')
}

// coerceObject converts the members of an object, corrects the spelling of their names, and drops nulls of optional ones.
func (s *valueShape) coerceObject(v gjson.Result) json.RawMessage {
	if inner, ok := embeddedJSON(v); ok && inner.IsObject() {
		v = inner
	}
	if !v.IsObject() {
		return json.RawMessage(v.Raw)
	}
	seen := map[string]bool{}
	v.ForEach(func(k, _ gjson.Result) bool {
		seen[k.String()] = true
		return true
	})
	o, changed := objectBuilder{}, false
	v.ForEach(func(k, member gjson.Result) bool {
		name := k.String()
		if to := s.memberName(name); to != "" && !seen[to] {
			name, changed, seen[to] = to, true, true
		}
		of := s.fallback
		if memberShape, ok := s.members[name]; ok {
			of = memberShape
		}
		if member.Type == gjson.Null && of != nil && of.typ != "" && !s.required[name] {
			changed = true // dropped, as if it were missing
			return true
		}
		fitted := of.coerce(member)
		changed = changed || string(fitted) != member.Raw
		o.addRaw(name, fitted)
		return true
	})
	if !changed {
		return json.RawMessage(v.Raw)
	}
	return o.bytes()
}

// memberName returns the one member whose name differs from name only in case, "_" and "-"; empty if name is itself a
// member, or unknown.
func (s *valueShape) memberName(name string) string {
	if _, ok := s.members[name]; ok {
		return ""
	}
	found := ""
	for member := range s.members {
		if foldName(member) != foldName(name) {
			continue
		}
		if found != "" {
			return ""
		}
		found = member
	}
	return found
}

// embeddedJSON returns the JSON that a string contains.
func embeddedJSON(v gjson.Result) (inner gjson.Result, ok bool) {
	if v.Type != gjson.String || !gjson.Valid(v.String()) {
		return gjson.Result{}, false
	}
	inner = gjson.Parse(v.String())
	inner.Raw = strings.TrimSpace(inner.Raw)
	return inner, true
}

// Fit converts a value to the type of the argument if it is obvious how.
func (p *Param) Fit(raw json.RawMessage) json.RawMessage {
	if !gjson.ValidBytes(raw) {
		return raw
	}
	return coerceParam(gjson.ParseBytes(raw), p)
}
