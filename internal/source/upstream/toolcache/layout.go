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

func (l *layout) raw(v json.RawMessage) { l.dst = append(l.dst, v...) }

func (l *layout) line(depth int) {
	if !l.indent {
		return
	}
	l.dst = append(l.dst, '\n')
	for range depth {
		l.dst = append(l.dst, ' ', ' ')
	}
}

// members writes an object; write writes each value, nil as it is.
func (l *layout) members(depth int, list []member, write func(member)) {
	l.dst = append(l.dst, '{')
	for i, m := range list {
		if i > 0 {
			l.dst = append(l.dst, ',')
		}
		l.line(depth + 1)
		l.dst = append(append(l.dst, quote(m.name)...), ':')
		if l.indent {
			l.dst = append(l.dst, ' ')
		}
		if write == nil {
			l.raw(m.value)
		} else {
			write(m)
		}
	}
	if len(list) > 0 {
		l.line(depth)
	}
	l.dst = append(l.dst, '}')
}

// entry writes one server: each field, and each element of its lists, on a line.
func (l *layout) entry(m member) {
	list, err := members(m.value)
	if err != nil || !l.indent {
		l.raw(m.value)
		return
	}
	l.members(2, list, func(f member) {
		if listNamed(f.name) == nil || jsontext.Value(f.value).Kind() != '[' || len(f.value) == 2 {
			l.raw(f.value)
			return
		}
		s := newScanner(f.value)
		l.dst = append(l.dst, '[')
		_ = s.array(func(i int) error { // cannot fail: it was read before
			v, err := s.value()
			if i > 0 {
				l.dst = append(l.dst, ',')
			}
			l.line(4)
			l.raw(v)
			return err
		})
		l.line(3)
		l.dst = append(l.dst, ']')
	})
}

// flat reverses layout.entry: it removes the white space between fields and definitions, and keeps what is inside
// them.
func flat(entry json.RawMessage) json.RawMessage {
	if bytes.IndexByte(entry, '\n') < 0 {
		return entry
	}
	list, err := members(entry)
	if err != nil {
		return entry
	}
	for i, m := range list {
		if listNamed(m.name) == nil {
			continue
		}
		var values []json.RawMessage
		s := newScanner(m.value)
		err := s.array(func(int) error {
			v, err := s.value()
			values = append(values, v)
			return err
		})
		if err == nil {
			list[i].value = joinArray(values)
		}
	}
	return joinObject(list)
}
