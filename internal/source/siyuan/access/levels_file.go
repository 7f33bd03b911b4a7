package access

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"

	"collie/internal/source/siyuan/kernel"
)

// levelsFile is the name of a file of levels in its folder: a JSON object of levels by notebook id.
const levelsFile = "notebookPermissions"

var errNoJSON = errors.New("it is not valid JSON")

// parseLevels parses a file of levels. JSON that is not an object lists nothing, and members whose name is not an id
// are ignored. An unknown value means none, and of duplicates the lower level counts, so that a malformed file never
// allows more than was meant.
func parseLevels(raw []byte) (map[kernel.ID]Level, error) {
	out := map[kernel.ID]Level{}
	if raw == nil {
		return out, nil
	}
	if !json.Valid(raw) {
		return nil, errNoJSON
	}
	for _, m := range members(raw) {
		id := kernel.ID(m.name)
		if !id.Valid() {
			continue
		}
		level := None
		var s string
		if json.Unmarshal(m.value, &s) == nil {
			level = parseStored(s)
		}
		if other, twice := out[id]; twice {
			level = min(level, other)
		}
		out[id] = level
	}
	return out, nil
}

// mergeLower merges the levels of two files; if both list a notebook, the lower level counts.
func mergeLower(a, b map[kernel.ID]Level) map[kernel.ID]Level {
	out := make(map[kernel.ID]Level, len(a)+len(b))
	maps.Copy(out, a)
	for id, l := range b {
		if other, both := out[id]; both {
			l = min(l, other)
		}
		out[id] = l
	}
	return out
}

// capLevels returns levels, each lowered to limit.
func capLevels(levels map[kernel.ID]Level, limit Level) map[kernel.ID]Level {
	out := make(map[kernel.ID]Level, len(levels))
	for id, l := range levels {
		out[id] = min(l, limit)
	}
	return out
}

// withLevel returns the text of a file of levels with one notebook's level changed. Other members keep their order
// and the bytes of their values; white space may change.
func withLevel(raw []byte, notebook kernel.ID, level Level) []byte {
	value := json.RawMessage(`"` + level.String() + `"`)
	var out []member
	placed := false
	for _, m := range members(raw) {
		if m.name == string(notebook) {
			if placed {
				continue
			}
			m.value, placed = value, true
		}
		out = append(out, m)
	}
	if !placed {
		out = append(out, member{string(notebook), value})
	}
	var b bytes.Buffer
	b.WriteString("{")
	for i, m := range out {
		if i > 0 {
			b.WriteString(",")
		}
		name, _ := json.Marshal(m.name) // a string can always be encoded
		b.WriteString("\n  " + string(name) + ": ")
		b.Write(m.value)
	}
	b.WriteString("\n}\n")
	return b.Bytes()
}
