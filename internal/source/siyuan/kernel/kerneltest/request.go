package kerneltest

import (
	"fmt"
	"mime/multipart"
	"strings"

	"github.com/tidwall/gjson"
)

// request is one parsed call: the JSON object of its body, or its multipart form. Its readers come in two kinds, as
// the kernel has two generations of handlers. The plain ones (str, strs, flag, num) panic on a missing or wrongly
// typed key, which the server turns into code 0 with data null. The checked ones (need*) answer "Field [x] ...".
type request struct {
	gjson.Result
	form *multipart.Form
}

// panicked is what an old handler's type assertion does to a call: nothing is done, code 0, data null.
type panicked struct{ key string }

// str is the text at key.
func (r request) str(key string) string {
	v := r.Get(escapeKey(key))
	if v.Type != gjson.String {
		panic(panicked{key})
	}
	return v.Str
}

// optStr is the text at key, "" when it is absent; another type panics.
func (r request) optStr(key string) string {
	if v := r.Get(escapeKey(key)); !v.Exists() || v.Type == gjson.Null {
		return ""
	}
	return r.str(key)
}

// flag is the boolean at key.
func (r request) flag(key string) bool {
	v := r.Get(escapeKey(key))
	if !v.IsBool() {
		panic(panicked{key})
	}
	return v.Bool()
}

// optFlag is the boolean at key, or otherwise when it is absent.
func (r request) optFlag(key string, otherwise bool) bool {
	if !r.Get(escapeKey(key)).Exists() {
		return otherwise
	}
	return r.flag(key)
}

// optNum is the number at key, or otherwise when it is absent.
func (r request) optNum(key string, otherwise int) int {
	v := r.Get(escapeKey(key))
	if !v.Exists() {
		return otherwise
	}
	if v.Type != gjson.Number {
		panic(panicked{key})
	}
	return int(v.Int())
}

// strs is the list of texts at key; elements of another type are left out, as the kernel does.
func (r request) strs(key string) []string {
	list := r.list(key)
	texts := make([]string, 0, len(list))
	for _, v := range list {
		if v.Type == gjson.String {
			texts = append(texts, v.Str)
		}
	}
	return texts
}

// optStrs is the list of texts at key, nil when it is absent.
func (r request) optStrs(key string) []string {
	if !r.Get(escapeKey(key)).Exists() {
		return nil
	}
	return r.strs(key)
}

// list is the list at key.
func (r request) list(key string) []request {
	v := r.Get(escapeKey(key))
	if !v.IsArray() {
		panic(panicked{key})
	}
	items := v.Array()
	list := make([]request, len(items))
	for i, item := range items {
		list[i] = request{Result: item}
	}
	return list
}

// object is the object at key.
func (r request) object(key string) request {
	v := r.Get(escapeKey(key))
	if !v.IsObject() {
		panic(panicked{key})
	}
	return request{Result: v}
}

// id is the text at key when it has the form of an id; a missing key panics, another text is "invalid ID argument".
func (r request) id(key string) string {
	id := r.str(key)
	if !validID(id) {
		panic(fail(-1, "invalid ID argument"))
	}
	return id
}

// needStr is the text at key, which newer handlers check and trim.
func (r request) needStr(key string) string {
	v := r.Get(escapeKey(key))
	switch {
	case !v.Exists() || v.Type == gjson.Null:
		panic(fail(-1, fmt.Sprintf("Field [%s] is required", key)))
	case v.Type != gjson.String:
		panic(fail(-1, fmt.Sprintf("Field [%s] should be of type [String]", key)))
	}
	return v.Str
}

// needText is needStr that must not be blank.
func (r request) needText(key string) string {
	text := r.needStr(key)
	if strings.TrimSpace(text) == "" {
		panic(fail(-1, fmt.Sprintf("Field [%s] must not be empty", key)))
	}
	return text
}

// needID is needText that must have the form of an id.
func (r request) needID(key string) string {
	id := r.needText(key)
	if !validID(id) {
		panic(fail(-1, "invalid ID argument"))
	}
	return id
}

// needList is the list at key, which must hold something.
func (r request) needList(key string) []request {
	v := r.Get(escapeKey(key))
	switch {
	case !v.Exists() || v.Type == gjson.Null:
		panic(fail(-1, fmt.Sprintf("Field [%s] is required", key)))
	case !v.IsArray():
		panic(fail(-1, fmt.Sprintf("Field [%s] should be of type [Array]", key)))
	case len(v.Array()) == 0:
		panic(fail(-1, fmt.Sprintf("Field [%s] must not be empty", key)))
	}
	return r.list(key)
}

// field is the text of a part of the multipart form, "" when there is none.
func (r request) field(name string) string {
	if r.form == nil || len(r.form.Value[name]) == 0 {
		return ""
	}
	return r.form.Value[name][0]
}

// escapeKey makes a key literal for gjson's path syntax.
func escapeKey(key string) string {
	return strings.NewReplacer(".", `\.`, "*", `\*`, "?", `\?`).Replace(key)
}
