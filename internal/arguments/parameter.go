package arguments

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"collie/internal/rawjson"
)

// This file derives the parameters of a command from the JSON schema of an action.

// Parameter is one argument of an action, as the schema describes it.
type Parameter struct {
	Name        string
	Flag        string   // without the dashes
	Types       []string // JSON types, without null; none means any
	Items       []string // the same for the items of an array
	Required    bool
	Enum        []gjson.Result
	Default     gjson.Result
	Description string
	Format      string // format keyword of the schema, for strings
	Parent      string // the object argument that it is a member of; empty at the top level
	aliases     []string
}

// Is reports whether typ is the only type of the parameter.
func (p *Parameter) Is(typ string) bool { return len(p.Types) == 1 && p.Types[0] == typ }

// TypeName describes the type in a word, for help and errors.
func (p *Parameter) TypeName() string {
	switch {
	case len(p.Types) == 0:
		return "any"
	case p.Is("array") && len(p.Items) == 1:
		return p.Items[0] + "[]"
	}
	return strings.Join(p.Types, "|")
}

// maxRefs limits how many references are followed in one schema.
const maxRefs = 16

// Parameters returns the arguments that an input schema describes, in its order. Those in allOf, anyOf and oneOf at the
// top are included: an action takes the arguments of all branches.
func Parameters(schema json.RawMessage) []Parameter {
	root := gjson.ParseBytes(schema)
	var out []Parameter
	collectParameters(root, root, 0, &out)
	required := map[string]bool{}
	for _, r := range rawjson.Member(resolveRef(root, root), "required").Array() {
		required[r.String()] = true
	}
	for i := range out {
		out[i].Required = required[out[i].Name]
	}
	nameFlags(out)
	return out
}

// collectParameters appends the properties of a schema and of its branches to out. Of equal names the first is kept.
func collectParameters(root, schema gjson.Result, depth int, out *[]Parameter) {
	schema = resolveRef(root, schema)
	if depth > maxRefs || !schema.IsObject() {
		return
	}
	if props := rawjson.Member(schema, "properties"); props.IsObject() {
		props.ForEach(func(k, v gjson.Result) bool {
			known := slices.ContainsFunc(*out, func(p Parameter) bool { return p.Name == k.String() })
			if !known && k.String() != "" {
				*out = append(*out, newParameter(root, k.String(), v))
			}
			return true
		})
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		for _, branch := range rawjson.List(rawjson.Member(schema, key)) {
			collectParameters(root, branch, depth+1, out)
		}
	}
}

// newParameter returns the parameter that a property's schema describes. root is the schema that references point into.
func newParameter(root gjson.Result, name string, schema gjson.Result) Parameter {
	p := Parameter{Name: name, Description: rawjson.Member(schema, "description").String(), Default: rawjson.Member(schema, "default")}
	s := resolveRef(root, schema)
	if p.Description == "" {
		p.Description = rawjson.Member(s, "description").String()
	}
	p.Types, p.Format = typesOf(root, s, 0), rawjson.Member(s, "format").String()
	if p.Is("array") {
		p.Items = typesOf(root, resolveRef(root, rawjson.Member(s, "items")), 0)
	}
	p.Enum = rawjson.List(rawjson.Member(s, "enum"))
	if len(p.Enum) == 0 && p.Is("array") {
		p.Enum = rawjson.List(rawjson.Member(resolveRef(root, rawjson.Member(s, "items")), "enum"))
	}
	return p
}

// typesOf returns the types that a schema allows, without null; none means any.
func typesOf(root, schema gjson.Result, depth int) []string {
	var types []string
	add := func(found ...string) {
		for _, t := range found {
			if t != "null" && !slices.Contains(types, t) {
				types = append(types, t)
			}
		}
	}
	switch t := rawjson.Member(schema, "type"); {
	case t.Type == gjson.String:
		add(t.String())
	case t.IsArray():
		for _, one := range t.Array() {
			add(one.String())
		}
	case rawjson.Member(schema, "enum").IsArray():
		for _, v := range rawjson.Member(schema, "enum").Array() {
			add(rawjson.TypeOf(v))
		}
	case rawjson.Member(schema, "const").Exists():
		add(rawjson.TypeOf(rawjson.Member(schema, "const")))
	case rawjson.Member(schema, "properties").IsObject():
		add("object")
	case rawjson.Member(schema, "items").Exists():
		add("array")
	case depth < maxRefs:
		for _, key := range []string{"anyOf", "oneOf", "allOf"} {
			for _, branch := range rawjson.List(rawjson.Member(schema, key)) {
				branch = resolveRef(root, branch)
				found := typesOf(root, branch, depth+1)
				if len(found) == 0 && key != "allOf" && rawjson.Member(branch, "type").String() != "null" {
					return nil
				}
				add(found...)
			}
		}
	}
	return types
}

// resolveRef follows references inside the schema.
func resolveRef(root, schema gjson.Result) gjson.Result {
	for range maxRefs {
		ref := rawjson.Member(schema, "$ref").String()
		if ref == "#" {
			return root
		}
		if !strings.HasPrefix(ref, "#/") {
			return schema
		}
		at := root
		for name := range strings.SplitSeq(ref[2:], "/") {
			at = rawjson.Member(at, strings.NewReplacer("~1", "/", "~0", "~").Replace(name))
		}
		schema = at
	}
	return schema
}

// nameFlags sets the flag of each parameter: its name in kebab case, or its exact name if the kebab form is ambiguous.
func nameFlags(params []Parameter) {
	count := map[string]int{}
	for i := range params {
		count[Normalize(params[i].Name)]++
	}
	for i := range params {
		p := &params[i]
		if p.Flag = Kebab(p.Name); count[Normalize(p.Name)] > 1 || Normalize(p.Flag) == "" {
			p.Flag = p.Name
		}
	}
}
