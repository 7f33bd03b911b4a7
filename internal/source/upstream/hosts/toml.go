package hosts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"collie/internal/lazyregexp"
)

// This file reads and writes TOML.

// maxBrackets bounds the nesting of a TOML text.
const maxBrackets = 20_000

// fromTOML converts TOML to JSON, with tables in the order of their names.
func fromTOML(text []byte) (json.RawMessage, error) {
	if bytes.Count(text, []byte("["))+bytes.Count(text, []byte("{")) > maxBrackets {
		return nil, fmt.Errorf("the file has more than %d brackets", maxBrackets)
	}
	var all map[string]any
	if err := toml.Unmarshal(text, &all); err != nil {
		if e, ok := errors.AsType[*toml.DecodeError](err); ok {
			line, column := e.Position()
			return nil, fmt.Errorf("the file is not TOML: line %d, column %d: %w", line, column, err)
		}
		return nil, fmt.Errorf("the file is not TOML: %w", err)
	}
	out := orderedObject{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		raw, err := json.Marshal(all[name]) // fails for an infinite number, which no server needs
		if err == nil {
			out.set(name, json.RawMessage(raw))
		}
	}
	return out.json(), nil
}

// toTOML returns the tables of one server. Nested tables follow its own values.
func toTOML(path []string, o *orderedObject) string {
	var b strings.Builder
	b.WriteString("[" + tomlPath(path) + "]\n")
	var tables []member
	for _, m := range o.list {
		raw := encode(m.value)
		if kindOf(raw) == '{' {
			tables = append(tables, member{m.name, raw})
			continue
		}
		b.WriteString(tomlKey(m.name) + " = " + tomlValue(raw) + "\n")
	}
	for _, t := range tables {
		b.WriteString("\n[" + tomlPath(append(slices.Clone(path), t.name)) + "]\n")
		for _, m := range membersOf(t.value) {
			b.WriteString(tomlKey(m.name) + " = " + tomlValue(m.value) + "\n")
		}
	}
	return b.String()
}

func tomlPath(path []string) string {
	keys := make([]string, len(path))
	for i, p := range path {
		keys[i] = tomlKey(p)
	}
	return strings.Join(keys, ".")
}

var bareKey = lazyregexp.New(`^[A-Za-z0-9_-]+$`)

func tomlKey(s string) string {
	if bareKey.MatchString(s) {
		return s
	}
	return tomlString(s)
}

// tomlValue returns a JSON value, other than an object, as TOML.
func tomlValue(raw json.RawMessage) string {
	switch kindOf(raw) {
	case '"':
		s, _ := stringOf(raw)
		return tomlString(s)
	case '[':
		var list []json.RawMessage
		_ = json.Unmarshal(raw, &list) // cannot fail: it was encoded here
		items := make([]string, len(list))
		for i, item := range list {
			items[i] = tomlValue(item)
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	return string(raw)
}

// tomlString returns a basic string of TOML. JSON's escapes are valid in TOML, except for the slash, which is never
// escaped here; DEL must be escaped in TOML.
func tomlString(s string) string {
	return strings.ReplaceAll(string(encode(s)), "\x7f", `\u007F`)
}

// setTOML writes the tables of a server into a text: in place of those that exist, else at the end. It fails if that
// would change the meaning of anything else.
func setTOML(text []byte, path []string, tables string) ([]byte, error) {
	before, err := tomlText.parse(text)
	if err != nil {
		return nil, err
	}
	var kept, replaced []string
	inside := false
	for line := range strings.Lines(string(text)) {
		if header, ok := tomlHeader(line); ok {
			inside = slices.Equal(header[:min(len(header), len(path))], path)
			if !inside {
				kept, replaced = append(kept, belowLastValue(replaced)...), nil
			}
		}
		if inside {
			replaced = append(replaced, line)
		} else {
			kept = append(kept, line)
		}
	}
	kept = append(kept, belowLastValue(replaced)...)
	body := strings.TrimRight(strings.Join(kept, ""), " \t\r\n")
	if body != "" {
		body += "\n\n"
	}
	out := []byte(body + tables)
	after, err := tomlText.parse(out)
	if err != nil || !equalExceptAt(before, after, path) {
		return nil, fmt.Errorf("[%s] is written in a way that cannot be changed safely; change it by hand", tomlPath(path))
	}
	return out, nil
}

// belowLastValue returns the comments and blank lines at the end of lines, which may be about what follows; none if there are
// no comments.
func belowLastValue(lines []string) []string {
	n, comments := len(lines), false
	for ; n > 0; n-- {
		line := strings.TrimSpace(lines[n-1])
		if line != "" && !strings.HasPrefix(line, "#") {
			break
		}
		comments = comments || line != ""
	}
	if !comments {
		return nil
	}
	return lines[n:]
}

var (
	headerLine = lazyregexp.New(`^\s*\[([^\[\]]+)\]\s*(#.*)?$`)
	headerPart = lazyregexp.New(`^\s*(?:([A-Za-z0-9_-]+)|("(?:[^"\\]|\\.)*")|'([^']*)')\s*(?:\.|$)`)
)

// tomlHeader parses a line such as [mcp_servers."a b"].
func tomlHeader(line string) (path []string, ok bool) {
	m := headerLine.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
	if m == nil {
		return nil, strings.HasPrefix(strings.TrimSpace(line), "[")
	}
	for rest := strings.TrimSpace(m[1]); rest != ""; {
		part := headerPart.FindStringSubmatch(rest)
		if part == nil {
			return nil, true
		}
		name := part[1] + part[3]
		if part[2] != "" {
			name, _ = strconv.Unquote(part[2])
		}
		path, rest = append(path, name), rest[len(part[0]):]
	}
	return path, true
}

// equalExceptAt reports whether two documents are equal except at path, which has two elements.
func equalExceptAt(a, b *document, path []string) bool {
	without := func(d *document) (string, bool) {
		out, found := orderedObject{}, false
		for _, m := range d.members {
			if m.name != path[0] {
				out.set(m.name, m.value)
				continue
			}
			inner := orderedObject{}
			for _, s := range membersOf(m.value) {
				if s.name == path[1] {
					found = true
				} else {
					inner.set(s.name, s.value)
				}
			}
			if len(inner.list) > 0 {
				out.set(m.name, inner.json())
			}
		}
		return string(out.json()), found
	}
	x, _ := without(a)
	y, exists := without(b)
	return x == y && exists
}
