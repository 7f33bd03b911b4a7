package fidelity_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// member is one member of a JSON object: its name, and the offsets of its parts.
type member struct {
	name           string
	start, end     int // of the whole member
	value          int // where its value begins
	comma, between int // the comma behind it and before it, -1 for none
}

// members splits an object without decoding its values.
func members(t *testing.T, obj []byte) (list []member) {
	t.Helper()
	i := skip(obj, 0, spaces)
	if i >= len(obj) || obj[i] != '{' {
		t.Fatalf("no object but %.200s", obj)
	}
	for before := -1; ; {
		i = skip(obj, i+1, spaces)
		if i < len(obj) && obj[i] == '}' && before < 0 {
			return list
		}
		m := member{start: i, between: before, comma: -1}
		at := valueEnd(t, obj, i)
		if err := json.Unmarshal(obj[i:at], &m.name); err != nil {
			t.Fatalf("a member's name in %.200s: %v", obj, err)
		}
		m.value = skip(obj, at, spaces+":")
		m.end = valueEnd(t, obj, m.value)
		i = skip(obj, m.end, spaces)
		if i < len(obj) && obj[i] == ',' {
			m.comma, before = i, i
			list = append(list, m)
			continue
		}
		if i >= len(obj) || obj[i] != '}' {
			t.Fatalf("byte %d of %.200s should end an object", i, obj)
		}
		return append(list, m)
	}
}

const spaces = " \t\r\n"

// skip returns where the first byte from i on is that is none of chars.
func skip(b []byte, i int, chars string) int {
	for i < len(b) && strings.IndexByte(chars, b[i]) >= 0 {
		i++
	}
	return i
}

// valueEnd returns where the value that begins at i ends.
func valueEnd(t *testing.T, b []byte, i int) int {
	t.Helper()
	for depth := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			i = quoteEnd(b, i)
			if depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
			if depth < 0 {
				return i
			}
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
		}
	}
	return len(b)
}

// quoteEnd returns where the quote is that ends the string that begins at i.
func quoteEnd(b []byte, i int) int {
	for {
		n := bytes.IndexByte(b[i+1:], '"')
		if n < 0 {
			return len(b) - 1
		}
		i += n + 1
		escapes := 0
		for b[i-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return i
		}
	}
}

// get returns the bytes of a member's value, nil if there is none.
func get(t *testing.T, obj []byte, path ...string) []byte {
	t.Helper()
	for _, name := range path {
		var found []byte
		for _, m := range members(t, obj) {
			if m.name == name {
				found = obj[m.value:m.end]
			}
		}
		if obj = found; obj == nil {
			return nil
		}
	}
	return obj
}

// removeMembers removes members from an object, each with one comma, and changes nothing else.
func removeMembers(t *testing.T, obj []byte, names ...string) []byte {
	t.Helper()
	for again := true; again; {
		again = false
		for _, m := range members(t, obj) {
			if !slices.Contains(names, m.name) {
				continue
			}
			from, to := m.start, m.end
			if m.between >= 0 {
				from = m.between
			} else if m.comma >= 0 {
				to = m.comma + 1
			}
			obj = slices.Concat(obj[:from], obj[to:])
			again = true
			break
		}
	}
	return obj
}

// replaceValue replaces the value of a member that is there.
func replaceValue(t *testing.T, obj []byte, name string, value []byte) []byte {
	t.Helper()
	for _, m := range members(t, obj) {
		if m.name == name {
			return slices.Concat(obj[:m.value], value, obj[m.end:])
		}
	}
	t.Fatalf("no member %q in %.200s", name, obj)
	return nil
}

// elements splits an array.
func elements(t *testing.T, list []byte) []json.RawMessage {
	t.Helper()
	var out []json.RawMessage
	if err := json.Unmarshal(list, &out); err != nil {
		t.Fatalf("no array but %.200s: %v", list, err)
	}
	return out
}

func quote(t *testing.T, s string) string {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestRemoveMembers checks removeMembers and replaceValue, on which the comparisons of this package depend.
func TestRemoveMembers(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{}`:                           `{}`,
		`{"x":1}`:                      `{}`,
		`{ "x" : 1 }`:                  `{  }`,
		`{"x":1,"a":1.0}`:              `{"a":1.0}`,
		`{"x":1, "a" : [ "x" ] }`:      `{ "a" : [ "x" ] }`,
		`{"a":{"x":1} ,"x":{"a":"}"}}`: `{"a":{"x":1} }`,
		`{"a":1,"x":2,"b":3}`:          `{"a":1,"b":3}`,
		`{"y":0,"a":1,"\u0078":2}`:     `{"a":1}`,
		`{"x":1,"y":2}`:                `{}`,
		`{"a\"x":"\\","x":"\"}"}`:      `{"a\"x":"\\"}`,
	} {
		if got := string(removeMembers(t, []byte(in), "x", "y")); got != want {
			t.Errorf("removeMembers %s = %s, want %s", in, got, want)
		}
	}
	if got := string(replaceValue(t, []byte(`{"a": 1 ,"b":2}`), "a", []byte(`"x"`))); got != `{"a": "x" ,"b":2}` {
		t.Errorf("replaceValue gives %s", got)
	}
}
