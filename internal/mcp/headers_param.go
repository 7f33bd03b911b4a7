package mcp

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// This file finds the arguments of a tool that are sent as HTTP headers too (MCP 2026-07-28).

// headerAnnotation is the schema keyword that requests a header for an argument.
const headerAnnotation = "x-mcp-header"

// ParamHeaders knows which arguments of a tool are sent as Mcp-Param-* headers too (2026-07-28, Custom
// Headers from Tool Parameters). It is immutable and safe for concurrent use. Nil stands for a tool without
// such arguments.
type ParamHeaders struct {
	list []paramHeader
}

type paramHeader struct {
	name string   // the full name of the header
	path []string // of the argument
	kind string   // string, integer or boolean
}

// CompileParamHeaders reads the annotations in a tool's inputSchema. It returns nil if there are none. It
// returns an error if the protocol calls the tool definition invalid: a name that is not a token or occurs
// twice, a parameter that is not a string, integer or boolean, or an annotation that is not reached through
// "properties" alone.
func CompileParamHeaders(schema json.RawMessage) (*ParamHeaders, error) {
	if !strings.Contains(string(schema), headerAnnotation) && !strings.Contains(string(schema), `\u`) {
		return nil, nil //nolint:nilnil // documented: no headers
	}
	if err := checkJSON(schema); err != nil {
		return nil, err
	}
	c := paramCompiler{seen: map[string]bool{}}
	if err := c.walkSchema(schema, nil, true); err != nil {
		return nil, err
	}
	if len(c.list) == 0 {
		return nil, nil //nolint:nilnil // documented: no headers
	}
	return &ParamHeaders{list: c.list}, nil
}

type paramCompiler struct {
	list []paramHeader
	seen map[string]bool // names in lower case
}

// walkSchema walks the schema at path. reachable says that only "properties" lead to it.
func (c *paramCompiler) walkSchema(s json.RawMessage, path []string, reachable bool) error {
	if name := Get(s, headerAnnotation); name != nil {
		if err := c.addHeader(name, Get(s, "type"), path, reachable && len(path) > 0); err != nil {
			return fmt.Errorf("%s at %q: %w", headerAnnotation, strings.Join(path, "."), err)
		}
	}
	return eachMember(s, func(key string, v json.RawMessage) error {
		switch key {
		case "properties":
			return c.walkProperties(v, path, reachable)
		case "patternProperties", "dependentSchemas", "$defs", "definitions", "dependencies":
			return c.walkProperties(v, path, false)
		case "const", "enum", "default", "examples", headerAnnotation:
			return nil // these hold values, not schemas
		}
		return c.refuseAnnotations(v, path)
	})
}

// walkProperties walks an object that maps names to schemas.
func (c *paramCompiler) walkProperties(m json.RawMessage, path []string, reachable bool) error {
	return eachMember(m, func(key string, v json.RawMessage) error {
		return c.walkSchema(v, append(slices.Clip(path), key), reachable)
	})
}

// refuseAnnotations looks for annotations in places where they are not allowed.
func (c *paramCompiler) refuseAnnotations(v json.RawMessage, path []string) error {
	if isObject(v) {
		return c.walkSchema(v, path, false)
	}
	if len(v) == 0 || v[0] != '[' {
		return nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(v, &list); err != nil {
		return err
	}
	for _, v := range list {
		if err := c.refuseAnnotations(v, path); err != nil {
			return err
		}
	}
	return nil
}

func (c *paramCompiler) addHeader(rawName, rawKind json.RawMessage, path []string, reachable bool) error {
	name, ok := Text(rawName)
	switch {
	case !ok || !isToken(name):
		return fmt.Errorf("expected an HTTP header token, got %s", rawName)
	case !reachable:
		return fmt.Errorf("only a property that \"properties\" alone lead to can have it")
	case c.seen[strings.ToLower(name)]:
		return fmt.Errorf("the name %q stands twice", name)
	}
	kind, _ := Text(rawKind)
	switch kind {
	case "string", "integer", "boolean":
	default:
		return fmt.Errorf("expected a parameter of type string, integer or boolean, got %s", rawKind)
	}
	c.seen[strings.ToLower(name)] = true
	c.list = append(c.list, paramHeader{name: headerParam + name, path: path, kind: kind})
	return nil
}

// eachMember calls f for each member of obj, which must be valid JSON. It does nothing if obj is not an
// object.
func eachMember(obj json.RawMessage, f func(key string, v json.RawMessage) error) error {
	if !isObject(obj) {
		return nil
	}
	m := newMembers(obj)
	for m.next() && m.skip() {
		if err := f(m.name(), obj[m.start:m.end:m.end]); err != nil {
			return err
		}
	}
	return m.err
}

// Pairs returns the headers for a call with args, which must be valid JSON, as alternating names and encoded
// values. An argument that is absent, null, an object or an array has no header.
func (p *ParamHeaders) Pairs(args json.RawMessage) []string {
	if p == nil {
		return nil
	}
	out := make([]string, 0, 2*len(p.list))
	for i := range p.list {
		h := &p.list[i]
		if text, ok := h.headerText(args); ok {
			out = append(out, h.name, EncodeHeaderValue(text))
		}
	}
	return out
}

// Check compares the headers of a request with its arguments. get returns the values of a header by name. The
// error describes the first difference, for a HeaderMismatch answer.
func (p *ParamHeaders) Check(args json.RawMessage, get func(name string) []string) error {
	if p == nil {
		return nil
	}
	for i := range p.list {
		h := &p.list[i]
		if err := h.check(args, get(h.name)); err != nil {
			return fmt.Errorf("header mismatch: %s: %w", h.name, err)
		}
	}
	return nil
}

func (h *paramHeader) check(args json.RawMessage, values []string) error {
	want, ok := h.headerText(args)
	switch {
	case !ok && len(values) == 0:
		return nil
	case !ok:
		return fmt.Errorf("the argument has no value, so the header must be absent")
	case len(values) == 0:
		return fmt.Errorf("the header is missing")
	case len(values) > 1:
		return fmt.Errorf("the header stands %d times", len(values))
	}
	got, err := decodeHeaderValue(values[0])
	if err != nil {
		return err
	}
	if got != want && !(h.kind == "integer" && sameInteger(got, want)) {
		return fmt.Errorf("the header says %q, the argument %q", got, want)
	}
	return nil
}

// headerText returns the argument as header text. ok is false if it has no value that a header can hold.
func (h *paramHeader) headerText(args json.RawMessage) (string, bool) {
	v := Get(args, h.path...)
	if len(v) == 0 {
		return "", false
	}
	switch v[0] {
	case '"':
		return Text(v)
	case 't', 'f':
		return string(v), true
	case 'n', '{', '[':
		return "", false
	}
	if n, ok := safeInteger(string(v)); ok {
		return strconv.FormatInt(n, 10), true
	}
	return string(v), true // whether its type is right is for the tool's schema to decide
}

func sameInteger(a, b string) bool {
	x, ok := safeInteger(a)
	y, ok2 := safeInteger(b)
	return ok && ok2 && x == y
}

// safeInteger parses a JSON number that is an integer of at most 53 bits: 42, 42.0, 4.2e1.
func safeInteger(s string) (int64, bool) {
	if n, err := skipNumber([]byte(s), 0); s == "" || err != nil || n != len(s) { // strconv accepts more: 0x10, 1_0, Inf
		return 0, false
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53-1 {
		return 0, false
	}
	return int64(f), true
}
