package transform

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// This file converts the schemas of tools to the parts of JSON Schema that a provider accepts.

// schemaDialect says how much of JSON Schema a provider accepts.
type schemaDialect int

const (
	fullSchema schemaDialect = iota // nearly everything, as long as the top is an object
	inlineRefs                      // no $ref
	openAPI                         // the subset of OpenAPI schemas that Gemini accepts
)

// Limits of a conversion. What is beyond one of them accepts any value, so that a schema that refers to itself ends.
const (
	maxRefDepth = 6  // depth of a schema whose reference is resolved
	maxRefChain = 8  // references that lead to each other
	maxDepth    = 40 // schemas within each other
)

// maxCachedSchemas is how many lowered schemas a chain caches.
const maxCachedSchemas = 2048

// lowerSchema converts schema to the dialect of the provider. A conversion may only make a schema more permissive: the tool
// itself still refuses arguments that the original forbids.
func (c *chain) lowerSchema(schema json.RawMessage) json.RawMessage {
	c.mu.Lock()
	low, ok := c.lowered[string(schema)]
	c.mu.Unlock()
	if ok {
		return low
	}
	low = c.schemas.lowerJSON(schema)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.lowered) >= maxCachedSchemas {
		clear(c.lowered)
	}
	c.lowered[string(schema)] = low
	return low
}

// lowerJSON does the work of chain.lowerSchema, without its cache. A schema that cannot be parsed becomes an object of anything.
func (d schemaDialect) lowerJSON(schema json.RawMessage) json.RawMessage {
	var root map[string]any
	dec := json.NewDecoder(bytes.NewReader(schema))
	dec.UseNumber()
	if dec.Decode(&root) != nil || root == nil {
		root = map[string]any{}
	}
	_, typed := root["type"]
	if d == fullSchema && typed && root["type"] == "object" && root["properties"] != nil && !hasCombinators(root) {
		return schema
	}
	l := &lowering{root: root, dialect: d}
	if d != fullSchema {
		root = l.lowerObject(root, 0)
	}
	root = objectAtTop(root)
	if d == openAPI && len(root["properties"].(map[string]any)) == 0 {
		return nil // an object without properties is refused; no parameters are not
	}
	raw, _ := json.Marshal(root)
	return raw
}

// hasCombinators reports whether s is composed of other schemas.
func hasCombinators(s map[string]any) bool {
	return s["anyOf"] != nil || s["oneOf"] != nil || s["allOf"] != nil || s["$ref"] != nil
}

// objectAtTop turns s into an object schema, the only kind that providers accept for arguments.
func objectAtTop(s map[string]any) map[string]any {
	properties, _ := s["properties"].(map[string]any)
	if properties == nil {
		properties = map[string]any{}
	}
	for _, word := range []string{"allOf", "anyOf", "oneOf"} {
		list, _ := s[word].([]any)
		for _, one := range list {
			branch, _ := one.(map[string]any)
			inner, _ := branch["properties"].(map[string]any)
			for name, p := range inner {
				if properties[name] == nil {
					properties[name] = p
				}
			}
		}
		delete(s, word)
	}
	s["type"], s["properties"] = "object", properties
	delete(s, "nullable")
	return s
}

// lowering is the conversion of one schema, without its references, to a dialect.
type lowering struct {
	root       map[string]any
	dialect    schemaDialect
	subschemas int // how many have been written so far
}

// maxSubschemas limits the result for a schema that refers to itself in many places.
const maxSubschemas = 4096

// lowerObject returns s without references, and in the openAPI dialect with the keywords of OpenAPI only.
func (l *lowering) lowerObject(s map[string]any, depth int) map[string]any {
	s = l.resolveRef(s, depth)
	out := map[string]any{}
	orNull := false // a branch of s accepts null alone, which OpenAPI says by a keyword
	for word, v := range s {
		switch word {
		case "properties", "patternProperties":
			inner := map[string]any{}
			if list, ok := v.(map[string]any); ok {
				for name, p := range list {
					inner[name] = l.lowerSubschema(p, depth+1)
				}
			}
			out[word] = inner
		case "items", "additionalProperties", "not", "contains", "propertyNames":
			out[word] = v
			if _, ok := v.(map[string]any); ok {
				out[word] = l.lowerSubschema(v, depth+1)
			}
		case "anyOf", "oneOf", "allOf", "prefixItems":
			list, _ := v.([]any)
			var inner []any
			for _, one := range list {
				if isChoice := word == "anyOf" || word == "oneOf"; isChoice && l.dialect == openAPI && l.isNull(one, depth+1) {
					orNull = true
					continue
				}
				inner = append(inner, l.lowerSubschema(one, depth+1))
			}
			out[word] = inner
		case "$defs", "definitions", "$schema", "$id", "$ref", "$comment":
		default:
			out[word] = v
		}
	}
	if orNull {
		out["nullable"] = true
	}
	if l.dialect == openAPI {
		return toOpenAPI(out)
	}
	return out
}

// isNull reports whether v is a schema that accepts null and nothing else.
func (l *lowering) isNull(v any, depth int) bool {
	s, ok := v.(map[string]any)
	if !ok {
		return false
	}
	s = l.resolveRef(s, depth)
	c, isConst := s["const"]
	enum, _ := s["enum"].([]any)
	types, _ := s["type"].([]any)
	return s["type"] == "null" || isConst && c == nil || len(enum) == 1 && enum[0] == nil || len(types) == 1 && types[0] == "null"
}

