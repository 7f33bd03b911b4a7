package cli

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// quote is a text as JSON, with < > & as they are.
func quote(text string) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		panic("cli: a text does not encode: " + err.Error())
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// convert makes JSON of what a person typed, of one of the types; none means any. A number
// keeps all its digits.
func convert(value string, types []string) (json.RawMessage, bool) {
	any := len(types) == 0
	if raw := []byte(strings.TrimSpace(value)); len(raw) > 0 && json.Valid(raw) && !slices.Equal(types, []string{"string"}) {
		typ := jsonType(gjson.ParseBytes(raw))
		if any || slices.Contains(types, typ) || typ == "integer" && slices.Contains(types, "number") {
			return raw, true
		}
	}
	if any || slices.Contains(types, "string") {
		return quote(value), true
	}
	return nil, false
}

// eachMember calls f for each member of an object, in order, with its name, and its key and
// value as they are written.
func eachMember(obj json.RawMessage, f func(name string, key, value json.RawMessage)) {
	if len(obj) == 0 {
		return
	}
	gjson.ParseBytes(obj).ForEach(func(k, v gjson.Result) bool {
		f(k.String(), json.RawMessage(k.Raw), json.RawMessage(v.Raw))
		return true
	})
}

// object builds a JSON object member by member.
type object struct{ buf []byte }

func (o *object) add(key, value json.RawMessage) {
	o.buf = append(o.buf, ',')
	o.buf = append(append(append(o.buf, key...), ':'), value...)
}

func (o *object) bytes() json.RawMessage {
	if len(o.buf) == 0 {
		return json.RawMessage("{}")
	}
	o.buf[0] = '{'
	return append(o.buf, '}')
}

// joinValues shows the first few of a list of JSON values, texts without quotes.
func joinValues(values []gjson.Result, most int) string {
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
