package hosts

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// This file changes Collie's entry in a host's file member by member, so that what its owner added to it stays.

// connectFields are the fields that [Server.Entry] sets, and those in which a host may keep the token.
var connectFields = []string{"type", "command", "args", "url", "headers", "auth.type", "auth.token"}

// asConnected returns an entry of Collie as connect would have written it: without what its owner added.
func (h Host) asConnected(name string, existing Entry) *Written {
	var e Entry
	for _, field := range connectFields {
		if v, ok := existing.values[field]; ok {
			e.set(field, v)
		}
	}
	w := h.Write(name, e, nil, "")
	return &w
}

// renew changes the entry was in a text to now, and nothing but the members in which they differ. ok is false if that cannot be
// done, as where one starts a program and the other has an address.
func (h Host) renew(text []byte, was *Written, now Written, set setter) (out []byte, ok bool) {
	if was.Skip != "" || len(was.Members) != 1 || len(now.Members) != 1 || h.format == yamlText {
		return nil, false
	}
	at := now.Members[0]
	before, after := h.entryOf(was.Members[0].Value), h.entryOf(at.Value)
	if (before.values["url"] == nil) != (after.values["url"] == nil) {
		return nil, false
	}
	for _, m := range changedMembers(at.Path, was.Members[0].Value, at.Value) {
		if h.format == tomlText {
			if text, ok = setTOMLValue(text, m.Path, m.Value); !ok {
				return nil, false
			}
			continue
		}
		var err error
		if text, err = set(text, m.Path, m.Value); err != nil {
			return nil, false
		}
	}
	there, err := h.format.parse(text)
	if err != nil {
		return nil, false
	}
	// A host may keep one thing in several places, such as a token. What was in another one must not stay.
	got := h.entryOf(valueAt(there.object, at.Path))
	return text, slices.Equal(got.CommandLine(), after.CommandLine()) && got.values["url"] == after.values["url"] &&
		got.values["auth.token"] == after.values["auth.token"] && got.authorization() == after.authorization()
}

func (h Host) entryOf(raw json.RawMessage) Entry {
	return h.foundServer(listedServer{raw: raw}, Place{}).Entry
}

// authorization returns the header of that name; empty if there is none.
func (e Entry) authorization() string {
	if headers, ok := e.values["headers"].(map[string]*string); ok && headers["Authorization"] != nil {
		return *headers["Authorization"]
	}
	return ""
}

// changedMembers returns the members of the object after that are not so in before, with their places below path. Of objects in
// both it returns the members.
func changedMembers(path []string, before, after json.RawMessage) (out []placedValue) {
	old := object{members: membersOf(before)}
	for _, m := range membersOf(after) {
		place := append(slices.Clone(path), m.name)
		switch was := old.get(m.name); {
		case was != nil && equal(was, m.value):
		case kindOf(was) == '{' && kindOf(m.value) == '{':
			out = append(out, changedMembers(place, was, m.value)...)
		default:
			out = append(out, placedValue{place, m.value})
		}
	}
	return out
}

// addedMembers returns the names of the members of an entry that neither was nor now has so: what is lost if now replaces it.
func addedMembers(prefix string, entry, was, now json.RawMessage) (names []string) {
	old, next := object{members: membersOf(was)}, object{members: membersOf(now)}
	for _, m := range membersOf(entry) {
		a, b := old.get(m.name), next.get(m.name)
		switch {
		case a != nil && equal(m.value, a), b != nil && equal(m.value, b):
		case kindOf(m.value) == '{' && (a != nil || b != nil):
			names = append(names, addedMembers(prefix+m.name+".", m.value, a, b)...)
		default:
			names = append(names, prefix+m.name)
		}
	}
	return names
}

// setTOMLValue sets the value at path, a member of a table that has a header of its own. The rest of the text stays, with a
// comment behind the value if that is on one line. ok is false where it cannot tell the lines of the value.
func setTOMLValue(text []byte, path []string, value json.RawMessage) (out []byte, ok bool) {
	before, err := tomlText.parse(text)
	if err != nil {
		return nil, false
	}
	table, key := path[:len(path)-1], path[len(path)-1]
	lines := slices.Collect(strings.Lines(string(text)))
	first := slices.IndexFunc(lines, func(line string) bool {
		header, ok := tomlHeader(line)
		return ok && slices.Equal(header, table)
	}) + 1
	if first == 0 {
		return nil, false
	}
	last := first
	for last < len(lines) && !isTOMLHeader(lines[last]) {
		last++
	}
	assignment := tomlKey(key) + " = " + tomlValue(value)
	replace := func(from, to int, line string) ([]byte, bool) {
		out := []byte(strings.Join(slices.Concat(lines[:from], []string{line}, lines[to:]), ""))
		after, err := tomlText.parse(out)
		return out, err == nil && equal(valueAt(after.object, path), value) && equal(withoutValue(before, path), withoutValue(after, path))
	}
	end := "\n"
	if strings.HasSuffix(lines[first-1], "\r\n") {
		end = "\r\n"
	}
	for i := first; i < last; i++ {
		name, old, ok := strings.Cut(lines[i], "=")
		if name = strings.TrimSpace(name); !ok || name != tomlKey(key) && name != tomlString(key) && name != "'"+key+"'" {
			continue
		}
		indent := lines[i][:len(lines[i])-len(strings.TrimLeft(lines[i], " \t"))]
		if out, ok := replace(i, i+1, indent+assignment+commentBehind(old)+end); ok {
			return out, true
		}
		for n := i + 2; n <= last; n++ { // a value on several lines
			if out, ok := replace(i, n, indent+assignment+end); ok {
				return out, true
			}
		}
		return nil, false
	}
	return replace(first, first, assignment+end)
}

func isTOMLHeader(line string) bool {
	_, ok := tomlHeader(line)
	return ok
}

// commentBehind returns the comment behind a value on one line, with the space before it.
func commentBehind(value string) string {
	for i, r := range value {
		var v map[string]any
		if r == '#' && toml.Unmarshal([]byte("x ="+value[:i]), &v) == nil {
			return " " + strings.TrimRight(value[i:], "\r\n")
		}
	}
	return ""
}

// withoutValue returns a document without the member at path.
func withoutValue(d *document, path []string) json.RawMessage {
	var drop func(members []member, path []string) *orderedObject
	drop = func(members []member, path []string) *orderedObject {
		out := &orderedObject{}
		for _, m := range members {
			switch {
			case m.name != path[0]:
				out.set(m.name, m.value)
			case len(path) > 1:
				out.set(m.name, drop(membersOf(m.value), path[1:]).json())
			}
		}
		return out
	}
	return drop(d.members, path).json()
}
