package content

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/action"
)

// Edit replaces an exact text, as readers see it, by another.
type Edit struct {
	Old string `json:"old"` // must not be empty
	New string `json:"new"`
	All bool   `json:"replace_all"` // replace every occurrence; otherwise there must be exactly one
}

// Edits is an argument that accepts one edit or a list of edits, which are made in order.
type Edits []Edit

// ArgSchema returns the JSON Schema of the argument.
func (Edits) ArgSchema() string {
	const edit = `{"type":"object","properties":{"old":{"type":"string","minLength":1,"description":"text as it is read, once in the document"},` +
		`"new":{"type":"string","description":"text to put in its place"},` +
		`"replace_all":{"type":"boolean","description":"old may be there several times: replace all"}},"required":["old","new"],"additionalProperties":false}`
	return `{"anyOf":[` + edit + `,{"type":"array","minItems":1,"maxItems":100,"items":` + edit + `}]}`
}

// UnmarshalJSON accepts an object or an array of objects.
func (e *Edits) UnmarshalJSON(raw []byte) error {
	if raw = bytes.TrimSpace(raw); len(raw) > 0 && raw[0] == '[' {
		return json.Unmarshal(raw, (*[]Edit)(e))
	}
	var single Edit
	if err := json.Unmarshal(raw, &single); err != nil {
		return fmt.Errorf("edit: want {old, new, replace_all} or a list of them: %w", err)
	}
	*e = Edits{single}
	return nil
}

// AdaptEdits converts other forms of the argument "edit": old, new and replace_all (or replaceAll) given beside it,
// and JSON in a string. If both forms are given, old is empty or new is missing, args stay as they are, for the
// schema to refuse.
func AdaptEdits(args json.RawMessage) json.RawMessage {
	edit := gjson.GetBytes(args, "edit")
	if text := edit.String(); edit.Type == gjson.String && gjson.Valid(text) {
		if inner := gjson.Parse(text); inner.IsObject() || inner.IsArray() {
			return action.SetArg(args, "edit", inner.Raw)
		}
	}
	from, to := gjson.GetBytes(args, "old"), gjson.GetBytes(args, "new")
	if edit.Exists() || from.Type != gjson.String || from.String() == "" || to.Type != gjson.String {
		return args
	}
	all := "false"
	for _, name := range [...]string{"replace_all", "replaceAll"} {
		if v := gjson.GetBytes(args, name); v.Exists() {
			all = v.Raw
			args = action.DropArgs(args, name)
			if s := v.String(); s == "true" || s == "false" {
				all = s
			}
		}
	}
	args = action.DropArgs(args, "old", "new")
	return action.SetArg(args, "edit", `{"old":`+from.Raw+`,"new":`+to.Raw+`,"replace_all":`+all+`}`)
}
