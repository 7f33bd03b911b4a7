package validate

import "github.com/santhosh-tekuri/jsonschema/v6"

// eachInPlace calls f for each schema that s applies to the same value (JSON Schema calls these keywords in-place
// applicators).
func eachInPlace(s *jsonschema.Schema, f func(*jsonschema.Schema)) {
	each(f, s.Ref, s.RecursiveRef, s.Not, s.If, s.Then, s.Else)
	if s.DynamicRef != nil {
		each(f, s.DynamicRef.Ref)
	}
	each(f, s.AllOf...)
	each(f, s.AnyOf...)
	each(f, s.OneOf...)
	for _, d := range s.DependentSchemas {
		each(f, d)
	}
	for _, d := range s.Dependencies {
		eachIn(f, d)
	}
}

// eachChild calls f for each schema that s applies to items or members of the value.
func eachChild(s *jsonschema.Schema, f func(*jsonschema.Schema)) {
	each(f, s.PropertyNames, s.UnevaluatedProperties, s.Contains, s.Items2020, s.UnevaluatedItems, s.ContentSchema)
	each(f, s.PrefixItems...)
	for _, p := range s.Properties {
		each(f, p)
	}
	for _, p := range s.PatternProperties {
		each(f, p)
	}
	eachIn(f, s.AdditionalProperties)
	eachIn(f, s.Items)
	eachIn(f, s.AdditionalItems)
}

func each(f func(*jsonschema.Schema), schemas ...*jsonschema.Schema) {
	for _, s := range schemas {
		if s != nil {
			f(s)
		}
	}
}

// eachIn calls f for the schema or schemas in v, a field that may also hold something else.
func eachIn(f func(*jsonschema.Schema), v any) {
	switch v := v.(type) {
	case *jsonschema.Schema:
		each(f, v)
	case []*jsonschema.Schema:
		each(f, v...)
	}
}

// reachable returns s and all schemas it leads to, each once.
func reachable(s *jsonschema.Schema) []*jsonschema.Schema {
	seen := map[*jsonschema.Schema]bool{s: true}
	all := []*jsonschema.Schema{s}
	for i := 0; i < len(all); i++ {
		note := func(sub *jsonschema.Schema) {
			if !seen[sub] {
				seen[sub] = true
				all = append(all, sub)
			}
		}
		eachInPlace(all[i], note)
		eachChild(all[i], note)
	}
	return all
}
