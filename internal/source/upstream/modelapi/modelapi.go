// Package modelapi holds the documented limits of model APIs for tools as one table, and finds what in a definition
// each API would refuse. One such tool makes an API refuse the whole request.
//
// The package does not change definitions. Tests hold our own definitions to these limits; those of servers pass
// unchanged, and users are told.
package modelapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"unicode/utf8"
)

// API is what one model API documents. A limit that is 0 or empty is not documented.
type API struct {
	Name                   string
	ToolName, PropertyName string // patterns that names must match
	// Description bounds the characters of a description, and Tools the tools of a request. Described requires a
	// description that is not empty.
	Description, Tools int
	Described          bool
	Depth, Properties  int // for one tool: nested objects, and properties in total
	Text, EnumValues   int // for one tool: characters of all names and values, and number of enum values
	Types, Keywords    []string
	RefusedAtRoot      []string // keywords that the root must not have
	// Strict requires closed objects whose properties are all required, with null for a missing value. Closed says
	// that clients close objects before sending. OpenAPI allows one type for each schema, enums of strings only, and
	// no object without properties.
	Strict, Closed, OpenAPI bool
}

// Breach is a limit that a definition exceeds.
type Breach struct {
	Limit string // the limit, in the same words for all definitions
	At    string // place in the schema, such as "/filter/from"; empty for the definition itself
}

// schema is a decoded JSON Schema that is an object.
type schema = map[string]any

// Check returns what a refuses in an MCP tool definition that is called name: each broken limit once, sorted, with
// the first place where it is broken. It returns nothing for a definition that is not a JSON object.
func (a *API) Check(name string, def json.RawMessage) []Breach {
	var d struct {
		Description *string `json:"description"`
		InputSchema any     `json:"inputSchema"`
	}
	if json.Unmarshal(def, &d) != nil {
		return nil
	}
	w := schemaWalk{api: a, found: map[string]string{}, property: compile(a.PropertyName)}
	if !compile(a.ToolName).MatchString(name) {
		w.report("", "a name that does not fit %s", a.ToolName)
	}
	if d.Description != nil {
		if a.Description > 0 && utf8.RuneCountInString(*d.Description) > a.Description {
			w.report("", "a description of more than %d characters", a.Description)
		}
		if a.Described && *d.Description == "" {
			w.report("", "an empty description")
		}
	}
	root, _ := d.InputSchema.(schema)
	if root["type"] != "object" {
		w.report("", "a schema that is not of type object")
	}
	for _, word := range a.RefusedAtRoot {
		if _, present := root[word]; present {
			w.report("", "%s at the root", word)
		}
	}
	if members, _ := root["properties"].(schema); a.OpenAPI && len(members) == 0 {
		root = nil // no arguments to declare
	}
	if root != nil {
		w.checkSchema("", a.Form(root), 1)
	}
	for _, n := range []struct {
		got, limit int
		noun       string
	}{
		{w.properties, a.Properties, "properties"},
		{w.depth, a.Depth, "levels of objects"},
		{w.text, a.Text, "characters in names and values"},
		{w.values, a.EnumValues, "values of enums"},
	} {
		if n.limit > 0 && n.got > n.limit {
			w.report("", "more than %d %s", n.limit, n.noun)
		}
	}
	var out []Breach
	for _, limit := range slices.Sorted(maps.Keys(w.found)) {
		out = append(out, Breach{limit, w.found[limit]})
	}
	return out
}

// compile compiles a pattern; an empty one matches everything.
func compile(pattern string) *regexp.Regexp { return regexp.MustCompile(pattern) }

// Form returns a decoded schema in the form in which clients send it to the API. It does not change v.
func (a *API) Form(v any) any {
	s, ok := v.(schema)
	if !ok {
		return v
	}
	out := maps.Clone(s)
	for _, key := range []string{"items", "additionalProperties"} {
		if of, ok := s[key].(schema); ok {
			out[key] = a.Form(of)
		}
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf", "prefixItems"} {
		if list, ok := s[key].([]any); ok {
			formed := make([]any, len(list))
			for i := range list {
				formed[i] = a.Form(list[i])
			}
			out[key] = formed
		}
	}
	for _, key := range []string{"$defs", "definitions"} {
		if all, ok := s[key].(schema); ok {
			formed := schema{}
			for name, of := range all {
				formed[name] = a.Form(of)
			}
			out[key] = formed
		}
	}
	members, ok := s["properties"].(schema)
	if !ok {
		return out
	}
	formed := schema{}
	for name, of := range members {
		formed[name] = a.Form(of)
		if a.Strict && !slices.Contains(textsOf(s["required"]), name) {
			formed[name] = nullable(formed[name])
		}
	}
	out["properties"] = formed
	if a.Strict {
		out["required"] = anysOf(slices.Sorted(maps.Keys(members)))
	}
	if _, present := s["additionalProperties"]; a.Strict || a.Closed && !present {
		out["additionalProperties"] = false
	}
	return out
}

