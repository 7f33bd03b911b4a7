package notes_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// api is what the documentation of an interface to models says of the tools that it takes
// (testdata/apis.json). A limit of 0, or without entries, is one that it does not name.
type api struct {
	API, Source, Form      string
	ToolName, PropertyName string
	Description, Tools     int
	Depth, Properties      int
	Text, EnumValues       int // of all names and values; how many values
	Types, Keywords        []string
	RefusedAtRoot          []string
	// Strict wants all properties of closed objects, null where there is nothing to say; Closed
	// says that clients close objects. OpenAPI has enums of texts alone.
	Strict, Closed, OpenAPI bool
}

func apis(t *testing.T) []api {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "apis.json"))
	if err != nil {
		t.Fatal(err)
	}
	var out []api
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	for _, a := range out {
		if a.API == "" || a.Source == "" || a.ToolName == "" || a.PropertyName == "" || len(a.Types) == 0 {
			t.Fatalf("a line lacks something: %+v", a)
		}
	}
	return out
}

// of is a schema as this interface gets it.
func (a *api) of(schema any) any {
	s, ok := schema.(object)
	if !ok {
		return schema
	}
	out := object{}
	maps.Copy(out, s)
	if items, ok := s["items"]; ok {
		out["items"] = a.of(items)
	}
	props, ok := s["properties"].(object)
	if !ok {
		return out
	}
	members, names := object{}, []string{}
	for name, of := range props {
		members[name] = a.of(of)
		if a.Strict && !slices.Contains(texts(s["required"]), name) {
			members[name] = nullable(members[name].(object))
		}
		names = append(names, name)
	}
	slices.Sort(names)
	out["properties"] = members
	if a.Strict {
		out["required"] = names
	}
	if a.Strict || a.Closed {
		out["additionalProperties"] = false
	}
	return out
}

// nullable is a schema that takes null too.
func nullable(s object) object {
	s["type"] = []any{s["type"], "null"}
	if values, ok := s["enum"].([]any); ok {
		s["enum"] = append(slices.Clone(values), nil)
	}
	return s
}

func texts(v any) []string {
	var out []string
	list, _ := v.([]any)
	for _, one := range list {
		out = append(out, fmt.Sprint(one))
	}
	return out
}

// seen is what the schemas of one tool come to.
type seen struct{ properties, depth, text, values int }

// TestListFitsAPIs holds the list of tools, everything switched on, to what interfaces to models
// document, in the form in which each of them gets it.
func TestListFitsAPIs(t *testing.T) {
	t.Parallel()
	r := newGateway(t, newWorkspace(t, layout{}))
	tools := r.list(t)
	for _, a := range apis(t) {
		t.Run(a.API, func(t *testing.T) {
			if a.Tools > 0 && len(tools) > a.Tools {
				t.Errorf("%d tools, at most %d are taken", len(tools), a.Tools)
			}
			for _, def := range tools {
				name := def.Get("name").String()
				if !regexp.MustCompile(a.ToolName).MatchString(name) {
					t.Errorf("the name %q does not fit %s", name, a.ToolName)
				}
				if n := utf8.RuneCountInString(def.Get("description").String()); a.Description > 0 && n > a.Description {
					t.Errorf("%s: a description of %d characters, at most %d are taken", name, n, a.Description)
				}
				schema, _ := def.Get("inputSchema").Value().(object)
				for _, word := range a.RefusedAtRoot {
					if _, has := schema[word]; has {
						t.Errorf("%s: %s at the root", name, word)
					}
				}
				got := seen{}
				a.check(t, name, a.of(schema), 1, &got)
				for what, n := range map[string][2]int{
					"properties": {got.properties, a.Properties}, "levels": {got.depth, a.Depth},
					"characters in names and values": {got.text, a.Text}, "values": {got.values, a.EnumValues},
				} {
					if n[1] > 0 && n[0] > n[1] {
						t.Errorf("%s: %d %s, at most %d are taken", name, n[0], what, n[1])
					}
				}
			}
		})
	}
}

// check walks a schema and all that is in it.
func (a *api) check(t *testing.T, at string, schema any, depth int, got *seen) {
	t.Helper()
	s, ok := schema.(object)
	if !ok {
		t.Errorf("%s: no schema but %v", at, schema)
		return
	}
	got.depth = max(got.depth, depth)
	for word := range s {
		if len(a.Keywords) > 0 && !slices.Contains(a.Keywords, word) {
			t.Errorf("%s: the keyword %s", at, word)
		}
	}
	types := texts(s["type"])
	if typ, ok := s["type"].(string); ok {
		types = []string{typ}
	}
	if len(types) == 0 {
		t.Errorf("%s: no type", at)
	}
	for _, typ := range types {
		if !slices.Contains(a.Types, typ) {
			t.Errorf("%s: the type %q", at, typ)
		}
	}
	values, _ := s["enum"].([]any)
	got.values += len(values)
	for _, v := range values {
		got.text += len(fmt.Sprint(v))
		if _, text := v.(string); a.OpenAPI && !text {
			t.Errorf("%s: the value %v is not text", at, v)
		}
	}
	if slices.Contains(types, "array") {
		a.check(t, at+"[]", s["items"], depth, got)
	}
	if !slices.Contains(types, "object") {
		return
	}
	props, _ := s["properties"].(object)
	if len(props) == 0 {
		t.Errorf("%s: an object without properties", at)
	}
	for _, name := range texts(s["required"]) {
		if props[name] == nil {
			t.Errorf("%s: it requires %s, which it does not have", at, name)
		}
	}
	for name, of := range props {
		got.properties++
		got.text += len(name)
		if !regexp.MustCompile(a.PropertyName).MatchString(name) {
			t.Errorf("%s: the name %q does not fit %s", at, name, a.PropertyName)
		}
		a.check(t, at+"."+name, of, depth+1, got)
	}
}

// list is the list of tools that clients get.
func (r *gateway) list(t *testing.T) []gjson.Result {
	t.Helper()
	raw, _ := r.catalog.List(t.Context(), "tools", "")
	return gjson.GetBytes(raw, "tools").Array()
}
