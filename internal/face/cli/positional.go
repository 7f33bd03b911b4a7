package cli

import (
	"slices"

	"github.com/tidwall/gjson"

	"collie/internal/tool"
)

// called reports whether a parameter has that name or alias; name is plain.
func (p *parameter) called(name string) bool {
	return plain(p.name) == name || slices.ContainsFunc(p.aliases, func(a string) bool { return plain(a) == name })
}

// place takes a value that has no flag for the next parameter that may have one. A list takes
// all that follow.
func (f *flagReader) place(value string) error {
	name := f.positional[0]
	p, err := f.param(name)
	if err != nil {
		return err
	}
	if !p.is("array") {
		f.positional = f.positional[1:]
	}
	if p.is("boolean") {
		return f.setBool(spelling{param: p}, name, value, true)
	}
	return f.set(p, name, value)
}

// takes are the parameters of an action, and of one of ours also what it understands beside its
// schema: other names, and the members of an argument that is an object.
func takes(target *found) (params []parameter, positional []string) {
	params = parameters(target.schema)
	a := target.action
	if a == nil || !a.Strict {
		return params, nil
	}
	for alias, name := range a.Aliases {
		i := slices.IndexFunc(params, func(p parameter) bool { return p.name == name })
		if i >= 0 && !slices.ContainsFunc(params, func(p parameter) bool { return p.called(plain(alias)) }) {
			params[i].aliases = append(params[i].aliases, alias)
		}
	}
	return withMembers(a, params), a.Positional
}

// withMembers adds to params the members of those that may be an object, as far as their names
// are free.
func withMembers(a *tool.Action, params []parameter) []parameter {
	root := gjson.ParseBytes(a.InputSchema)
	out := params
	for _, p := range params {
		schema := member(member(root, "properties"), p.name)
		for _, branch := range append(list(member(schema, "anyOf")), schema) {
			member(deref(root, branch), "properties").ForEach(func(k, v gjson.Result) bool {
				free := !slices.ContainsFunc(out, func(q parameter) bool { return q.called(plain(k.String())) })
				if free {
					q := newParameter(root, k.String(), v)
					q.in, q.flag = p.name, kebab(q.name)
					out = append(out, q)
				}
				return true
			})
		}
	}
	return out
}
