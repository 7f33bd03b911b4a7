package config

import (
	"slices"
	"strconv"

	"github.com/tailscale/hujson"

	"collie/internal/jsonc"
)

// readInputs reads what VS Code's "inputs" declare. Of an id that two files declare, the later
// one counts for [Config.Inputs]; a server sees what its own file declares.
func (c *Config) readInputs(d *decoder, n node) {
	a, ok := n.value.Value.(*hujson.Array)
	if !ok {
		d.mistyped(n, "a list of inputs")
		return
	}
	for i := range a.Elements {
		at := node{n.doc, &a.Elements[i], jsonc.Join(n.pointer, strconv.Itoa(i))}
		in, ok := readInput(d, at)
		if !ok {
			continue
		}
		n.doc.inputs = append(n.doc.inputs, in)
		same := func(other Input) bool { return other.ID == in.ID }
		if j := slices.IndexFunc(c.Inputs, same); j >= 0 {
			c.Inputs[j] = in
		} else {
			c.Inputs = append(c.Inputs, in)
		}
	}
}

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
		// What VS Code's kind "command" has, which asks an extension.
		"command": none, "args": none,
	}.read(d, n)
	if in.ID == "" && len(d.findings) == before {
		d.fail(n, "value", `an input needs an "id", to which ${input:id} refers`)
	}
	return in, in.ID != ""
}

// readOptions reads a list of strings, or of {"label": …, "value": …}.
func (in *Input) readOptions(d *decoder, n node) {
	a, ok := n.value.Value.(*hujson.Array)
	if !ok {
		d.mistyped(n, "a list of strings")
		return
	}
	for i := range a.Elements {
		c := node{n.doc, &a.Elements[i], jsonc.Join(n.pointer, strconv.Itoa(i))}
		if o, ok := c.value.Value.(*hujson.Object); ok {
			if m := jsonc.Member(o, "value"); m != nil {
				c = c.child(m)
			}
		}
		s, ok := text(c)
		if !ok {
			d.mistyped(c, "a string")
			continue
		}
		in.Options = append(in.Options, s)
	}
}

// Input is what the file of s declares under an id, for ${input:id} in s.
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

// Answer is the last part of the way to the value of ${input:id} in s, after the secret store
// and COLLIE_INPUT_<ID>, which package entry asks first: the default that is declared,
// else what a person says to ask. Ask may be nil, where nobody can be asked. An id that nothing
// declares is asked for as well, since other programs' files leave out declarations.
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
