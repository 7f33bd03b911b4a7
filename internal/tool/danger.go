package tool

import (
	"bytes"
	"encoding/json"
	"slices"
)

// harmless are the values with which an argument might as well not be there.
var harmless = []string{"", "null", "false", `""`, "[]"}

// Asks reports whether a person confirms a call of the action with args, a JSON object: the action is dangerous, or
// args give the argument that makes it so a value other than null, false or nothing. Arguments that cannot be read
// count as dangerous.
func (a *Action) Asks(args json.RawMessage) bool {
	if a.Dangerous || a.DangerousWith == "" {
		return a.Dangerous
	}
	var members map[string]json.RawMessage
	if len(args) > 0 && json.Unmarshal(args, &members) != nil {
		return true
	}
	return !slices.Contains(harmless, string(bytes.TrimSpace(members[a.DangerousWith])))
}
