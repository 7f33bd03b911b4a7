package entry

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"collie/internal/tool"
	"collie/internal/units"
)

// This file reads the fields of a JSON object and reports those that nobody knows.

// object is a JSON object being read. Its methods take the names of a field, ours first and then aliases, and mark it
// as known. A field that is null counts as missing.
type object struct {
	*parser
	pointer string
	fields  map[string]json.RawMessage
	used    map[string]bool
}

// field returns the field that has one of the names.
func (o *object) field(names ...string) (raw json.RawMessage, pointer string, ok bool) {
	var found string
	for _, n := range names {
		v, given := o.fields[n]
		if o.used[n] = true; !given || string(v) == "null" {
			continue
		}
		if ok {
			o.warn(o.pointer+"/"+escapePointer(n), "alias", "%q means the same; %q applies", found, found)
			continue
		}
		raw, pointer, ok, found = v, o.pointer+"/"+escapePointer(n), true, n
	}
	return raw, pointer, ok
}

// pointerEscape escapes a name for a JSON pointer (RFC 6901).
var pointerEscape = strings.NewReplacer("~", "~0", "/", "~1")

func escapePointer(name string) string { return pointerEscape.Replace(name) }

// warnUnread warns about the fields that no method has read. Fields that begin with "x-" are the user's own.
func (o *object) warnUnread() {
	for _, n := range slices.Sorted(maps.Keys(o.fields)) {
		if o.used[n] || strings.HasPrefix(n, "x-") {
			continue
		}
		hint := ""
		if near, ok := tool.Nearest(n, slices.Sorted(maps.Keys(o.used))); ok {
			hint = fmt.Sprintf("; did you mean %q?", near)
		}
		o.warn(o.pointer+"/"+escapePointer(n), "unknown", "unknown field%s", hint)
	}
}

// readObject reads a field that is an object with f, and warns about members that f does not read.
func (o *object) readObject(f func(*object), names ...string) {
	raw, pointer, ok := o.field(names...)
	if !ok {
		return
	}
	if fields, ok := decode[map[string]json.RawMessage](o.parser, pointer, raw, "an object"); ok {
		inner := object{o.parser, pointer, fields, map[string]bool{}}
		f(&inner)
		inner.warnUnread()
	}
}

// readText returns a field that is a string. ok is false if the field is missing or, as is reported, of another type.
func (o *object) readText(names ...string) (s, pointer string, ok bool) {
	raw, pointer, ok := o.field(names...)
	if !ok {
		return "", pointer, false
	}
	s, ok = decode[string](o.parser, pointer, raw, "a string")
	return s, pointer, ok
}

func (o *object) setText(to *string, names ...string) {
	if s, _, ok := o.readText(names...); ok {
		*to = s
	}
}

func (o *object) setValue(to *Value, read func(pointer, s string) Value, names ...string) {
	if s, pointer, ok := o.readText(names...); ok {
		*to = read(pointer, s)
	}
}

func (o *object) setPath(to *string, names ...string) {
	if s, pointer, ok := o.readText(names...); ok {
		*to = o.absolutePath(pointer, s)
	}
}

func (o *object) setBool(to *bool, names ...string) {
	if raw, pointer, ok := o.field(names...); ok {
		if v, ok := decode[bool](o.parser, pointer, raw, "true or false"); ok {
			*to = v
		}
	}
}

func (o *object) setCount(to *int, least int, names ...string) {
	raw, pointer, ok := o.field(names...)
	if !ok {
		return
	}
	v, ok := decode[int](o.parser, pointer, raw, "a whole number")
	if ok && v < least {
		o.fail(pointer, "value", "expected a whole number from %d, got %d", least, v)
	} else if ok {
		*to = v
	}
}

// appendList appends the strings of a field that is a list.
func (o *object) appendList(to *[]string, names ...string) {
	if raw, pointer, ok := o.field(names...); ok {
		if v, ok := decode[[]string](o.parser, pointer, raw, "a list of strings"); ok {
			*to = append(*to, v...)
		}
	}
}

// setWord reads a field that is one of words, and refuses others.
func setWord[T ~string](o *object, to *T, words []T, names ...string) {
	s, pointer, ok := o.readText(names...)
	if !ok {
		return
	}
	if !slices.Contains(words, T(s)) {
		list := make([]string, len(words))
		for i, w := range words {
			list[i] = string(w)
		}
		o.fail(pointer, "value", "expected one of %s, got %q", strings.Join(list, ", "), s)
		return
	}
	*to = T(s)
}

// setDuration reads a duration, which may be 0.
func (o *object) setDuration(to *time.Duration, names ...string) {
	if d, _, ok := o.readDuration(names...); ok {
		*to = d
	}
}

// setPositiveDuration reads a duration, and refuses 0.
func (o *object) setPositiveDuration(to *time.Duration, names ...string) {
	switch d, pointer, ok := o.readDuration(names...); {
	case !ok:
	case d == 0:
		o.fail(pointer, "value", "expected more than 0")
	default:
		*to = d
	}
}

// readDuration returns a field that is a duration with a unit. It refuses bare numbers, since programs disagree on
// their unit.
func (o *object) readDuration(names ...string) (d time.Duration, pointer string, ok bool) {
	raw, pointer, ok := o.field(names...)
	if !ok {
		return 0, pointer, false
	}
	if jsonKind(raw) == "number" {
		o.fail(pointer, ruleUnit, "%v", units.ErrMissing)
		return 0, pointer, false
	}
	s, ok := decode[string](o.parser, pointer, raw, `a length of time such as "30s"`)
	if !ok {
		return 0, pointer, false
	}
	d, err := units.Duration(s)
	if err != nil {
		o.fail(pointer, ruleUnit, "%v", err)
	}
	return d, pointer, err == nil
}
