package toolcache

import (
	"bytes"
	"encoding/json"

	"github.com/go-json-experiment/json/jsontext"
)

// This file lays out the cache file so that a person can read it: one definition a line.

// layout writes JSON, with or without line breaks.
type layout struct {
	dst    []byte
	indent bool
}

// appendRaw writes a value as it is.
func (l *layout) appendRaw(v json.RawMessage) { l.dst = append(l.dst, v...) }

// breakLine begins a line at a depth of nesting, unless the file has no line breaks.
func (l *layout) breakLine(depth int) {
	if !l.indent {
		return
	}
	l.dst = append(l.dst, '\n')
	for range depth {
		l.dst = append(l.dst, ' ', ' ')
	}
}

// writeObject writes an object; write writes each value, nil as it is.
func (l *layout) writeObject(depth int, list []member, write func(member)) {
	l.dst = append(l.dst, '{')
	for i, m := range list {
		if i > 0 {
			l.dst = append(l.dst, ',')
		}
		l.breakLine(depth + 1)
		l.dst = append(append(l.dst, quote(m.name)...), ':')
		if l.indent {
			l.dst = append(l.dst, ' ')
		}
		if write == nil {
			l.appendRaw(m.value)
		} else {
			write(m)
		}
	}
	if len(list) > 0 {
		l.breakLine(depth)
	}
	l.dst = append(l.dst, '}')
}

// writeEntry writes one server: each field, and each element of its lists, on a line.
func (l *layout) writeEntry(m member) {
	list, err := members(m.value)
	if err != nil || !l.indent {
		l.appendRaw(m.value)
		return
	}
	l.writeObject(2, list, func(f member) {
		if findList(f.name) == nil || jsontext.Value(f.value).Kind() != '[' || len(f.value) == 2 {
			l.appendRaw(f.value)
			return
		}
		s := newScanner(f.value)
		l.dst = append(l.dst, '[')
		_ = s.walkArray(func(i int) error { // cannot fail: it was read before
			v, err := s.readValue()
			if i > 0 {
				l.dst = append(l.dst, ',')
			}
			l.breakLine(4)
			l.appendRaw(v)
			return err
		})
		l.breakLine(3)
		l.dst = append(l.dst, ']')
	})
}

// flattenEntry reverses layout.entry: it removes the white space between fields and definitions, and keeps what is inside
// them.
func flattenEntry(entry json.RawMessage) json.RawMessage {
	if bytes.IndexByte(entry, '\n') < 0 {
		return entry
	}
	list, err := members(entry)
	if err != nil {
		return entry
	}
	for i, m := range list {
		if findList(m.name) == nil {
			continue
		}
		var values []json.RawMessage
		s := newScanner(m.value)
		err := s.walkArray(func(int) error {
			v, err := s.readValue()
			values = append(values, v)
			return err
		})
		if err == nil {
			list[i].value = joinArray(values)
		}
	}
	return joinObject(list)
}
