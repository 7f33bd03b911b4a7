package call

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"collie/internal/face/cli/rawjson"
	"collie/internal/face/cli/root"
	"collie/internal/tool"
)

// called reports whether a parameter has this name or alias; name is in [root.Plain] form.
func (p *parameter) called(name string) bool {
	return root.Plain(p.name) == name || slices.ContainsFunc(p.aliases, func(a string) bool { return root.Plain(a) == name })
}

// placeAll assigns the values without flags, in order, to the positional parameters. A list takes all
// remaining values. If there are too few values to reach a required parameter, optional ones before it are
// skipped: "collie fs search tea" looks for tea everywhere.
func (f *flagReader) placeAll(start json.RawMessage) error {
	slots := f.positional
	for f.reach(slots, start) > len(f.placed) {
		i := slices.IndexFunc(slots, func(name string) bool { return !f.wants(name, start) })
		if i < 0 {
			break
		}
		slots = slices.Delete(slices.Clone(slots), i, i+1)
	}
	for _, value := range f.placed {
		if len(slots) == 0 {
			return root.Usage("unexpected argument %q; %s takes %s without a flag; what has spaces in it needs quotes", value, f.command,
				strings.Join(f.positional, " and "))
		}
		p, err := f.param(slots[0])
		if err != nil {
			return err
		}
		if err := f.place(p, slots[0], value); err != nil {
			return err
		}
		if !p.is("array") {
			slots = slots[1:]
		}
	}
	return nil
}

// reach returns how many values are needed to reach the last required parameter in slots.
func (f *flagReader) reach(slots []string, start json.RawMessage) int {
	for i := len(slots) - 1; i >= 0 && len(f.placed) > 0; i-- {
		if f.wants(slots[i], start) {
			return i + 1
		}
	}
	return 0
}

// wants reports whether a parameter is required and has no value yet.
func (f *flagReader) wants(name string, start json.RawMessage) bool {
	p, err := f.param(name)
	return err == nil && p != nil && p.required && f.given[p.name] == nil && !rawjson.Member(gjson.ParseBytes(start), p.name).Exists()
}

func (f *flagReader) place(p *parameter, name, value string) error {
	if p.is("boolean") {
		return f.setBool(spelling{param: p}, name, value, true)
	}
	return f.set(p, name, value)
}

// allParameters returns the parameters of an action. For our own actions it adds what they accept besides
// their schema: aliases, and the members of arguments that are objects.
func allParameters(target *found) (params []parameter, positional []string) {
	params = parameters(target.schema)
	a := target.action
	if a == nil || !a.Strict {
		return params, nil
	}
	for alias, name := range a.Aliases {
		i := slices.IndexFunc(params, func(p parameter) bool { return p.name == name })
		if i >= 0 && !slices.ContainsFunc(params, func(p parameter) bool { return p.called(root.Plain(alias)) }) {
			params[i].aliases = append(params[i].aliases, alias)
		}
	}
	return withMembers(a, params), a.Positional
}

// withMembers adds to params the members of parameters that may be objects, unless their names are taken.
func withMembers(a *tool.Action, params []parameter) []parameter {
	top := gjson.ParseBytes(a.InputSchema)
	out := params
	for _, p := range params {
		schema := rawjson.Member(rawjson.Member(top, "properties"), p.name)
		for _, branch := range append(rawjson.List(rawjson.Member(schema, "anyOf")), schema) {
			rawjson.Member(deref(top, branch), "properties").ForEach(func(k, v gjson.Result) bool {
				free := !slices.ContainsFunc(out, func(q parameter) bool { return q.called(root.Plain(k.String())) })
				if free {
					q := newParameter(top, k.String(), v)
					q.in, q.flag = p.name, root.Kebab(q.name)
					out = append(out, q)
				}
				return true
			})
		}
	}
	return out
}
