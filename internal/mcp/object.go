package mcp

import (
	"bytes"
	"encoding/json"
	"iter"
)

// This file reads and changes members of JSON objects without decoding the rest.

// Field is a member of a JSON object to be set, or removed if Value is nil.
type Field struct {
	Key   string
	Value json.RawMessage
}

// Edit returns obj with fields set or removed. All other bytes and their order stay the same. A new field is
// added at the end; a removed one takes a comma with it. obj must be a valid JSON object; nil and null count
// as {}. The result shares no memory with obj.
func Edit(obj json.RawMessage, fields ...Field) json.RawMessage {
	if !isObject(obj) {
		obj = json.RawMessage("{}")
	}
	size := len(obj)
	for _, f := range fields {
		size += len(f.Key) + len(f.Value) + 4
	}
	out := make([]byte, 0, size)
	var done uint64 // bit i: fields[i] was found in obj; there are only a few fields
	start := skipSpace(obj, 0)
	m := newMembers(obj)
	copied, last := start, start+1 // positions in obj: up to where it was copied to out; and where the last member that stays ended, or behind the comma of a removed first one
	first := true                  // no member has been kept so far
	for m.next() {
		if !m.skip() {
			break
		}
		before := last
		last = m.end
		at := indexOfCurrent(&m, fields)
		switch {
		case at < 0:
			first = false
		case fields[at].Value != nil && done&(1<<at) == 0:
			out = append(append(out, obj[copied:m.start]...), fields[at].Value...)
			copied, first = m.end, false
			done |= 1 << at
		case first:
			out = append(out, obj[copied:keyStart(&m)]...)
			if copied = skipSpace(obj, m.end); copied < len(obj) && obj[copied] == ',' {
				copied++
				last = copied
			} else {
				copied = m.end
			}
			done |= 1 << at
		default:
			out = append(out, obj[copied:before]...)
			copied = m.end
			done |= 1 << at
		}
	}
	out = append(out, obj[copied:last]...)
	for n, f := range fields {
		if f.Value == nil || done&(1<<n) != 0 {
			continue
		}
		if !first {
			out = append(out, ',')
		}
		first = false
		out = append(appendString(out, f.Key), ':')
		out = append(out, f.Value...)
	}
	if m.err != nil {
		return append(out, '}')
	}
	return append(out, obj[last:m.i]...)
}

// indexOfCurrent returns the index in fields of the current member, -1 if it is not there.
func indexOfCurrent(m *members, fields []Field) int {
	for n := range fields {
		if m.isNamed(fields[n].Key) {
			return n
		}
	}
	return -1
}

// Get returns the value at path in obj, nil if there is none. obj must be valid JSON.
func Get(obj json.RawMessage, path ...string) json.RawMessage {
	for _, key := range path {
		if !isObject(obj) {
			return nil
		}
		m := newMembers(obj)
		var found json.RawMessage
		for m.next() {
			if !m.skip() {
				return nil
			}
			if m.isNamed(key) {
				found = obj[m.start:m.end:m.end]
			}
		}
		if found == nil {
			return nil
		}
		obj = found
	}
	return obj
}

// GetAll looks up several keys of obj in one pass. It sets values[i] to the value of keys[i], nil if there is
// none. obj must be valid JSON; values must be as long as keys.
func GetAll(obj json.RawMessage, keys []string, values []json.RawMessage) {
	clear(values)
	if !isObject(obj) {
		return
	}
	m := newMembers(obj)
	for m.next() {
		if !m.skip() {
			clear(values)
			return
		}
		for i, key := range keys {
			if m.isNamed(key) {
				values[i] = obj[m.start:m.end:m.end]
				break
			}
		}
	}
}

// Members iterates over the members of obj, in order. obj must be valid JSON; if it is not an object, there
// are none.
func Members(obj json.RawMessage) iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		if !isObject(obj) {
			return
		}
		m := newMembers(obj)
		for m.next() && m.skip() && yield(m.name(), obj[m.start:m.end:m.end]) {
		}
	}
}

// GetString returns the string at path in obj, "" if there is none.
func GetString(obj json.RawMessage, path ...string) string {
	s, _ := Text(Get(obj, path...))
	return s
}

// Text decodes raw if it is a JSON string; ok is false if it is not.
func Text(raw json.RawMessage) (string, bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1]), true
	}
	var s string
	return s, json.Unmarshal(raw, &s) == nil
}

// Quote returns s as a JSON string. Unlike [json.Marshal], it does not escape <, > and &. Invalid UTF-8 becomes U+FFFD.
func Quote(s string) json.RawMessage { return appendString(make([]byte, 0, len(s)+2), s) }

func appendString(dst []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c == '"' || c == '\\' || c >= 0x80 {
			return appendEscaped(dst, s)
		}
	}
	dst = append(dst, '"')
	dst = append(dst, s...)
	return append(dst, '"')
}

func appendEscaped(dst []byte, s string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic("mcp: a string does not encode: " + err.Error())
	}
	return append(dst, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
}

func isObject(b []byte) bool {
	i := skipSpace(b, 0)
	return i < len(b) && b[i] == '{'
}

// oneLine returns raw without line breaks, or raw itself if it has none. In valid JSON they can occur only
// between tokens, so replacing them by spaces changes no value.
func oneLine(raw []byte) []byte {
	if bytes.IndexByte(raw, '\n') < 0 && bytes.IndexByte(raw, '\r') < 0 {
		return raw
	}
	out := bytes.Clone(raw)
	for i, c := range out {
		if c == '\n' || c == '\r' {
			out[i] = ' '
		}
	}
	return out
}
