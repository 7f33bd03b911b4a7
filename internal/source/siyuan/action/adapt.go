package action

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// Adapt replaces aliases and other spellings of names in args, a JSON object, and puts values of
// an obvious wrong type right: "5" for 5, "true" for true, 5 for "5", one item for a list of one,
// JSON in a string for what is to be an object or a list; within lists and objects too. A null
// counts as not given, arguments of other actions included: some clients send all that a tool
// declares. What it does not understand stays as it is, for the validation to name. The member
// called except is left out; "" leaves out none. It reads args once, and what needs nothing comes back as it is.
func (a *Action) Adapt(args json.RawMessage, except string) json.RawMessage {
	given := args
	if a.Spec.Adapt != nil {
		if bytes.Contains(args, []byte("null")) {
			given = withoutNulls(args)
		}
		given = a.Spec.Adapt(given)
	}
	out, changed := a.fitted(given, except)
	if (changed || !bytes.Equal(given, args)) && !gjson.ValidBytes(args) {
		return args // what is not JSON must not become it
	}
	return out
}

// withoutNulls is args, if it is an object, without what is null.
func withoutNulls(args json.RawMessage) json.RawMessage {
	root, o := gjson.ParseBytes(args), object{}
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

// fitted is args with each name and value put right, and whether any was.
func (a *Action) fitted(args json.RawMessage, except string) (out json.RawMessage, changed bool) {
	root := gjson.ParseBytes(args)
	if !root.IsObject() {
		return args, false
	}
	o := object{buf: make([]byte, 0, len(args))}
	var taken []string // names for which another one stood
	root.ForEach(func(k, v gjson.Result) bool {
		name, key := k.String(), k.Raw
		if except != "" && name == except {
			return true
		}
		if v.Type == gjson.Null {
			changed = true
			return true
		}
		if to := a.meant(name); to != "" && !slices.Contains(taken, to) && root.Get(escape(to)).Type == gjson.Null {
			name, key, taken, changed = to, string(Quote(to)), append(taken, to), true
		}
		value := fit(v, a.find(name))
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

// meant is the argument that another name stands for: an alias, or the one argument whose name
// differs in capitals, "_" and "-" only, as block_ids and blockIDs do. It is empty for the name
// of an argument, and for what is none.
func (a *Action) meant(name string) string {
	if to, ok := a.Aliases[name]; ok {
		return to
	}
	if a.find(name) != nil {
		return ""
	}
	found := ""
	for _, params := range [][]Param{a.params, metaOf(a)} {
		for i := range params {
			if letters(params[i].Name) != letters(name) {
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

// letters is a name without what its spellings differ in.
func letters(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
}

// find returns an argument, one that every action takes included.
func (a *Action) find(name string) *Param {
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

// fit is a value in the type that an argument has, as far as that is obvious.
func fit(v gjson.Result, p *Param) json.RawMessage {
	if p == nil {
		return json.RawMessage(v.Raw)
	}
	return p.shape.get().fit(v)
}

func fitType(v gjson.Result, typ string) json.RawMessage {
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
