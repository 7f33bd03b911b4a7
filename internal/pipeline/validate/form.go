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

// This file compiles the input schema of an action, once.

// address is the base URI of a schema without $id. Nothing is ever loaded from it.
const address = "collie://schema"

// form is a compiled input schema. compile sets the fields below strict; they do not change later.
type form struct {
	once   sync.Once
	strict bool

	schema          *jsonschema.Schema            // nil: the schema is not applied
	acceptsAll      bool                          // every object matches
	flat            *flat                         // the schema as a flat one, nil if it is not flat
	unboundedErrors bool                          // see hasUnboundedErrors
	names           *names                        // the known names for a strict action; else nil
	schemas         map[string]*jsonschema.Schema // by location
}

// compile compiles the schema. After an error f accepts every object.
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
	if n := countSchemas(doc); n > maxSchemas {
		return nil, fmt.Errorf("it consists of %d schemas, the limit is %d", n, maxSchemas)
	}
	engine, err := patterns(doc)
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(noLoader{})
	c.UseRegexpEngine(engine)
	if f.strict { // a schema of a built-in tool
		c.AssertFormat()
		c.SkipMetaschemas()
	}
	if err := c.AddResource(address, doc); err != nil {
		return nil, err
	}
	return c.Compile(address)
}

// noLoader is a loader that loads nothing: a schema must not make us fetch a URL or read a file.
type noLoader struct{}

func (noLoader) Load(string) (any, error) {
	return nil, errors.New("schemas outside the tool definition are not loaded")
}

// prepare removes format assertions of older drafts and bounds the cost of checking.
func (f *form) prepare(s *jsonschema.Schema) error {
	all := reachable(s)
	if err := checkAcyclic(all); err != nil {
		return err
	}
	// If no part has its own $id, a dynamic reference leads to the same place as a plain one, and its cost is
	// known.
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
		limitErrors(sub)
		f.unboundedErrors = f.unboundedErrors || hasUnboundedErrors(sub)
		f.schemas[sub.Location] = sub
	}
	f.flat = flatOf(s)
	return nil
}

// countSchemas returns the number of schemas in doc, or slightly more.
func countSchemas(doc any) int {
	n := 0
	switch v := doc.(type) {
	case bool:
		n = 1
	case map[string]any:
		n = 1
		for _, e := range v {
			n += countSchemas(e)
		}
	case []any:
		for _, e := range v {
			n += countSchemas(e)
		}
	}
	return n
}

// harmlessFields are the fields of a compiled schema, besides Bool and Types, that can never make an object
// invalid.
var harmlessFields = []string{
	"DraftVersion", "Location", "ID", "Anchor", "DynamicAnchor", "RecursiveAnchor", "Title",
	"Description", "Default", "Comment", "ReadOnly", "WriteOnly", "Examples", "Deprecated",
}

// acceptsObjects reports whether every object matches s, judging by its keywords alone.
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
	return hasOnlyKeywords(s, "Types", "AdditionalProperties", "Properties")
}

// hasOnlyKeywords reports whether s has no keywords that can make a value invalid except those in some.
func hasOnlyKeywords(s *jsonschema.Schema, some ...string) bool {
	v := reflect.ValueOf(s).Elem()
	for field, val := range v.Fields() {
		if field.IsExported() && !val.IsZero() && !slices.Contains(harmlessFields, field.Name) && !slices.Contains(some, field.Name) {
			return false
		}
	}
	return true
}
