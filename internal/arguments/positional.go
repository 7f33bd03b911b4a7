package arguments

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"collie/internal/rawjson"
	"collie/internal/tool"
)

// This file decides which values without a flag belong to which parameter.

// isNamed reports whether the parameter has that name or alias; name is normalized.
func (p *Parameter) isNamed(name string) bool {
	return Normalize(p.Name) == name || slices.ContainsFunc(p.aliases, func(a string) bool { return Normalize(a) == name })
}

// assignPositional assigns the values without a flag, in order, to the positional parameters. An array takes all that
// follow. If there are too few values to reach a required parameter, optional ones before it are skipped: in "collie fs
// search tea", tea is the query and the path is omitted.
func (f *Reader) assignPositional(start json.RawMessage) error {
	slots := f.Positional
	for f.valuesNeeded(slots, start) > len(f.values) {
		i := slices.IndexFunc(slots, func(name string) bool { return !f.isMissing(name, start) })
		if i < 0 {
			break
		}
		slots = slices.Delete(slices.Clone(slots), i, i+1)
	}
	for _, value := range f.values {
		if len(slots) == 0 {
			return f.usage("unexpected argument %q; %s takes %s without a flag; what has spaces in it needs quotes", value, f.Command,
				strings.Join(f.Positional, " and "))
		}
		p, err := f.Param(slots[0])
		if err != nil {
			return err
		}
		if err := f.setPositional(p, slots[0], value); err != nil {
			return err
		}
		if !p.Is("array") {
			slots = slots[1:]
		}
	}
	return nil
}

// valuesNeeded returns how many values are needed to reach the last required slot.
func (f *Reader) valuesNeeded(slots []string, start json.RawMessage) int {
	for i := len(slots) - 1; i >= 0 && len(f.values) > 0; i-- {
		if f.isMissing(slots[i], start) {
			return i + 1
		}
	}
	return 0
}

// isMissing reports whether a parameter is required and has no value yet.
func (f *Reader) isMissing(name string, start json.RawMessage) bool {
	p, err := f.Param(name)
	return err == nil && p != nil && p.Required && f.given[p.Name] == nil && !rawjson.Member(gjson.ParseBytes(start), p.Name).Exists()
}

func (f *Reader) setPositional(p *Parameter, name, value string) error {
	if p.Is("boolean") {
		return f.setBool(flagSpelling{param: p}, name, value, true)
	}
	return f.set(p, name, value)
}

// ForAction returns the parameters of an action, and which of them need no flag. a may be nil if only the schema is
// known. Our own actions accept more than the schema lists: aliases, and the members of an argument that is an object.
func ForAction(a *tool.Action, schema json.RawMessage) (params []Parameter, positional []string) {
	params = Parameters(schema)
	if a == nil || !a.Strict {
		return params, nil
	}
	for alias, name := range a.Aliases {
		i := slices.IndexFunc(params, func(p Parameter) bool { return p.Name == name })
		if i >= 0 && !slices.ContainsFunc(params, func(p Parameter) bool { return p.isNamed(Normalize(alias)) }) {
			params[i].aliases = append(params[i].aliases, alias)
		}
	}
	return withMembers(a, params), a.Positional
}

// withMembers adds the members of object arguments as parameters, unless their names are taken.
func withMembers(a *tool.Action, params []Parameter) []Parameter {
	top := gjson.ParseBytes(a.InputSchema)
	out := params
	for _, p := range params {
		schema := rawjson.Member(rawjson.Member(top, "properties"), p.Name)
		for _, branch := range append(rawjson.List(rawjson.Member(schema, "anyOf")), schema) {
			rawjson.Member(resolveRef(top, branch), "properties").ForEach(func(k, v gjson.Result) bool {
				free := !slices.ContainsFunc(out, func(q Parameter) bool { return q.isNamed(Normalize(k.String())) })
				if free {
					q := newParameter(top, k.String(), v)
					q.Parent, q.Flag = p.Name, Kebab(q.Name)
					out = append(out, q)
				}
				return true
			})
		}
	}
	return out
}
