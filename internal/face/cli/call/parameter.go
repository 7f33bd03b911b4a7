package call

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"collie/internal/face/cli/rawjson"
	"collie/internal/face/cli/root"
)

// parameter is one argument of an action, as its schema describes it.
type parameter struct {
	name        string
	flag        string   // without the dashes
	types       []string // possible JSON types, without null; none means any
	items       []string // likewise for the items of an array
	required    bool
	enum        []gjson.Result
	def         gjson.Result // default
	description string
	format      string   // format of a string
	aliases     []string // alternative names
	in          string   // the argument of which it is a member; empty at the top level
}

// is reports whether typ is the only type of a parameter.
func (p *parameter) is(typ string) bool { return len(p.types) == 1 && p.types[0] == typ }

// typeName returns the type as one word, for help and errors.
func (p *parameter) typeName() string {
	switch {
	case len(p.types) == 0:
		return "any"
	case p.is("array") && len(p.items) == 1:
		return p.items[0] + "[]"
	}
	return strings.Join(p.types, "|")
}

// maxRefs is the maximum number of $ref that are followed for one schema.
const maxRefs = 16

// parameters returns the arguments that an input schema describes, in its order. It includes those in allOf,
// anyOf and oneOf at the top level: an action accepts the arguments of all branches.
func parameters(schema json.RawMessage) []parameter {
	root := gjson.ParseBytes(schema)
	var out []parameter
	collect(root, root, 0, &out)
	required := map[string]bool{}
	for _, r := range rawjson.Member(deref(root, root), "required").Array() {
		required[r.String()] = true
	}
	for i := range out {
		out[i].required = required[out[i].name]
	}
	nameFlags(out)
	return out
}

func collect(root, schema gjson.Result, depth int, out *[]parameter) {
	schema = deref(root, schema)
	if depth > maxRefs || !schema.IsObject() {
		return
	}
	if props := rawjson.Member(schema, "properties"); props.IsObject() {
		props.ForEach(func(k, v gjson.Result) bool {
			known := slices.ContainsFunc(*out, func(p parameter) bool { return p.name == k.String() })
			if !known && k.String() != "" {
				*out = append(*out, newParameter(root, k.String(), v))
			}
			return true
		})
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		for _, branch := range rawjson.List(rawjson.Member(schema, key)) {
			collect(root, branch, depth+1, out)
		}
	}
}

func newParameter(root gjson.Result, name string, schema gjson.Result) parameter {
	p := parameter{name: name, description: rawjson.Member(schema, "description").String(), def: rawjson.Member(schema, "default")}
	s := deref(root, schema)
	if p.description == "" {
		p.description = rawjson.Member(s, "description").String()
	}
	p.types, p.format = typesOf(root, s, 0), rawjson.Member(s, "format").String()
	if p.is("array") {
		p.items = typesOf(root, deref(root, rawjson.Member(s, "items")), 0)
	}
	p.enum = rawjson.List(rawjson.Member(s, "enum"))
	if len(p.enum) == 0 && p.is("array") {
		p.enum = rawjson.List(rawjson.Member(deref(root, rawjson.Member(s, "items")), "enum"))
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
				branch = deref(root, branch)
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

// deref follows references inside the schema.
func deref(root, schema gjson.Result) gjson.Result {
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

// nameFlags sets the flag of each parameter: its name in kebab case, or its unchanged name if two flags would
// be the same.
func nameFlags(params []parameter) {
	count := map[string]int{}
	for i := range params {
		count[root.Plain(params[i].name)]++
	}
	for i := range params {
		p := &params[i]
		if p.flag = root.Kebab(p.name); count[root.Plain(p.name)] > 1 || root.Plain(p.flag) == "" {
			p.flag = p.name
		}
	}
}
