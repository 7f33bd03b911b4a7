package transform

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// dialect says how much of JSON Schema a provider takes.
type dialect int

const (
	whole      dialect = iota // nearly all, but an object at the top
	inlineRefs                // no $ref
	openAPI                   // what Gemini takes of OpenAPI
)

// deepest is how deep references are followed; recursive schemas end in any value.
const maxRefDepth = 6

// keptSchemas is how many lowered schemas a chain keeps.
const maxCachedSchemas = 2048

// lower converts schema to the dialect of the provider. A conversion may only make a schema more permissive: the tool
// itself still refuses arguments that the original forbids.
func (c *chain) lower(schema json.RawMessage) json.RawMessage {
	c.mu.Lock()
	low, ok := c.lowered[string(schema)]
	c.mu.Unlock()
	if ok {
		return low
	}
	low = c.schemas.lower(schema)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.lowered) >= maxCachedSchemas {
		clear(c.lowered)
	}
	c.lowered[string(schema)] = low
	return low
}

// lower is that of a chain. A schema that does not read is an object of anything.
func (d dialect) lower(schema json.RawMessage) json.RawMessage {
	var root map[string]any
	dec := json.NewDecoder(bytes.NewReader(schema))
	dec.UseNumber()
	if dec.Decode(&root) != nil || root == nil {
		root = map[string]any{}
	}
	_, typed := root["type"]
	if d == whole && typed && root["type"] == "object" && root["properties"] != nil && !hasCombinators(root) {
		return schema
	}
	l := &lowering{root: root, dialect: d}
	if d != whole {
		root = l.lower(root, 0)
	}
	root = objectAtTop(root)
	if d == openAPI && len(root["properties"].(map[string]any)) == 0 {
		return nil // an object without properties is refused; no parameters are not
	}
	raw, _ := json.Marshal(root)
	return raw
}

// combined says whether s is made of others.
func hasCombinators(s map[string]any) bool {
	return s["anyOf"] != nil || s["oneOf"] != nil || s["allOf"] != nil || s["$ref"] != nil
}

// atTop makes an object of a schema: providers take no other for arguments.
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

type lowering struct {
	root       map[string]any
	dialect    dialect
	subschemas int // schemas so far
}

// writtenMax bounds what a schema that refers to itself in many places becomes.
const maxSubschemas = 4096

// lower returns s without references, and in the openAPI dialect with the keywords of OpenAPI only.
func (l *lowering) lower(s map[string]any, depth int) map[string]any {
	s = l.resolveRef(s, depth)
	out := map[string]any{}
	for word, v := range s {
		switch word {
		case "properties", "patternProperties":
			inner := map[string]any{}
			if list, ok := v.(map[string]any); ok {
				for name, p := range list {
					inner[name] = l.any(p, depth+1)
				}
			}
			out[word] = inner
		case "items", "additionalProperties", "not", "contains", "propertyNames":
			out[word] = v
			if _, ok := v.(map[string]any); ok {
				out[word] = l.any(v, depth+1)
			}
		case "anyOf", "oneOf", "allOf", "prefixItems":
			list, _ := v.([]any)
			var inner []any
			for _, one := range list {
				inner = append(inner, l.any(one, depth+1))
			}
			out[word] = inner
		case "$defs", "definitions", "$schema", "$id", "$ref", "$comment":
		default:
			out[word] = v
		}
	}
	if l.dialect == openAPI {
		return toOpenAPI(out)
	}
	return out
}

func (l *lowering) any(v any, depth int) any {
	s, ok := v.(map[string]any)
	if l.subschemas++; !ok || depth > 40 || l.subschemas > maxSubschemas {
		s = map[string]any{}
	}
	return l.lower(s, depth)
}

// follow returns what s refers to, with what s itself says over it.
func (l *lowering) resolveRef(s map[string]any, depth int) map[string]any {
	for range 8 {
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

// find returns what a reference within the schema names.
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

// openAPIWords are what Gemini takes; it refuses others.
var openAPIKeywords = []string{
	"type", "format", "title", "description", "nullable", "enum", "maxItems", "minItems", "properties", "required", "minProperties", "maxProperties",
	"minLength", "maxLength", "pattern", "anyOf", "items", "minimum", "maximum",
}

// openAPIOf writes a schema, whose parts are written already, in the words of OpenAPI.
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
		kept := slices.DeleteFunc(slices.Clone(list), func(one any) bool { return one.(map[string]any)["nullable"] == true && len(one.(map[string]any)) == 2 })
		if len(kept) < len(list) {
			s["nullable"] = true
		}
		delete(s, "anyOf")
		switch len(kept) {
		case 0:
		case 1:
			mergeInto(s, kept[0].(map[string]any))
		default:
			s["anyOf"] = kept
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

// join adds what other says to s, where s says nothing.
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

// enumOf keeps lists of texts. Others are told in the description.
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

// typeOf sets the type, which has to be there, and takes away what does not go with it.
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