// nullable returns a schema that also accepts null.
func nullable(v any) any {
	s, ok := v.(schema)
	if !ok {
		return v
	}
	if alternatives, ok := s["anyOf"].([]any); ok {
		s["anyOf"] = append(slices.Clone(alternatives), schema{"type": "null"})
	}
	if types := textsOf(s["type"]); len(types) > 0 && !slices.Contains(types, "null") {
		s["type"] = anysOf(append(types, "null"))
	}
	if values, ok := s["enum"].([]any); ok && !slices.Contains(values, nil) {
		s["enum"] = append(slices.Clone(values), nil)
	}
	return s
}

// textsOf returns the strings in a list, or the one string that v is.
func textsOf(v any) []string {
	if text, ok := v.(string); ok {
		return []string{text}
	}
	var out []string
	list, _ := v.([]any)
	for _, text := range list {
		out = append(out, fmt.Sprint(text))
	}
	return out
}

// anysOf returns list as a slice of any, the form of a decoded JSON list.
func anysOf(list []string) []any {
	out := make([]any, len(list))
	for i := range list {
		out[i] = list[i]
	}
	return out
}

// schemaWalk visits the schemas of one definition.
type schemaWalk struct {
	api      *API
	property *regexp.Regexp
	found    map[string]string // first place by limit

	properties, depth, text, values int
}

// report records that a limit is broken at a place in the schema.
func (w *schemaWalk) report(at, limit string, args ...any) {
	limit = fmt.Sprintf(limit, args...)
	if first, known := w.found[limit]; !known || at < first { // the smallest place, since maps have no order
		w.found[limit] = at
	}
}

// checkSchema checks a schema and all schemas in it, and counts what is limited for the whole tool. depth is the number of
// objects around it, plus one.
func (w *schemaWalk) checkSchema(at string, v any, depth int) {
	a := w.api
	s, ok := v.(schema)
	if !ok {
		if a.OpenAPI || a.Strict {
			w.report(at, "a schema that is not an object")
		}
		return
	}
	for word := range s {
		if len(a.Keywords) > 0 && !slices.Contains(a.Keywords, word) {
			w.report(at, "the keyword %s", word)
		}
	}
	types := textsOf(s["type"])
	if slices.Contains(types, "object") {
		w.depth = max(w.depth, depth)
	}
	w.checkTypes(at, s, types)
	values, _ := s["enum"].([]any)
	w.values += len(values)
	for _, one := range values {
		w.text += utf8.RuneCountInString(fmt.Sprint(one))
		if _, text := one.(string); a.OpenAPI && !text {
			w.report(at, "a value of an enum that is not text")
		}
	}
	if items, present := s["items"]; present {
		w.checkSchema(at+"/items", items, depth)
	} else if slices.Contains(types, "array") && (a.OpenAPI || a.Strict) {
		w.report(at, "a list without items")
	}
	if of, ok := s["additionalProperties"].(schema); ok {
		w.checkSchema(at+"/additionalProperties", of, depth+1)
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf", "prefixItems"} {
		list, _ := s[key].([]any)
		for i, of := range list {
			w.checkSchema(fmt.Sprintf("%s/%s/%d", at, key, i), of, depth)
		}
	}
	for _, key := range []string{"$defs", "definitions"} {
		all, _ := s[key].(schema)
		for name, of := range all {
			w.checkSchema(at+"/"+key+"/"+name, of, depth)
		}
	}
	if slices.Contains(types, "object") {
		w.checkMembers(at, s, depth)
	}
}

// checkTypes checks the types of a schema.
func (w *schemaWalk) checkTypes(at string, s schema, types []string) {
	a := w.api
	for _, typ := range types {
		if !slices.Contains(a.Types, typ) {
			w.report(at, "the type %s", typ)
		}
	}
	_, list := s["type"].([]any)
	if list && a.OpenAPI {
		w.report(at, "several types")
	}
	if len(types) > 0 || !a.OpenAPI && !a.Strict {
		return
	}
	for _, instead := range []string{"anyOf", "$ref", "const"} {
		if _, present := s[instead]; present && slices.Contains(a.Keywords, instead) {
			return
		}
	}
	w.report(at, "a schema without a type")
}

// checkMembers checks the properties of an object.
func (w *schemaWalk) checkMembers(at string, s schema, depth int) {
	a := w.api
	members, _ := s["properties"].(schema)
	if len(members) == 0 && at != "" && (a.OpenAPI || a.Strict) {
		w.report(at, "an object without properties")
	}
	for _, name := range textsOf(s["required"]) {
		if _, present := members[name]; !present && (a.OpenAPI || a.Strict) {
			w.report(at, "a property that is required and not declared")
		}
	}
	for name, of := range members {
		w.properties++
		w.text += utf8.RuneCountInString(name)
		if !w.property.MatchString(name) {
			w.report(at+"/"+name, "a name of a property that does not fit %s", a.PropertyName)
		}
		w.checkSchema(at+"/"+name, of, depth+1)
	}
}
