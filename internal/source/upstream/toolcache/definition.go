package toolcache

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// This file checks the definitions in lists.

// Bounds of a definition, in a live list and in a file: its bytes, and the nesting of its schema.
const (
	MaxDefinition  = 1 << 20
	MaxSchemaDepth = 64
)

const maxName = 128 // characters

// definition is an element of a list, with the fields that are checked.
type definition struct {
	raw, id, inputSchema json.RawMessage
}

// readDefinition reads the next definition.
func (s *scanner) readDefinition(l *list) (d definition, err error) {
	d.raw, err = s.walkObject(func(name string) error {
		v, err := s.readValue()
		switch name {
		case l.key:
			d.id = v
		case "inputSchema":
			d.inputSchema = v
		}
		return err
	})
	return d, err
}

// check applies the rules that hold for live lists too, and returns what identifies the definition.
func (d definition) check(l *list) (name string, err error) {
	if len(d.raw) > MaxDefinition {
		return "", fmt.Errorf("larger than %d bytes", MaxDefinition)
	}
	if d.id == nil {
		return "", fmt.Errorf("the field %q is missing", l.key)
	}
	if name, err = unquote(d.id); err != nil {
		return "", fmt.Errorf("%s: %w", l.key, err)
	}
	if err := checkName(l, name); err != nil {
		return "", err
	}
	if l.name != "tools" || d.inputSchema == nil || string(d.inputSchema) == "null" {
		return name, nil
	}
	if kind := jsontext.Value(d.inputSchema).Kind(); kind != '{' {
		return "", fmt.Errorf("inputSchema: expected an object, got %s", kindName(kind))
	}
	if Deeper(d.inputSchema, MaxSchemaDepth) {
		return "", fmt.Errorf("inputSchema is nested deeper than %d", MaxSchemaDepth)
	}
	return name, nil
}

func checkName(l *list, name string) error {
	if name == "" {
		return fmt.Errorf("%s is empty", l.key)
	}
	if l.key != "name" {
		return nil // URIs follow rules of their server
	}
	return CheckName(name)
}

// CheckName returns why a tool or prompt cannot have this name.
func CheckName(name string) error {
	if utf8.RuneCountInString(name) > maxName {
		return fmt.Errorf("name %.40q… is longer than %d characters", name, maxName)
	}
	for _, r := range name {
		if unicode.IsControl(r) {
			return fmt.Errorf("name %q has a control character", name)
		}
	}
	return nil
}

// Deeper reports whether arrays and objects in a valid JSON text nest deeper than limit. It walks the text only if it
// has more brackets than limit, which is rare.
func Deeper(raw []byte, limit int) bool {
	if bytes.Count(raw, []byte{'{'})+bytes.Count(raw, []byte{'['}) <= limit {
		return false
	}
	depth, quoted := 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > limit {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}

// nameOf returns the name of a tool.
func nameOf(def json.RawMessage) (string, bool) {
	d, err := newScanner(def).readDefinition(&lists[0])
	if err != nil {
		return "", false
	}
	name, err := unquote(d.id)
	return name, err == nil
}

var errNoObject = errors.New("not a JSON object")

// checkLists applies the reader's rules to lists before they are stored.
func checkLists(e *Entry) error {
	for i := range lists {
		l, restored, findings := &lists[i], &Entry{}, []Finding{}
		defs := *l.at(e)
		text := joinArray(defs)
		err := newScanner(text).readList(l, restored, findingReporter{list: &findings})
		switch {
		case err != nil || !utf8.Valid(text):
			return fmt.Errorf("%s: %w", l.name, errNoObject)
		case len(findings) > 0:
			return fmt.Errorf("%s: %s", l.name, findings[0].Message)
		case len(*l.at(restored)) != len(defs): // the element was read as none or as two
			return fmt.Errorf("%s: %w", l.name, errNoObject)
		}
	}
	return nil
}
