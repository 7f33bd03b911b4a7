package action

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/tidwall/gjson"

	"collie/internal/tool"
)

// This file decodes the arguments of a call into the struct of its action.

// decode decodes the arguments in one pass: those that every action takes into r.Meta, the action's own into r.args,
// with defaults for missing ones. The pipeline has validated them by the schema; decode checks what a schema cannot
// express.
func (r *Request) decode() (err error) {
	a, raw := r.Action, bytes.TrimSpace(r.raw)
	args, given := reflect.New(a.args), make([]bool, len(a.params))
	gjson.ParseBytes(raw).ForEach(func(k, v gjson.Result) bool {
		value := raw[v.Index : v.Index+len(v.Raw)]
		switch i := a.index(k.Str); {
		case i < 0:
			if member := r.Meta.member(k.Str); member != nil {
				err = a.decodeInto(member, value, "Meta", k.Str)
			}
		case !given[i] && v.Type != gjson.Null:
			given[i] = true
			if err = r.checkUnique(&a.params[i], v); err == nil {
				err = a.decodeParam(args, &a.params[i], value)
			}
		}
		return err == nil
	})
	for i := range a.params {
		switch p := &a.params[i]; {
		case err != nil:
			return err
		case given[i]:
		case p.Required:
			return r.Invalid(p.Name, "is required")
		case p.Default != nil:
			err = a.decodeParam(args, p, p.Default)
		}
	}
	r.args = args.Interface()
	return err
}

func (a *Action) decodeParam(args reflect.Value, p *Param, value json.RawMessage) error {
	return a.decodeInto(args.Elem().FieldByIndex(p.index).Addr().Interface(), value, a.args.Name(), p.Name)
}

// decodeInto decodes one argument. Its error names the place as if the whole struct had been decoded.
func (a *Action) decodeInto(member any, value json.RawMessage, in, name string) error {
	err := json.Unmarshal(value, member)
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && e.Struct == "" {
		e.Struct, e.Field = in, name
	} else if ok {
		e.Field = name + "." + e.Field
	}
	return &tool.Error{Op: "read arguments of", Kind: tool.Invalid, Subject: a.Tool + "." + a.Name, Err: err, Hint: a.Signature()}
}

// checkUnique refuses items that are equal in the members that must differ.
func (r *Request) checkUnique(p *Param, got gjson.Result) error {
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
			return r.Invalid(fmt.Sprintf("%s/%d", p.Name, i), fmt.Sprintf("has the same %s as item %d", strings.Join(p.Unique, " and "), first))
		}
		seen[key.String()] = i
	}
	return nil
}

// escapeGJSON turns a name into a path for gjson, in which . * ? have a meaning.
func escapeGJSON(name string) string {
	return strings.NewReplacer(".", `\.`, "*", `\*`, "?", `\?`).Replace(name)
}

// Invalid returns the error for a wrong argument of this call. It shows how the action is called.
func (r *Request) Invalid(param, message string) *tool.Error {
	return &tool.Error{
		Op: "call", Kind: tool.Invalid, Subject: r.Action.Tool + "." + r.Action.Name, Message: param + " " + message,
		Hint: r.Action.Signature(), Fields: []tool.Field{{Path: "/" + param, Message: message}},
	}
}

// Conflicting returns the error for arguments that cannot be used together.
func (r *Request) Conflicting(message string, params ...string) *tool.Error {
	e := &tool.Error{
		Op: "call", Kind: tool.Conflicting, Subject: r.Action.Tool + "." + r.Action.Name, Message: message, Hint: r.Action.Signature(),
	}
	for _, p := range params {
		e.Fields = append(e.Fields, tool.Field{Path: "/" + p, Message: message})
	}
	return e
}
