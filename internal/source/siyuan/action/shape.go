package action

import (
	"encoding/json"
	"strings"
	"sync"

	"github.com/tidwall/gjson"
)

// shape is what the schema of an argument says of the types of values: its own, and those of what
// is within. A nil one says nothing.
type shape struct {
	typ      string
	items    *shape            // of a list
	members  map[string]*shape // of an object
	required map[string]bool
	more     *shape   // of members that have no name of their own
	forms    []*shape // of what may be an object or a list
}

// lateShape is the shape of a schema, which is made when a value has to fit. Most actions are never called.
type lateShape struct {
	schema json.RawMessage
	once   sync.Once
	shape  *shape
}

func (l *lateShape) get() *shape {
	l.once.Do(func() { l.shape = shapeOf(gjson.ParseBytes(l.schema)) })
	return l.shape
}

func shapeOf(schema gjson.Result) *shape {
	s := &shape{typ: schema.Get("type").String()}
	if strings.Contains(s.typ, `"null"`) { // a list of types: null is a value like others
		s.typ = ""
	}
	for _, form := range schema.Get("anyOf").Array() {
		s.forms = append(s.forms, shapeOf(form))
	}
	if items := schema.Get("items"); items.IsObject() {
		s.items = shapeOf(items)
	}
	if props := schema.Get("properties"); props.IsObject() {
		s.members, s.required = map[string]*shape{}, map[string]bool{}
		props.ForEach(func(name, of gjson.Result) bool {
			s.members[name.String()] = shapeOf(of)
			return true
		})
		for _, name := range schema.Get("required").Array() {
			s.required[name.String()] = true
		}
	}
	if more := schema.Get("additionalProperties"); more.IsObject() {
		s.more = shapeOf(more)
	}
	return s
}

// fit is a value in this shape, as far as that is obvious. What fits is returned as it is written.
func (s *shape) fit(v gjson.Result) json.RawMessage {
	if s == nil {
		return json.RawMessage(v.Raw)
	}
	if s.forms != nil {
		return s.form(v)
	}
	switch s.typ {
	case "array":
		return s.list(v)
	case "object":
		return s.object(v)
	}
	return fitType(v, s.typ)
}

// form fits a value into the form that it has.
func (s *shape) form(v gjson.Result) json.RawMessage {
	if inner, ok := written(v); ok && (inner.IsObject() || inner.IsArray()) {
		v = inner
	}
	for _, f := range s.forms {
		if f.typ == "object" && v.IsObject() || f.typ == "array" && v.IsArray() {
			return f.fit(v)
		}
	}
	return json.RawMessage(v.Raw)
}

func (s *shape) list(v gjson.Result) json.RawMessage {
	if inner, ok := written(v); ok && inner.IsArray() {
		v = inner
	}
	switch {
	case v.Type == gjson.Null:
		return json.RawMessage(v.Raw)
	case !v.IsArray():
		return json.RawMessage("[" + string(s.items.fit(v)) + "]")
	}
	out, changed := []byte{'['}, false
	v.ForEach(func(_, item gjson.Result) bool {
		if len(out) > 1 {
			out = append(out, ',')
		}
		fitted := s.items.fit(item)
		changed = changed || string(fitted) != item.Raw
		out = append(out, fitted...)
		return true
	})
	if !changed {
		return json.RawMessage(v.Raw)
	}
	return append(out, ']')
}

func (s *shape) object(v gjson.Result) json.RawMessage {
	if inner, ok := written(v); ok && inner.IsObject() {
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
	o, changed := object{}, false
	v.ForEach(func(k, member gjson.Result) bool {
		name := k.String()
		if to := s.meant(name); to != "" && !seen[to] {
			name, changed, seen[to] = to, true, true
		}
		of := s.more
		if own, ok := s.members[name]; ok {
			of = own
		}
		if member.Type == gjson.Null && of != nil && of.typ != "" && !s.required[name] {
			changed = true // as if it were not given
			return true
		}
		fitted := of.fit(member)
		changed = changed || string(fitted) != member.Raw
		o.addRaw(name, fitted)
		return true
	})
	if !changed {
		return json.RawMessage(v.Raw)
	}
	return o.bytes()
}

// meant is the one member whose name differs from another in capitals, "_" and "-" only; empty for
// the name of a member, and for what is none.
func (s *shape) meant(name string) string {
	if _, ok := s.members[name]; ok {
		return ""
	}
	found := ""
	for member := range s.members {
		if letters(member) != letters(name) {
			continue
		}
		if found != "" {
			return ""
		}
		found = member
	}
	return found
}

// written is the JSON that a text holds.
func written(v gjson.Result) (inner gjson.Result, ok bool) {
	if v.Type != gjson.String || !gjson.Valid(v.String()) {
		return gjson.Result{}, false
	}
	inner = gjson.Parse(v.String())
	inner.Raw = strings.TrimSpace(inner.Raw)
	return inner, true
}

// Fit is a value in the type that the argument has, as far as that is obvious.
func (p *Param) Fit(raw json.RawMessage) json.RawMessage {
	if !gjson.ValidBytes(raw) {
		return raw
	}
	return fit(gjson.ParseBytes(raw), p)
}
