package action

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// This file corrects arguments whose meaning is obvious, such as "5" for 5 or a misspelt name, before they are
// validated.

// Adapt corrects args, a JSON object, before validation. It replaces aliases and other spellings of names, and
// converts values of an obviously wrong type, also within lists and objects: "5" to 5, "true" to true, 5 to "5", one
// item to a list of one, and JSON in a string to the object or list that is expected. It drops null, since some
// clients send null for every argument that a tool declares, also for those of other actions. What it does not
// understand stays for the validation to report. The member named except is dropped too. If nothing needs a change,
// it returns args itself.
func (a *Action) Adapt(args json.RawMessage, except string) json.RawMessage {
	original := args
	if a.Spec.Adapt != nil {
		if bytes.Contains(args, []byte("null")) {
			original = withoutNulls(args)
		}
		original = a.Spec.Adapt(original)
	}
	out, changed := a.coerceArgs(original, except)
	if (changed || !bytes.Equal(original, args)) && !gjson.ValidBytes(args) {
		return args // invalid JSON must not become valid
	}
	return out
}

// withoutNulls returns args without members that are null, if args is an object.
func withoutNulls(args json.RawMessage) json.RawMessage {
	root, o := gjson.ParseBytes(args), objectBuilder{}
	if !root.IsObject() {
		return args
	}
	root.ForEach(func(k, v gjson.Result) bool {
		if v.Type != gjson.Null {
			o.addRaw(k.String(), json.RawMessage(v.Raw))
		}
		return true
	})
	return o.bytes()
}

// coerceArgs returns args with each name and value corrected, and whether anything changed.
func (a *Action) coerceArgs(args json.RawMessage, except string) (out json.RawMessage, changed bool) {
	root := gjson.ParseBytes(args)
	if !root.IsObject() {
		return args, false
	}
	o := objectBuilder{buf: make([]byte, 0, len(args))}
	var renamed []string // names that were given under another name
	root.ForEach(func(k, v gjson.Result) bool {
		name, key := k.String(), k.Raw
		if except != "" && name == except {
			return true
		}
		if v.Type == gjson.Null {
			changed = true
			return true
		}
		if to := a.canonicalName(name); to != "" && !slices.Contains(renamed, to) && root.Get(escapeGJSON(to)).Type == gjson.Null {
			name, key, renamed, changed = to, string(Quote(to)), append(renamed, to), true
		}
		value := coerceParam(v, a.findParam(name))
		changed = changed || string(value) != v.Raw
		o.next()
		o.buf = append(append(append(o.buf, key...), ':'), value...)
		return true
	})
	if !changed && except == "" {
		return args, false
	}
	return o.bytes(), changed
}

// canonicalName returns the argument that another name stands for: by an alias, or because the name differs from
// exactly one argument only in case, "_" and "-", such as block_ids and blockIDs. It is empty for the exact name of an
// argument, and for an unknown name.
func (a *Action) canonicalName(name string) string {
	if to, ok := a.Aliases[name]; ok {
		return to
	}
	if a.findParam(name) != nil {
		return ""
	}
	found := ""
	for _, params := range [][]Param{a.params, metaOf(a)} {
		for i := range params {
			if foldName(params[i].Name) != foldName(name) {
				continue
			}
			if found != "" {
				return ""
			}
			found = params[i].Name
		}
	}
	return found
}

// foldName returns a name in lower case without "_" and "-".
func foldName(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
}

// findParam returns an argument of the action, including those that every action takes.
func (a *Action) findParam(name string) *Param {
	if p := a.Param(name); p != nil {
		return p
	}
	meta := metaOf(a)
	for i := range meta {
		if meta[i].Name == name {
			return &meta[i]
		}
	}
	return nil
}

// coerceParam converts a value to the type of its argument if it is obvious how.
func coerceParam(v gjson.Result, p *Param) json.RawMessage {
	if p == nil {
		return json.RawMessage(v.Raw)
	}
	return p.shape.get().coerce(v)
}

func coerceType(v gjson.Result, typ string) json.RawMessage {
	raw := json.RawMessage(v.Raw)
	text := strings.TrimSpace(v.String())
	switch {
	case typ == "integer" && v.Type == gjson.String:
		if _, err := strconv.ParseInt(text, 10, 64); err == nil && gjson.Valid(text) {
			return json.RawMessage(text)
		}
	case typ == "number" && v.Type == gjson.String:
		if _, err := strconv.ParseFloat(text, 64); err == nil && gjson.Valid(text) {
			return json.RawMessage(text)
		}
	case typ == "boolean" && v.Type == gjson.String:
		switch strings.ToLower(text) {
		case "true", "false":
			return json.RawMessage(strings.ToLower(text))
		}
	case typ == "string" && (v.Type == gjson.Number || v.IsBool()):
		return Quote(v.Raw)
	}
	return raw
}
