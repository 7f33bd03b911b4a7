package api

import (
	"fmt"
	"mime/multipart"
	"strings"

	"github.com/tidwall/gjson"

	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// Request is one parsed call: the JSON object of its body, or its multipart form. Its readers come in two kinds, as
// SiYuan has two generations of handlers. The plain ones (Str, Strs, Flag, Num) end the call when a key is missing or
// of the wrong type: nothing is done, code 0, data null. The checked ones (Need...) end it with "Field [x] ...".
//
// A call that has ended runs on to the end of its handler, in a workspace that seems empty; readers return zero values,
// and what the handler answers does not count. So it needs no check after each of them, only care that a zero value
// does not break what follows.
type Request struct {
	gjson.Result
	// Form is the multipart form, nil for JSON.
	Form *multipart.Form

	tx *workspace.Tx
}

// In returns a value within a call as a request of its own.
func In(tx *workspace.Tx, value gjson.Result) Request { return Request{Result: value, tx: tx} }

// abortedError is why a transaction was abandoned: the answer of its call is certain.
type abortedError struct{ reply Reply }

func (e *abortedError) Error() string { return "the call has ended: " + e.reply.Msg }

// End ends the call with an answer, from wherever the handler is. Nothing the call changed is kept. Only the first end
// counts.
func End(tx *workspace.Tx, rep Reply) { tx.Abandon(&abortedError{rep}) }

// End is [End] for what has the request at hand.
func (r Request) End(rep Reply) { End(r.tx, rep) }

// Str returns the text at key.
func (r Request) Str(key string) string {
	v := r.Get(escapeKey(key))
	if v.Type != gjson.String {
		r.End(Done())
		return ""
	}
	return v.Str
}

// OptStr returns the text at key, "" when it is absent; another type ends the call.
func (r Request) OptStr(key string) string {
	if v := r.Get(escapeKey(key)); !v.Exists() || v.Type == gjson.Null {
		return ""
	}
	return r.Str(key)
}

// Flag is the boolean at key.
func (r Request) Flag(key string) bool {
	v := r.Get(escapeKey(key))
	if !v.IsBool() {
		r.End(Done())
		return false
	}
	return v.Bool()
}

// OptFlag is the boolean at key, or otherwise when it is absent.
func (r Request) OptFlag(key string, otherwise bool) bool {
	if !r.Get(escapeKey(key)).Exists() {
		return otherwise
	}
	return r.Flag(key)
}

// OptNum returns the number at key, or otherwise when it is absent.
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

// Strs returns the list of texts at key; elements of another type are left out, as the kernel does.
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

// OptStrs returns the list of texts at key, nil when it is absent.
func (r Request) OptStrs(key string) []string {
	if !r.Get(escapeKey(key)).Exists() {
		return nil
	}
	return r.Strs(key)
}

// List returns the list at key.
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

// Object returns the object at key.
func (r Request) Object(key string) Request {
	v := r.Get(escapeKey(key))
	if !v.IsObject() {
		r.End(Done())
		return In(r.tx, gjson.Result{})
	}
	return In(r.tx, v)
}

// ID returns the text at key when it has the form of an id; a missing key ends the call, another text is "invalid ID
// argument".
func (r Request) ID(key string) string {
	id := r.Str(key)
	if !tree.ValidID(id) {
		r.End(Fail(-1, "invalid ID argument"))
		return ""
	}
	return id
}

// NeedStr returns the text at key, which newer handlers check and trim.
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

// NeedText is NeedStr that must not be blank.
func (r Request) NeedText(key string) string {
	text := r.NeedStr(key)
	if strings.TrimSpace(text) == "" {
		r.End(Fail(-1, fmt.Sprintf("Field [%s] must not be empty", key)))
	}
	return text
}

// NeedID is NeedText that must have the form of an id.
func (r Request) NeedID(key string) string {
	id := r.NeedText(key)
	if !tree.ValidID(id) {
		r.End(Fail(-1, "invalid ID argument"))
		return ""
	}
	return id
}

// NeedList returns the list at key, which must hold something.
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

// Field returns the text of a part of the multipart form, "" when there is none.
func (r Request) Field(name string) string {
	if r.Form == nil || len(r.Form.Value[name]) == 0 {
		return ""
	}
	return strings.ToValidUTF8(r.Form.Value[name][0], "\uFFFD")
}

// escapeKey makes a key literal for gjson's path syntax.
func escapeKey(key string) string {
	return strings.NewReplacer(".", `\.`, "*", `\*`, "?", `\?`).Replace(key)
}
