package action

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// Adapt replaces aliases and other spellings of names in args, a JSON object, and puts values of
// an obvious wrong type right: "5" for 5, "true" for true, 5 for "5", one item for a list of one,
// JSON in a string for what is to be an object or a list; within lists and objects too. A null
// counts as not given, arguments of other actions included: some clients send all that a tool
// declares. What it does not understand stays as it is, for the validation to name.
func (a *Action) Adapt(args json.RawMessage) json.RawMessage {
	if !gjson.ValidBytes(args) {
		return args
	}
	args = given(args)
	if a.Spec.Adapt != nil {
		args = a.Spec.Adapt(args)
	}
	root := gjson.ParseBytes(args)
	if !root.IsObject() || !a.unfit(root) {
		return args
	}
	o, seen := object{}, map[string]bool{}
	root.ForEach(func(k, v gjson.Result) bool {
		seen[k.String()] = true
		return true
	})
	root.ForEach(func(k, v gjson.Result) bool {
		name := k.String()
		if to := a.meant(name); to != "" && !seen[to] {
			name, seen[to] = to, true
		}
		o.addRaw(name, fit(v, a.find(name)))
		return true
	})
	return o.bytes()
}

// given is args without what is null.
func given(args json.RawMessage) json.RawMessage {
	root, o, nulls := gjson.ParseBytes(args), object{}, false
	if !root.IsObject() {
		return args
	}
	root.ForEach(func(k, v gjson.Result) bool {
		if v.Type == gjson.Null {
			nulls = true
		} else {
			o.addRaw(k.String(), json.RawMessage(v.Raw))
		}
		return true
	})
	if !nulls {
		return args
	}
	return o.bytes()
}

// unfit reports whether there is anything to put right.
func (a *Action) unfit(root gjson.Result) (found bool) {
	root.ForEach(func(k, v gjson.Result) bool {
		found = a.meant(k.String()) != "" || string(fit(v, a.find(k.String()))) != v.Raw
		return !found
	})
	return found
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
