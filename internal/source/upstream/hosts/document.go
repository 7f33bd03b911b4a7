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

// maxSize is how large a host's file may be. Some hold whole histories.
const maxSize = 64 << 20

// maxDepth is how deep a host's file may be nested.
const maxDepth = 256

// document is a host's file, whatever its format, as JSON.
type document struct {
	object
	text []byte // as it was read
	dir  string // of the file
	read func(file string) ([]byte, error)
}

// format is how the text of a file is written. The zero value is JSON, comments allowed.
type format int

const (
	jsonText format = iota
	tomlText
	yamlText
)

// parse reads a text into the members of its top level.
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

// listed is one server as it stands in a file.
type listed struct {
	name    string
	raw     json.RawMessage
	path    []string       // where it stands in the file; nil where that is not an object's member
	project string         // the folder it is for; empty means what the place says
	as      *Host          // whose words it has; nil means the file's
	adapt   func(*reading) // what stands elsewhere in the file about it; may be nil
	skip    string         // why it cannot be carried; empty means that it can
}

// servers are the members of an object that holds servers by name.
func (d *document) servers(key string) []listed {
	return serversIn(d.get(key), "", key)
}

func serversIn(raw json.RawMessage, project string, path ...string) []listed {
	var list []listed
	for _, m := range membersOf(raw) {
		l := listed{name: m.name, raw: m.value, project: project, path: append(slices.Clone(path), m.name)}
		if kindOf(m.value) != '{' {
			l.skip = "it is not an object"
		}
		list = append(list, l)
	}
	return list
}

// anyEntry reports whether an entry below key has one of the fields.
func (d *document) anyEntry(key string, fields ...string) bool {
	return slices.ContainsFunc(membersOf(d.get(key)), func(m member) bool {
		o := object{members: membersOf(m.value)}
		return slices.ContainsFunc(fields, o.has)
	})
}

// mentions reports whether the text has a piece anywhere.
func (d *document) mentions(piece string) bool { return strings.Contains(string(d.text), piece) }
