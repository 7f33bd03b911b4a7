package validate

import (
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/tidwall/gjson"
)

// This file checks arguments against simple schemas without the library, which most calls need no more than.

// flat is a schema that only says which types its arguments have and which are required, like the schemas of
// most tools. Whether arguments match can then be decided from their text, at a tenth of the library's cost.
// Arguments that may not match are left to the library.
type flat struct {
	names    map[string]argument
	required uint64 // one bit per argument
}

// argument holds the rules of a flat schema for one argument.
type argument struct {
	bit   uint64
	types jsonType
}

// jsonType is a set of JSON Schema types.
type jsonType uint8

const (
	typeNull jsonType = 1 << iota
	typeBoolean
	typeInteger
	typeNumber
	typeString
	typeArray
	typeObject
	anyType jsonType = 1<<iota - 1
)

// maxFlatArguments is the maximum number of arguments in a flat schema: the bits of a word.
const maxFlatArguments = 64

// flatOf returns s as a flat schema, nil if s says more than that.
func flatOf(s *jsonschema.Schema) *flat {
	// Whether s allows unnamed arguments makes no difference: those are left to the library.
	if !hasOnlyKeywords(s, "Types", "Properties", "Required", "AdditionalProperties") || len(s.Properties) > maxFlatArguments || typesOf(s)&typeObject == 0 {
		return nil
	}
	f := &flat{names: make(map[string]argument, len(s.Properties))}
	for name, sub := range s.Properties {
		switch {
		case sub.Bool != nil && !*sub.Bool, sub.Bool == nil && !hasOnlyKeywords(sub, "Types"):
			return nil
		}
		f.names[name] = argument{1 << len(f.names), typesOf(sub)}
	}
	for _, name := range s.Required {
		a, ok := f.names[name]
		if !ok {
			return nil
		}
		f.required |= a.bit
	}
	return f
}

// typesOf returns the types that s allows.
func typesOf(s *jsonschema.Schema) (set jsonType) {
	if s.Types == nil {
		return anyType
	}
	names := []string{"null", "boolean", "integer", "number", "string", "array", "object"}
	for _, t := range s.Types.ToStrings() {
		if i := slices.Index(names, t); i >= 0 {
			set |= 1 << i
		}
	}
	if set&typeNumber != 0 {
		set |= typeInteger
	}
	return set
}

// accepts reports whether the arguments certainly match. raw must be a valid JSON object. False means that the library
// has to decide: it is returned for unnamed or duplicate arguments, names with a lone surrogate, objects and unusual
// numbers.
func (f *flat) accepts(raw []byte) bool {
	if len(raw) > maxQuickSize {
		return false
	}
	var given uint64
	fits := true
	gjson.ParseBytes(raw).ForEach(func(name, v gjson.Result) bool {
		a, known := f.names[name.Str]
		fits = known && given&a.bit == 0 && a.types&typeIn(v) != 0 && !hasLoneSurrogate(name)
		given |= a.bit
		return fits
	})
	return fits && given&f.required == f.required
}

// typeIn returns the type of a value, 0 if its text alone does not tell.
func typeIn(v gjson.Result) jsonType {
	switch v.Type {
	case gjson.Null:
		return typeNull
	case gjson.True, gjson.False:
		return typeBoolean
	case gjson.String:
		return typeString
	case gjson.Number:
		if len(v.Raw) < 19 && strings.Trim(v.Raw, "-0123456789") == "" {
			return typeInteger
		}
	case gjson.JSON:
		if v.Raw[0] == '[' && !strings.Contains(v.Raw, "{") { // a name may occur twice in an object
			return typeArray
		}
	}
	return 0
}
