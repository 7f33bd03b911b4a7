// Package rawjson reads and writes single values in JSON texts, and keeps all other bytes as they are.
package rawjson

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// PlainValue returns a value for people: a string without quotes, anything else as JSON.
func PlainValue(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil && string(raw) != "null" {
		return s
	}
	return string(raw)
}

// Quote returns a text as a JSON string, without escaping < > &.
func Quote(text string) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		panic("rawjson: a text does not encode: " + err.Error())
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// Convert converts what a person typed to JSON of one of the types; empty types mean any. A number keeps all
// its digits. ok is false if no type fits.
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

// EachMember calls f for each member of an object, in order, with its decoded name and its raw key and value.
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

// Add appends a member; key and value are JSON.
func (o *Object) Add(key, value json.RawMessage) {
	o.buf = append(o.buf, ',')
	o.buf = append(append(append(o.buf, key...), ':'), value...)
}

// Bytes returns the object. Nothing may be added after that.
func (o *Object) Bytes() json.RawMessage {
	if len(o.buf) == 0 {
		return json.RawMessage("{}")
	}
	o.buf[0] = '{'
	return append(o.buf, '}')
}

// JoinValues lists the first few JSON values, strings without quotes.
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

// TypeOf returns the JSON Schema type of a value.
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

// Member returns the member with exactly this name. [gjson.Result.Get] would interpret the name as a path.
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

// List returns the elements of an array; none for any other value, unlike [gjson.Result.Array].
func List(v gjson.Result) []gjson.Result {
	if !v.IsArray() {
		return nil
	}
	return v.Array()
}

// Same reports whether text is the same JSON value as raw, possibly spelled differently.
func Same(text, raw string) bool {
	a, ok := Decode(text)
	b, ok2 := Decode(raw)
	return ok && ok2 && reflect.DeepEqual(a, b)
}

// Decode decodes one JSON value; numbers keep their spelling. ok is false if text is not exactly one value.
func Decode(text string) (v any, ok bool) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	return v, d.Decode(&v) == nil && !d.More()
}