// lowerSubschema is lowerObject for a value inside a schema. What is not a schema, or exceeds a limit, becomes one that accepts
// any value.
func (l *lowering) lowerSubschema(v any, depth int) any {
	s, ok := v.(map[string]any)
	if l.subschemas++; !ok || depth > maxDepth || l.subschemas > maxSubschemas {
		s = map[string]any{}
	}
	return l.lowerObject(s, depth)
}

// resolveRef replaces a $ref by its target; the other members of s override those of the target.
func (l *lowering) resolveRef(s map[string]any, depth int) map[string]any {
	for range maxRefChain {
		ref, ok := s["$ref"].(string)
		if !ok {
			return s
		}
		merged := map[string]any{}
		if target, ok := l.lookup(ref); ok && depth <= maxRefDepth {
			maps.Copy(merged, target)
		}
		for word, v := range s {
			if word != "$ref" {
				merged[word] = v
			}
		}
		s = merged
	}
	return s
}

// lookup returns the target of a reference within the schema.
func (l *lowering) lookup(ref string) (map[string]any, bool) {
	path, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil, false
	}
	var at any = l.root
	for step := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		if step == "" {
			continue
		}
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		object, ok := at.(map[string]any)
		if !ok {
			return nil, false
		}
		at = object[step]
	}
	found, ok := at.(map[string]any)
	return found, ok
}

// openAPIKeywords are the keywords that Gemini accepts; it refuses a schema with any other.
var openAPIKeywords = []string{
	"type", "format", "title", "description", "nullable", "enum", "maxItems", "minItems", "properties", "required", "minProperties", "maxProperties",
	"minLength", "maxLength", "pattern", "anyOf", "items", "minimum", "maximum",
}

// toOpenAPI expresses a schema, whose subschemas have been converted already, with the keywords of OpenAPI.
func toOpenAPI(s map[string]any) map[string]any {
	if c, ok := s["const"]; ok {
		s["enum"] = []any{c}
	}
	if one, ok := s["oneOf"]; ok && s["anyOf"] == nil {
		s["anyOf"] = one
	}
	if list, ok := s["allOf"].([]any); ok {
		for _, part := range list {
			mergeInto(s, part.(map[string]any))
		}
	}
	switch t := s["type"].(type) {
	case []any: // several types; null becomes nullable
		types := slices.DeleteFunc(slices.Clone(t), func(one any) bool { return one == "null" })
		if len(types) < len(t) {
			s["nullable"] = true
		}
		delete(s, "type")
		if len(types) == 1 {
			s["type"] = types[0]
		} else if s["anyOf"] == nil {
			var each []any
			for _, one := range types {
				each = append(each, toOpenAPI(map[string]any{"type": one}))
			}
			s["anyOf"] = each
		}
	case string:
		if t == "null" {
			s["type"], s["nullable"] = "string", true
		}
	}
	if list, ok := s["anyOf"].([]any); ok {
		delete(s, "anyOf")
		switch len(list) {
		case 0:
		case 1:
			mergeInto(s, list[0].(map[string]any))
		default:
			s["anyOf"] = list
		}
	}
	normalizeEnum(s)
	for word := range s {
		if !slices.Contains(openAPIKeywords, word) {
			delete(s, word)
		}
	}
	normalizeType(s)
	return s
}

// mergeInto adds the members of other that s lacks.
func mergeInto(s, other map[string]any) {
	for word, v := range other {
		switch into := s[word].(type) {
		case nil:
			s[word] = v
		case map[string]any:
			if from, ok := v.(map[string]any); ok && word == "properties" {
				mergeInto(into, from)
			}
		case []any:
			if from, ok := v.([]any); ok && word == "required" {
				s[word] = append(slices.Clone(into), from...)
			}
		}
	}
}

// normalizeEnum keeps enums of strings only. The values of others are listed in the description.
func normalizeEnum(s map[string]any) {
	list, ok := s["enum"].([]any)
	if !ok {
		return
	}
	var texts []any
	for _, v := range list {
		switch v := v.(type) {
		case string:
			if v != "" { // Gemini refuses an empty one
				texts = append(texts, v)
			}
		case nil:
			s["nullable"] = true
		default:
			delete(s, "enum")
			d, _ := s["description"].(string)
			s["description"] = strings.TrimSpace(fmt.Sprintf("%s One of %v.", d, list))
			return
		}
	}
	if s["enum"] = texts; len(texts) == 0 {
		delete(s, "enum")
	}
}

// normalizeType sets the type, which is required, and removes keywords that contradict it.
func normalizeType(s map[string]any) {
	if s["anyOf"] != nil {
		delete(s, "type")
		return
	}
	if s["type"] == nil {
		switch {
		case s["properties"] != nil:
			s["type"] = "object"
		case s["items"] != nil:
			s["type"] = "array"
		default:
			s["type"] = "string"
		}
	}
	if _, ok := s["items"].(map[string]any); s["type"] == "array" && !ok {
		s["items"] = map[string]any{"type": "string"}
	} else if s["type"] != "array" {
		delete(s, "items")
	}
	if f, _ := s["format"].(string); !slices.Contains([]string{"enum", "date-time", "int32", "int64", "float", "double"}, f) {
		delete(s, "format")
	}
	if required, ok := s["required"].([]any); ok {
		properties, _ := s["properties"].(map[string]any)
		kept := slices.DeleteFunc(slices.Clone(required), func(name any) bool {
			n, _ := name.(string)
			return properties[n] == nil
		})
		if s["required"] = kept; len(kept) == 0 {
			delete(s, "required")
		}
	}
}
