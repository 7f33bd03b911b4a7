package hosts

import (
	"encoding/json"
	"math"
	"strconv"
	"time"

	"collie/internal/units"
)

// This file has the kinds of fields: how their values are read and written.

// field pairs a field of a host with our field of the same meaning.
type field struct {
	hostName, ourName string
	kind              kind
}

// kind says how a value is read and written. read returns ok false for a value of another type, and a nil v for the
// default, which need not be stored. write returns false if the host cannot hold the value; a nil write writes it as it is.
type kind struct {
	noun  string // the expected type, in the words of error messages
	read  func(r *hostReading, raw json.RawMessage) (v any, ok bool)
	write func(w *hostWriting, v any) (any, bool)
}

// The kinds of fields.
var (
	// text may contain variables.
	text = kind{"a text", func(r *hostReading, raw json.RawMessage) (any, bool) {
		s, ok := stringOf(raw)
		return r.text(s), ok
	}, writeText}

	// plain is a text without variables.
	plain = kind{"a text", func(_ *hostReading, raw json.RawMessage) (any, bool) { return value(stringOf(raw)) }, nil}

	// program is a command; folder and file are paths. Relative paths become absolute.
	program = kind{"a text", func(r *hostReading, raw json.RawMessage) (any, bool) {
		s, ok := stringOf(raw)
		return r.program(r.text(s)), ok
	}, writeText}
	folder = kind{"a text", readPath, writeText}
	file   = kind{"a text", readPath, writeText}

	// texts is a list of texts with variables; names is a list without.
	texts = kind{"a list of texts", func(r *hostReading, raw json.RawMessage) (any, bool) {
		list, ok := stringsOf(raw)
		if ok && len(list) == 0 {
			return nil, true
		}
		return r.texts(list), ok
	}, func(w *hostWriting, v any) (any, bool) { return w.texts(v.([]string)), true }}
	names = kind{"a list of texts", func(_ *hostReading, raw json.RawMessage) (any, bool) {
		list, ok := stringsOf(raw)
		if len(list) == 0 {
			return nil, ok
		}
		return list, ok
	}, nil}

	// dict is an object of texts with variables.
	dict = kind{"an object of texts", readDict, func(w *hostWriting, v any) (any, bool) { return w.dict(v.(map[string]*string)), true }}

	flag = kind{"true or false", func(_ *hostReading, raw json.RawMessage) (any, bool) {
		b, ok := boolOf(raw)
		if !b {
			return nil, ok
		}
		return true, ok
	}, nil}
	// negated is true where our field is false: enabled for disabled.
	negated = kind{"true or false", func(_ *hostReading, raw json.RawMessage) (any, bool) {
		b, ok := boolOf(raw)
		if b {
			return nil, ok
		}
		return true, ok
	}, func(_ *hostWriting, v any) (any, bool) { return v != true, true }}

	count = kind{"a whole number", func(_ *hostReading, raw json.RawMessage) (any, bool) {
		n, err := strconv.Atoi(string(raw))
		return n, err == nil && n > 0
	}, nil}

	// approvals is a list of tool names or, in our own files, true for all.
	approvals = kind{"a list of texts", func(_ *hostReading, raw json.RawMessage) (any, bool) {
		if all, ok := boolOf(raw); ok {
			if !all {
				return nil, true
			}
			return true, true
		}
		list, ok := stringsOf(raw)
		if len(list) == 0 {
			return nil, ok
		}
		return list, ok
	}, func(_ *hostWriting, v any) (any, bool) {
		list, ok := v.([]string)
		return list, ok
	}}

	// duration is our own form, with a unit; milliseconds and seconds are bare numbers.
	duration = kind{"a length of time with a unit", func(_ *hostReading, raw json.RawMessage) (any, bool) {
		s, ok := stringOf(raw)
		d, err := units.Duration(s)
		return durationText(d), ok && err == nil
	}, nil}
	milliseconds = numericDuration(time.Millisecond)
	seconds      = numericDuration(time.Second)
)

func value[T any](v T, ok bool) (any, bool) { return v, ok }

func readPath(r *hostReading, raw json.RawMessage) (any, bool) {
	s, ok := stringOf(raw)
	return r.path(r.text(s)), ok
}

func writeText(w *hostWriting, v any) (any, bool) {
	s, ok := v.(string)
	return w.text(s), ok
}

func readDict(r *hostReading, raw json.RawMessage) (any, bool) {
	if kindOf(raw) != '{' {
		return nil, false
	}
	out := map[string]*string{}
	for _, m := range membersOf(raw) {
		if kindOf(m.value) == 'n' {
			out[m.name] = nil
			continue
		}
		s, ok := stringOf(m.value)
		if !ok { // some hosts take numbers and booleans
			if k := kindOf(m.value); k == '{' || k == '[' {
				return nil, false
			}
			s = string(m.value)
		}
		s = r.text(s)
		out[m.name] = &s
	}
	if len(out) == 0 {
		return nil, true
	}
	return out, true
}

// numericDuration returns the kind of a duration that is written as a number of the given unit.
func numericDuration(each time.Duration) kind {
	expected := "a number of seconds"
	if each == time.Millisecond {
		expected = "a number of milliseconds"
	}
	return kind{expected, func(_ *hostReading, raw json.RawMessage) (any, bool) {
		if s, ok := stringOf(raw); ok {
			raw = json.RawMessage(s)
		}
		n, err := strconv.ParseFloat(string(raw), 64)
		if err != nil || !(n > 0) || n > float64(math.MaxInt64)/float64(each)/2 {
			return nil, false
		}
		d := time.Duration(math.Round(n * float64(each)))
		return durationText(d), d > 0
	}, func(w *hostWriting, v any) (any, bool) {
		s, _ := v.(string)
		d, err := units.Duration(s)
		if err != nil {
			return nil, false
		}
		n := math.Ceil(float64(d) / float64(each))
		if float64(d) != n*float64(each) {
			w.addNote("%s: rounded up to whole %s", s, map[bool]string{true: "seconds", false: "milliseconds"}[each == time.Second])
		}
		return int64(n), true
	}}
}

// durationText returns a duration as text in seconds, or in milliseconds if need be.
func durationText(d time.Duration) string {
	if d%time.Second == 0 {
		return strconv.FormatInt(int64(d/time.Second), 10) + "s"
	}
	if d%time.Millisecond == 0 {
		return strconv.FormatInt(d.Milliseconds(), 10) + "ms"
	}
	return d.String()
}
