package config

import (
	"slices"
	"strconv"

	"github.com/tailscale/hujson"

	"collie/internal/jsonc"
)

// This file reads the section "inputs" as VS Code writes it: values that a person is asked for when a server starts.

// readInputs reads the declarations in VS Code's "inputs". If two files declare the same id, [Config.Inputs]
// has the later declaration, while a server uses that of its own file.
func (c *Config) readInputs(d *decoder, n node) {
	a, ok := n.value.Value.(*hujson.Array)
	if !ok {
		d.wrongType(n, "a list of inputs")
		return
	}
	for i := range a.Elements {
		at := node{n.doc, &a.Elements[i], jsonc.Join(n.pointer, strconv.Itoa(i))}
		in, ok := readInput(d, at)
		if !ok {
			continue
		}
		n.doc.inputs = append(n.doc.inputs, in)
		sameID := func(other Input) bool { return other.ID == in.ID }
		if j := slices.IndexFunc(c.Inputs, sameID); j >= 0 {
			c.Inputs[j] = in
		} else {
			c.Inputs = append(c.Inputs, in)
		}
	}
}

// readInput reads one declaration. ok is false if it has no id.
func readInput(d *decoder, n node) (in Input, ok bool) {
	none := field{func(*decoder, node) {}, func() any { return nil }}
	before := len(d.findings)
	fields{
		"id":          stringField(&in.ID, "api-key"),
		"type":        stringField(&in.Type, "promptString"),
		"description": stringField(&in.Description, "API key"),
		"default":     stringField(&in.Default, "none"),
		"password":    boolField(&in.Password),
		"options":     {in.readOptions, func() any { return nil }},
		// Members of VS Code's kind "command", which asks an extension; they are ignored.
		"command": none, "args": none,
	}.read(d, n)
	if in.ID == "" && len(d.findings) == before {
		d.fail(n, "value", `an input needs an "id", to which ${input:id} refers`)
	}
	return in, in.ID != ""
}

// readOptions reads a list whose elements are strings or {"label": …, "value": …}.
func (in *Input) readOptions(d *decoder, n node) {
	a, ok := n.value.Value.(*hujson.Array)
	if !ok {
		d.wrongType(n, "a list of strings")
		return
	}
	for i := range a.Elements {
		c := node{n.doc, &a.Elements[i], jsonc.Join(n.pointer, strconv.Itoa(i))}
		if o, ok := c.value.Value.(*hujson.Object); ok {
			if m := jsonc.Member(o, "value"); m != nil {
				c = c.child(m)
			}
		}
		s, ok := stringValue(c)
		if !ok {
			d.wrongType(c, "a string")
			continue
		}
		in.Options = append(in.Options, s)
	}
}

// Input returns the declaration of id in the file of s, for ${input:id}.
func (s ServerEntry) Input(id string) (Input, bool) {
	if s.at.doc == nil {
		return Input{}, false
	}
	i := slices.IndexFunc(s.at.doc.inputs, func(in Input) bool { return in.ID == id })
	if i < 0 {
		return Input{}, false
	}
	return s.at.doc.inputs[i], true
}

// Answer is the last step in resolving ${input:id} in s. Package entry first tries the secret store and
// COLLIE_INPUT_<ID>. Answer returns the declared default, or else what ask returns from a person. ask may be
// nil if nobody can be asked. It is also called for an undeclared id, because other programs' files omit
// declarations.
func (s ServerEntry) Answer(id string, ask func(Input) (string, bool)) (value string, ok bool) {
	in, declared := s.Input(id)
	switch {
	case declared && in.Default != "":
		return in.Default, true
	case ask == nil:
		return "", false
	case !declared:
		in = Input{ID: id, Type: "promptString", Password: true}
	}
	return ask(in)
}
