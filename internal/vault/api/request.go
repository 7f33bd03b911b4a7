package api

import (
	"fmt"
	"mime/multipart"
	"strings"

	"github.com/tidwall/gjson"

	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// This file reads the values of a request. A wrong value ends the call with the kernel's answer.

// Request is one parsed call: the JSON object in its body, or its multipart form. There are two kinds of methods to
// read parameters, since SiYuan has two generations of handlers. With the plain ones (Str, Strs, Flag, List, Object), a
// key that is missing or of the wrong type ends the call with code 0 and data null, and nothing is done; their Opt...
// variants accept a missing key. The checked ones (Need...) end the call with "Field [x] ...".
//
// After a call has ended, its handler goes on to the end, in a workspace that seems empty. Methods return zero values,
// and what the handler returns is discarded. So a handler need not check after each parameter; it only must not fail on
// zero values.
type Request struct {
	gjson.Result
	// Form is the multipart form, nil for JSON.
	Form *multipart.Form

	tx *workspace.Tx
}

// In returns a value in a request as a request of its own, for the same call.
func In(tx *workspace.Tx, value gjson.Result) Request { return Request{Result: value, tx: tx} }

// abortedError abandons a transaction because the answer of its call is final.
type abortedError struct{ reply Reply }

func (e *abortedError) Error() string { return "the call has ended: " + e.reply.Msg }

// End ends the call with an answer. It can be called anywhere in a handler. All changes of the call are undone. Only
// the first End counts.
func End(tx *workspace.Tx, rep Reply) { tx.Abandon(&abortedError{rep}) }

// End ends the call of r with rep; see [End].
func (r Request) End(rep Reply) { End(r.tx, rep) }

// Str returns the text at key. Anything else ends the call.
func (r Request) Str(key string) string {
	v := r.Get(escapeKey(key))
	if v.Type != gjson.String {
		r.End(Done())
		return ""
	}
	return v.Str
}

// OptStr returns the text at key, "" if it is missing or null. Another type ends the call.
func (r Request) OptStr(key string) string {
	if v := r.Get(escapeKey(key)); !v.Exists() || v.Type == gjson.Null {
		return ""
	}
	return r.Str(key)
}

// Flag returns the boolean at key. Anything else ends the call.
func (r Request) Flag(key string) bool {
	v := r.Get(escapeKey(key))
	if !v.IsBool() {
		r.End(Done())
		return false
	}
	return v.Bool()
}

// OptFlag returns the boolean at key, or otherwise if it is missing. Another type ends the call.
func (r Request) OptFlag(key string, otherwise bool) bool {
	if !r.Get(escapeKey(key)).Exists() {
		return otherwise
	}
	return r.Flag(key)
}

// OptNum returns the number at key, or otherwise if it is missing. Another type ends the call.
func (r Request) OptNum(key string, otherwise int) int {
	v := r.Get(escapeKey(key))
	if !v.Exists() {
		return otherwise
	}
	if v.Type != gjson.Number {
		r.End(Done())
		return 0
	}
	return int(v.Int())
}

// Strs returns the list of texts at key. Elements of another type are left out, as the kernel does. Anything but a list
// ends the call.
func (r Request) Strs(key string) []string {
	list := r.List(key)
	texts := make([]string, 0, len(list))
	for _, v := range list {
		if v.Type == gjson.String {
			texts = append(texts, v.String())
		}
	}
	return texts
}

// OptStrs returns the list of texts at key, nil if it is missing. Another type ends the call.
func (r Request) OptStrs(key string) []string {
	if !r.Get(escapeKey(key)).Exists() {
		return nil
	}
	return r.Strs(key)
}

// List returns the list at key. Anything else ends the call.
func (r Request) List(key string) []Request {
	v := r.Get(escapeKey(key))
	if !v.IsArray() {
		r.End(Done())
		return nil
	}
	items := v.Array()
	list := make([]Request, len(items))
	for i, item := range items {
		list[i] = In(r.tx, item)
	}
	return list
}

// Object returns the object at key. Anything else ends the call.
func (r Request) Object(key string) Request {
	v := r.Get(escapeKey(key))
	if !v.IsObject() {
		r.End(Done())
		return In(r.tx, gjson.Result{})
	}
	return In(r.tx, v)
}

// ID returns the id at key. A key that is missing or not a text ends the call as in Str, a text that is not an id ends it
// with "invalid ID argument".
func (r Request) ID(key string) string {
	id := r.Str(key)
	if !tree.ValidID(id) {
		r.End(Fail(-1, "invalid ID argument"))
		return ""
	}
	return id
}

// NeedStr returns the text at key. Anything else ends the call with an error.
func (r Request) NeedStr(key string) string {
	v := r.Get(escapeKey(key))
	switch {
	case !v.Exists() || v.Type == gjson.Null:
		r.End(Fail(-1, fmt.Sprintf("Field [%s] is required", key)))
	case v.Type != gjson.String:
		r.End(Fail(-1, fmt.Sprintf("Field [%s] should be of type [String]", key)))
	default:
		return v.Str
	}
	return ""
}

// NeedText is like NeedStr for a text that must not be blank.
func (r Request) NeedText(key string) string {
	text := r.NeedStr(key)
	if strings.TrimSpace(text) == "" {
		r.End(Fail(-1, fmt.Sprintf("Field [%s] must not be empty", key)))
	}
	return text
}

// NeedID is like NeedText for a text that must be an id.
func (r Request) NeedID(key string) string {
	id := r.NeedText(key)
	if !tree.ValidID(id) {
		r.End(Fail(-1, "invalid ID argument"))
		return ""
	}
	return id
}

// NeedList returns the list at key, which must not be empty.
func (r Request) NeedList(key string) []Request {
	v := r.Get(escapeKey(key))
	switch {
	case !v.Exists() || v.Type == gjson.Null:
		r.End(Fail(-1, fmt.Sprintf("Field [%s] is required", key)))
	case !v.IsArray():
		r.End(Fail(-1, fmt.Sprintf("Field [%s] should be of type [Array]", key)))
	case len(v.Array()) == 0:
		r.End(Fail(-1, fmt.Sprintf("Field [%s] must not be empty", key)))
	}
	return r.List(key)
}

// Field returns the text of a field in the multipart form, "" if there is none.
func (r Request) Field(name string) string {
	if r.Form == nil || len(r.Form.Value[name]) == 0 {
		return ""
	}
	return strings.ToValidUTF8(r.Form.Value[name][0], "\uFFFD")
}

// escapeKey escapes a key for gjson's path syntax.
func escapeKey(key string) string {
	return strings.NewReplacer(".", `\.`, "*", `\*`, "?", `\?`).Replace(key)
}
