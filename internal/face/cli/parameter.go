package cli

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"github.com/tidwall/gjson"
)

// parameter is one argument of an action, as its schema describes it.
type parameter struct {
	name        string
	flag        string   // without the dashes
	types       []string // JSON types it may have, null left out; none means any
	items       []string // the same for the items of an array
	required    bool
	enum        []gjson.Result
	def         gjson.Result // default
	description string
	format      string   // of a text
	aliases     []string // other names
	in          string   // the argument that it is a member of; empty at the top
}

// is reports whether a parameter has that one type.
func (p *parameter) is(typ string) bool { return len(p.types) == 1 && p.types[0] == typ }

// typeName is the type in a word, for help and errors.
func (p *parameter) typeName() string {
	switch {
	case len(p.types) == 0:
		return "any"
	case p.is("array") && len(p.items) == 1:
		return p.items[0] + "[]"
	}
	return strings.Join(p.types, "|")
}

// maxRefs bounds how many $ref are followed to one schema.
const maxRefs = 16

// parameters are the arguments an input schema describes, in its order. What the schema
// says in allOf, anyOf and oneOf at its top counts as well: an action takes the arguments
// of all its branches.
func parameters(schema json.RawMessage) []parameter {
	root := gjson.ParseBytes(schema)
	var out []parameter
	collect(root, root, 0, &out)
	required := map[string]bool{}
	for _, r := range member(deref(root, root), "required").Array() {
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
	if props := member(schema, "properties"); props.IsObject() {
		props.ForEach(func(k, v gjson.Result) bool {
			known := slices.ContainsFunc(*out, func(p parameter) bool { return p.name == k.String() })
			if !known && k.String() != "" {
				*out = append(*out, newParameter(root, k.String(), v))
			}
			return true
		})
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		for _, branch := range list(member(schema, key)) {
			collect(root, branch, depth+1, out)
		}
	}
}

func newParameter(root gjson.Result, name string, schema gjson.Result) parameter {
	p := parameter{name: name, description: member(schema, "description").String(), def: member(schema, "default")}
	s := deref(root, schema)
	if p.description == "" {
		p.description = member(s, "description").String()
	}
	p.types, p.format = typesOf(root, s, 0), member(s, "format").String()
	if p.is("array") {
		p.items = typesOf(root, deref(root, member(s, "items")), 0)
	}
	p.enum = list(member(s, "enum"))
	if len(p.enum) == 0 && p.is("array") {
		p.enum = list(member(deref(root, member(s, "items")), "enum"))
	}
	return p
}

// typesOf are the types that a schema allows, null left out; none means any.
func typesOf(root, schema gjson.Result, depth int) []string {
	var types []string
	add := func(found ...string) {
		for _, t := range found {
			if t != "null" && !slices.Contains(types, t) {
				types = append(types, t)
			}
		}
	}
	switch t := member(schema, "type"); {
	case t.Type == gjson.String:
		add(t.String())
	case t.IsArray():
		for _, one := range t.Array() {
			add(one.String())
		}
	case member(schema, "enum").IsArray():
		for _, v := range member(schema, "enum").Array() {
			add(jsonType(v))
		}
	case member(schema, "const").Exists():
		add(jsonType(member(schema, "const")))
	case member(schema, "properties").IsObject():
		add("object")
	case member(schema, "items").Exists():
		add("array")
	case depth < maxRefs:
		for _, key := range []string{"anyOf", "oneOf", "allOf"} {
			for _, branch := range list(member(schema, key)) {
				branch = deref(root, branch)
				found := typesOf(root, branch, depth+1)
				if len(found) == 0 && key != "allOf" && member(branch, "type").String() != "null" {
					return nil
				}
				add(found...)
			}
		}
	}
	return types
}

// jsonType names the type of a value as JSON Schema does.
func jsonType(v gjson.Result) string {
	switch v.Type {
	case gjson.Null:
		return "null"
	case gjson.True, gjson.False:
		return "boolean"
	case gjson.String:
		return "string"
	case gjson.Number:
		if strings.ContainsAny(v.Raw, ".eE") {
			return "number"
		}
		return "integer"
	case gjson.JSON:
		if v.IsArray() {
			return "array"
		}
	}
	return "object"
}

// deref follows references within the schema.
func deref(root, schema gjson.Result) gjson.Result {
	for range maxRefs {
		ref := member(schema, "$ref").String()
		if ref == "#" {
			return root
		}
		if !strings.HasPrefix(ref, "#/") {
			return schema
		}
		at := root
		for name := range strings.SplitSeq(ref[2:], "/") {
			at = member(at, strings.NewReplacer("~1", "/", "~0", "~").Replace(name))
		}
		schema = at
	}
	return schema
}

// member is a member of an object by its exact name, which [gjson.Result.Get] would read
// as a path.
func member(obj gjson.Result, name string) (found gjson.Result) {
	if !obj.IsObject() {
		return gjson.Result{}
	}
	obj.ForEach(func(k, v gjson.Result) bool {
		if k.String() == name {
			found = v
			return false
		}
		return true
	})
	return found
}

// list is the elements of an array; none for anything else, which [gjson.Result.Array]
// would wrap.
func list(v gjson.Result) []gjson.Result {
	if !v.IsArray() {
		return nil
	}
	return v.Array()
}

// nameFlags gives each parameter its flag: its name in kebab case, or the name as it is
// where two would be the same.
func nameFlags(params []parameter) {
	count := map[string]int{}
	for i := range params {
		count[plain(params[i].name)]++
	}
	for i := range params {
		p := &params[i]
		if p.flag = kebab(p.name); count[plain(p.name)] > 1 || plain(p.flag) == "" {
			p.flag = p.name
		}
	}
}

// plain is a name without what its spellings differ in: notebookID, notebook_id and
// notebook-id are one.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == ' ' {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
}

// pluralAt reports whether the letter at i is the s of several, as in blockIDs.
func pluralAt(runes []rune, i int) bool {
	return runes[i] == 's' && (i+1 == len(runes) || !unicode.IsLower(runes[i+1]))
}

// kebab is a name in lower case with a dash between its words: avID becomes av-id.
func kebab(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		switch {
		case r == '_' || r == ' ':
			r = '-'
		case unicode.IsUpper(r) && i > 0:
			before := runes[i-1]
			ends := i+1 < len(runes) && unicode.IsLower(runes[i+1]) && unicode.IsUpper(before) && !pluralAt(runes, i+1)
			if unicode.IsLower(before) || unicode.IsDigit(before) || ends {
				b.WriteByte('-')
			}
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
