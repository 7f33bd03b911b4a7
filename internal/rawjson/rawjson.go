// Package rawjson reads and writes single values of JSON texts, byte for byte.
package rawjson

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// PlainValue is a value as people read it: a text without quotes, all else as JSON.
func PlainValue(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil && string(raw) != "null" {
		return s
	}
	return string(raw)
}

// Quote is a text as JSON, with < > & as they are.
func Quote(text string) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		panic("cli: a text does not encode: " + err.Error())
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// Convert makes JSON of what a person typed, of one of the types; none means any. A number
// keeps all its digits.
func Convert(value string, types []string) (json.RawMessage, bool) {
	any := len(types) == 0
	if raw := []byte(strings.TrimSpace(value)); len(raw) > 0 && json.Valid(raw) && !slices.Equal(types, []string{"string"}) {
		typ := TypeOf(gjson.ParseBytes(raw))
		if any || slices.Contains(types, typ) || typ == "integer" && slices.Contains(types, "number") {
			return raw, true
		}
	}
	if any || slices.Contains(types, "string") {
		return Quote(value), true
	}
	return nil, false
}

// EachMember calls f for each member of an object, in order, with its name, and its key and
// value as they are written.
func EachMember(obj json.RawMessage, f func(name string, key, value json.RawMessage)) {
	if len(obj) == 0 {
		return
	}
	gjson.ParseBytes(obj).ForEach(func(k, v gjson.Result) bool {
		f(k.String(), json.RawMessage(k.Raw), json.RawMessage(v.Raw))
		return true
	})
}

// Object builds a JSON object member by member.
type Object struct{ buf []byte }

// Add appends a member; both are JSON already.
func (o *Object) Add(key, value json.RawMessage) {
	o.buf = append(o.buf, ',')
	o.buf = append(append(append(o.buf, key...), ':'), value...)
}

// Bytes is the object; nothing may be added after it.
func (o *Object) Bytes() json.RawMessage {
	if len(o.buf) == 0 {
		return json.RawMessage("{}")
	}
	o.buf[0] = '{'
	return append(o.buf, '}')
}

// JoinValues shows the first few of a list of JSON values, texts without quotes.
func JoinValues(values []gjson.Result, most int) string {
	var words []string
	for i, v := range values {
		if i == most {
			words = append(words, "…")
			break
		}
		words = append(words, v.String())
	}
	return strings.Join(words, ", ")
}

// TypeOf names the type of a value as JSON Schema does.
func TypeOf(v gjson.Result) string {
	switch v.Type {
	case gjson.Null:
		return "null"
	case gjson.True, gjson.False:
		return "boolean"
	case gjson.String:
		return "string"
	case gjson.Number:
		if strings.ContainsAny(v.Raw, ".eE") {
			return "number"
		}
		return "integer"
	case gjson.JSON:
		if v.IsArray() {
			return "array"
		}
	}
	return "object"
}

// Member is a member of an object by its exact name, which [gjson.Result.Get] would read
// as a path.
func Member(obj gjson.Result, name string) (found gjson.Result) {
	if !obj.IsObject() {
		return gjson.Result{}
	}
	obj.ForEach(func(k, v gjson.Result) bool {
		if k.String() == name {
			found = v
			return false
		}
		return true
	})
	return found
}

// List is the elements of an array; none for anything else, which [gjson.Result.Array]
// would wrap.
func List(v gjson.Result) []gjson.Result {
	if !v.IsArray() {
		return nil
	}
	return v.Array()
}

// Same reports whether a text is the JSON value raw, however it is written.
func Same(text, raw string) bool {
	a, ok := Decode(text)
	b, ok2 := Decode(raw)
	return ok && ok2 && reflect.DeepEqual(a, b)
}

// Decode reads one JSON value, its numbers as they are written; ok is false where the text is anything else.
func Decode(text string) (v any, ok bool) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	return v, d.Decode(&v) == nil && !d.More()
}
