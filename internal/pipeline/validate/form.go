package validate

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// address is the base of a schema that has no $id. Nothing is ever loaded from it.
const address = "collie://schema"

// form is a compiled input schema. All but once is set by compile and not changed later.
type form struct {
	once   sync.Once
	strict bool

	schema     *jsonschema.Schema            // nil: not applied
	acceptsAll bool                          // every object fits
	flat       *flat                         // the schema, where it is one; else nil
	sprawls    bool                          // see sprawls
	names      *names                        // what a strict action takes; else nil
	schemas    map[string]*jsonschema.Schema // by location
}

// compile makes f ready. After an error f accepts every object.
func (f *form) compile(raw []byte) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the schema breaks its compiler: %v", p)
		}
		if err != nil {
			f.schema, f.names, f.flat, f.acceptsAll = nil, nil, nil, true
		}
	}()
	if len(raw) == 0 {
		f.acceptsAll = true
		return nil
	}
	doc, _, err := decode(raw, true)
	if err != nil {
		return err
	}
	s, err := f.load(doc)
	if err != nil {
		return err
	}
	if err := f.prepare(s); err != nil {
		return err
	}
	f.schema = s
	if f.strict {
		f.names = namesOf(s)
	}
	return nil
}

func (f *form) load(doc any) (*jsonschema.Schema, error) {
	if n := size(doc); n > largest {
		return nil, fmt.Errorf("it consists of %d schemas, the limit is %d", n, largest)
	}
	engine, err := patterns(doc)
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(refuse{})
	c.UseRegexpEngine(engine)
	if f.strict { // our own
		c.AssertFormat()
		c.SkipMetaschemas()
	}
	if err := c.AddResource(address, doc); err != nil {
		return nil, err
	}
	return c.Compile(address)
}

// refuse loads nothing: a schema may not make us fetch a URL or read a file.
type refuse struct{}

func (refuse) Load(string) (any, error) {
	return nil, errors.New("schemas outside the tool definition are not loaded")
}

// prepare drops the formats that older drafts assert and bounds what checking may cost.
func (f *form) prepare(s *jsonschema.Schema) error {
	all := reachable(s)
	if err := acyclic(all); err != nil {
		return err
	}
	// Where no part has an $id of its own, a dynamic reference leads where a plain one does, and
	// its cost is known.
	alone := !slices.ContainsFunc(all, func(sub *jsonschema.Schema) bool { return sub != s && sub.ID != s.ID })
	f.acceptsAll = !f.strict && acceptsObjects(s)
	f.schemas = make(map[string]*jsonschema.Schema, len(all))
	for _, sub := range all {
		if (sub.DynamicRef != nil || sub.RecursiveRef != nil) && !alone {
			return errors.New("$dynamicRef and $recursiveRef are not supported beside an $id inside the schema")
		}
		if !f.strict {
			sub.Format = nil
		}
		curb(sub)
		f.sprawls = f.sprawls || sprawls(sub)
		f.schemas[sub.Location] = sub
	}
	f.flat = flatOf(s)
	return nil
}

// size counts the schemas in doc, or a little more.
func size(doc any) int {
	n := 0
	switch v := doc.(type) {
	case bool:
		n = 1
	case map[string]any:
		n = 1
		for _, e := range v {
			n += size(e)
		}
	case []any:
		for _, e := range v {
			n += size(e)
		}
	}
	return n
}

// harmless are the fields of a compiled schema that no object can fail, besides Bool and
// Types.
var harmless = []string{
	"DraftVersion", "Location", "ID", "Anchor", "DynamicAnchor", "RecursiveAnchor", "Title",
	"Description", "Default", "Comment", "ReadOnly", "WriteOnly", "Examples", "Deprecated",
}

// acceptsObjects reports whether every object fits s, seen from its keywords alone.
func acceptsObjects(s *jsonschema.Schema) bool {
	if s.Bool != nil {
		return *s.Bool
	}
	if s.Types != nil && !slices.Contains(s.Types.ToStrings(), "object") {
		return false
	}
	if b, ok := s.AdditionalProperties.(bool); s.AdditionalProperties != nil && (!ok || !b) {
		return false
	}
	for sub := range maps.Values(s.Properties) {
		if sub.Bool == nil || !*sub.Bool {
			return false
		}
	}
	return says(s, "Types", "AdditionalProperties", "Properties")
}

// says reports whether of all keywords that a value can fail s has none but some.
func says(s *jsonschema.Schema, some ...string) bool {
	v := reflect.ValueOf(s).Elem()
	for field, val := range v.Fields() {
		if field.IsExported() && !val.IsZero() && !slices.Contains(harmless, field.Name) && !slices.Contains(some, field.Name) {
			return false
		}
	}
	return true
}
