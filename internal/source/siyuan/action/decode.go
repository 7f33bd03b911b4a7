package action

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"collie/internal/tool"
)

// decodeArgs fills in defaults and decodes the arguments into v. The schema has been checked by
// the pipeline; what it cannot say is checked here.
func decodeArgs(a *Action, raw json.RawMessage, v any) error {
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = json.RawMessage("{}")
	}
	root := gjson.ParseBytes(raw)
	filled := object{}
	for i := range a.params {
		p := &a.params[i]
		got := root.Get(escape(p.Name))
		switch {
		case got.Exists() && got.Type != gjson.Null:
			filled.addRaw(p.Name, json.RawMessage(got.Raw))
		case p.Required:
			return Invalid(a, p.Name, "is required")
		case p.Default != nil:
			filled.addRaw(p.Name, p.Default)
		}
		if err := unique(a, p, got); err != nil {
			return err
		}
	}
	if err := json.Unmarshal(filled.bytes(), v); err != nil {
		return &tool.Error{Op: "read arguments of", Kind: tool.Invalid, Subject: a.Tool + "." + a.Name, Err: err, Hint: a.Signature()}
	}
	return nil
}

// unique refuses items that are the same in the members that must differ.
func unique(a *Action, p *Param, got gjson.Result) error {
	if len(p.Unique) == 0 {
		return nil
	}
	seen := map[string]int{}
	for i, item := range got.Array() {
		var key strings.Builder
		for _, m := range p.Unique {
			key.WriteString(item.Get(m).Raw + "\x00")
		}
		if first, twice := seen[key.String()]; twice {
			return Invalid(a, fmt.Sprintf("%s/%d", p.Name, i), fmt.Sprintf("has the same %s as item %d", strings.Join(p.Unique, " and "), first))
		}
		seen[key.String()] = i
	}
	return nil
}

// escape makes a path of gjson out of a name.
func escape(name string) string {
	return strings.NewReplacer(".", `\.`, "*", `\*`, "?", `\?`).Replace(name)
}

// Invalid is the error for one argument that is wrong. It shows how the action is called.
func Invalid(a *Action, param, message string) *tool.Error {
	return &tool.Error{
		Op: "call", Kind: tool.Invalid, Subject: a.Tool + "." + a.Name, Message: param + " " + message,
		Hint: a.Signature(), Fields: []tool.Field{{Path: "/" + param, Message: message}},
	}
}

// Conflicting is the error for arguments that do not go together.
func Conflicting(a *Action, message string, params ...string) *tool.Error {
	e := &tool.Error{Op: "call", Kind: tool.Conflicting, Subject: a.Tool + "." + a.Name, Message: message, Hint: a.Signature()}
	for _, p := range params {
		e.Fields = append(e.Fields, tool.Field{Path: "/" + p, Message: message})
	}
	return e
}

// Invalid is the error for an argument of this call that is wrong.
func (r *Request) Invalid(param, message string) *tool.Error {
	return Invalid(r.Action, param, message)
}

// Conflicting is the error for arguments of this call that do not go together.
func (r *Request) Conflicting(message string, params ...string) *tool.Error {
	return Conflicting(r.Action, message, params...)
}
