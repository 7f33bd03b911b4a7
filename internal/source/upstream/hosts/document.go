package hosts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"collie/internal/jsonc"
)

// This file reads the file of a program, in JSON, TOML or YAML, as JSON.

// maxSize bounds a host's file in bytes. Some files hold whole histories.
const maxSize = 64 << 20

// maxDepth bounds the nesting of a host's file.
const maxDepth = 256

// document is a host's file, converted to JSON from whatever format.
type document struct {
	object
	text []byte // the original text
	dir  string // folder of the file
	read func(file string) ([]byte, error)
}

// format is the syntax of a file. The zero value is JSON with comments.
type format int

const (
	jsonText format = iota
	tomlText
	yamlText
)

// parse reads the members of a file's top level.
func (f format) parse(text []byte) (*document, error) {
	if len(text) > maxSize {
		return nil, fmt.Errorf("the file has more than %d MiB", maxSize>>20)
	}
	body := bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	if !utf8.Valid(body) {
		return nil, errors.New("the file is not UTF-8; save it as UTF-8")
	}
	var raw json.RawMessage
	var err error
	switch f {
	case tomlText:
		raw, err = fromTOML(body)
	case yamlText:
		raw, err = fromYAML(body)
	case jsonText:
		raw, err = jsonc.Plain(body, maxDepth)
	}
	if err != nil {
		return nil, err
	}
	d := &document{text: text}
	if d.members = membersOf(raw); d.members == nil && kindOf(raw) != '{' {
		return nil, errors.New("expected an object at the top")
	}
	return d, nil
}

// listedServer is one server of a file.
type listedServer struct {
	name    string
	raw     json.RawMessage
	path    []string           // its place in the file; nil if it is not a member of an object
	project string             // the folder it is for; empty: that of its Place
	as      *Host              // the host whose format it uses; nil: that of the file
	adapt   func(*hostReading) // applies settings from other parts of the file; may be nil
	skip    string             // why it cannot be imported; empty if it can
}

// servers returns the members of the object key, which holds servers by name.
func (d *document) servers(key string) []listedServer {
	return serversIn(d.get(key), "", key)
}

func serversIn(raw json.RawMessage, project string, path ...string) []listedServer {
	var list []listedServer
	for _, m := range membersOf(raw) {
		l := listedServer{name: m.name, raw: m.value, project: project, path: append(slices.Clone(path), m.name)}
		if kindOf(m.value) != '{' {
			l.skip = "it is not an object"
		}
		list = append(list, l)
	}
	return list
}

// anyEntry reports whether an entry in the object key has one of the fields.
func (d *document) anyEntry(key string, fields ...string) bool {
	return slices.ContainsFunc(membersOf(d.get(key)), func(m member) bool {
		o := object{members: membersOf(m.value)}
		return slices.ContainsFunc(fields, o.has)
	})
}

// mentions reports whether the text contains piece.
func (d *document) mentions(piece string) bool { return strings.Contains(string(d.text), piece) }
