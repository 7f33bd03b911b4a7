package validate

import (
	"errors"
	"iter"
	"maps"
	"slices"
	"strconv"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// This file stops the validator after a few errors, where the library would collect one for each item of a long array.

// The library collects every error, a few hundred bytes for each item of a long array or name of a large
// object. A few megabytes of arguments could thus take gigabytes.
const (
	// maxSimilarErrors is the number of wrong items of one array, or values of one object, after which the others are
	// not checked.
	maxSimilarErrors = 10
	// maxUnboundedValues is the maximum number of values in arguments for schemas whose errors limitErrors cannot
	// limit.
	maxUnboundedValues = 50_000
)

var errUnbounded = errors.New("they hold too many values for a schema with these keywords; send less at once")

// limitErrors removes from s the schemas that apply to each item or to each value of an unknown name, and applies
// them in an extension that stops after a few errors.
func limitErrors(s *jsonschema.Schema) {
	if items := s.Items2020; items != nil {
		s.Items2020 = nil
		s.Extensions = append(s.Extensions, &eachItem{items, len(s.PrefixItems)})
	}
	if items, ok := s.Items.(*jsonschema.Schema); ok {
		s.Items = nil
		s.Extensions = append(s.Extensions, &eachItem{items, 0})
	}
	if values, ok := s.AdditionalProperties.(*jsonschema.Schema); ok && len(s.PatternProperties) == 0 {
		s.AdditionalProperties = nil
		s.Extensions = append(s.Extensions, &eachValue{values, s.Properties})
	}
}

// hasUnboundedErrors reports whether s, even after limitErrors, collects an error for each item or name.
func hasUnboundedErrors(s *jsonschema.Schema) bool {
	_, items := s.AdditionalItems.(*jsonschema.Schema)
	return items || s.UniqueItems || s.Contains != nil || s.UnevaluatedItems != nil || s.UnevaluatedProperties != nil ||
		s.PropertyNames != nil || len(s.PatternProperties) > 0
}

// eachItem applies a schema to all items of an array from a given index on.
type eachItem struct {
	schema *jsonschema.Schema
	from   int
}

// Validate implements [jsonschema.SchemaExt].
func (e *eachItem) Validate(ctx *jsonschema.ValidatorContext, v any) {
	items, _ := v.([]any)
	wrong := 0
	for i := e.from; i < len(items) && wrong < maxSimilarErrors; i++ {
		if err := ctx.Validate(e.schema, items[i], []string{strconv.Itoa(i)}); err != nil {
			ctx.AddErr(err)
			wrong++
		}
	}
}

// eachValue applies a schema to the values of unknown names.
type eachValue struct {
	schema *jsonschema.Schema
	known  map[string]*jsonschema.Schema
}

// Validate implements [jsonschema.SchemaExt].
func (e *eachValue) Validate(ctx *jsonschema.ValidatorContext, v any) {
	obj, _ := v.(map[string]any)
	wrong := e.wrong(ctx, obj, maps.Keys(obj))
	if len(wrong) == maxSimilarErrors {
		// Sorted, so that the reported values do not vary from run to run.
		wrong = e.wrong(ctx, obj, slices.Values(slices.Sorted(maps.Keys(obj))))
	}
	for _, err := range wrong {
		ctx.AddErr(err)
	}
}

// wrong returns the errors of the first few wrong values among names.
func (e *eachValue) wrong(ctx *jsonschema.ValidatorContext, obj map[string]any, names iter.Seq[string]) []error {
	var wrong []error
	for name := range names {
		if e.known[name] != nil {
			continue
		}
		if err := ctx.Validate(e.schema, obj[name], []string{name}); err != nil {
			if wrong = append(wrong, err); len(wrong) == maxSimilarErrors {
				break
			}
		}
	}
	return wrong
}
