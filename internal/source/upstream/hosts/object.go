package hosts

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// This file has JSON objects that keep the order of their members.

// member is a member of an object: its name, and its value as JSON.
type member struct {
	name  string
	value json.RawMessage
}

// object is an object with its members in the file's order. A null counts as missing.
type object struct{ members []member }

func (o object) get(name string) json.RawMessage {
	for _, m := range slices.Backward(o.members) { // of duplicate names the last one counts
		if m.name == name && kindOf(m.value) != 'n' {
			return m.value
		}
	}
	return nil
}

func (o object) has(name string) bool { return o.get(name) != nil }

// membersOf returns the members of an object; nil if raw is not an object, or is empty.
func membersOf(raw json.RawMessage) []member {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	var list []member
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil
		}
		list = append(list, member{fmt.Sprint(name), value})
	}
	return list
}

// kindOf returns the first character of a JSON value, 0 if there is none.
func kindOf(raw json.RawMessage) byte {
	if raw = bytes.TrimSpace(raw); len(raw) > 0 {
		return raw[0]
	}
	return 0
}

func stringOf(raw json.RawMessage) (s string, ok bool) {
	return s, kindOf(raw) == '"' && json.Unmarshal(raw, &s) == nil
}

func stringsOf(raw json.RawMessage) (list []string, ok bool) {
	return list, kindOf(raw) == '[' && json.Unmarshal(raw, &list) == nil
}

func boolOf(raw json.RawMessage) (b, ok bool) {
	k := kindOf(raw)
	return b, (k == 't' || k == 'f') && json.Unmarshal(raw, &b) == nil
}

func firstOf(raws ...json.RawMessage) json.RawMessage {
	for _, raw := range raws {
		if raw != nil {
			return raw
		}
	}
	return nil
}

func contains(list []string, s string) bool { return slices.Contains(list, s) }

// encode returns v as JSON without escaping < > &.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(fmt.Sprintf("hosts: a value does not encode: %v", err))
	}
	return bytes.TrimSpace(b.Bytes())
}

// orderedObject is an object being written. Its members keep the order in which they were set.
type orderedObject struct{ list []item }

type item struct {
	name  string
	value any
}

func (o *orderedObject) find(name string) int {
	return slices.IndexFunc(o.list, func(i item) bool { return i.name == name })
}

func (o *orderedObject) has(name string) bool { return o.find(name) >= 0 }

func (o *orderedObject) set(name string, value any) {
	if i := o.find(name); i >= 0 {
		o.list[i].value = value
		return
	}
	o.list = append(o.list, item{name, value})
}

// merge adds the members of p, merging objects recursively.
func (o *orderedObject) merge(p *orderedObject) {
	for _, i := range p.list {
		at := o.find(i.name)
		if at < 0 {
			o.list = append(o.list, i)
			continue
		}
		mine, ok := o.list[at].value.(*orderedObject)
		if theirs, both := i.value.(*orderedObject); ok && both {
			mine.merge(theirs)
		} else {
			o.list[at].value = i.value
		}
	}
}

// strings returns a list that was set, nil if there is none.
func (o *orderedObject) strings(name string) []string {
	if i := o.find(name); i >= 0 {
		list, _ := o.list[i].value.([]string)
		return list
	}
	return nil
}

// MarshalJSON writes the members in their order.
func (o *orderedObject) MarshalJSON() ([]byte, error) { return o.json(), nil }

func (o *orderedObject) json() json.RawMessage {
	b := []byte{'{'}
	for i, m := range o.list {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, encode(m.name)...), ':'), encode(m.value)...)
	}
	return append(b, '}')
}
