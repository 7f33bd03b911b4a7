package tool

import (
	"bytes"
	"encoding/json"
	"slices"
)

// unsetValues are the values that count as the argument not being given.
var unsetValues = []string{"", "null", "false", `""`, "[]"}

// Asks reports whether a person has to confirm a call of the action with args, a JSON object. That is so if
// the action is dangerous, or if args set the argument [Action.DangerousWith] to a value other than null,
// false or empty. Unreadable arguments count as dangerous.
func (a *Action) Asks(args json.RawMessage) bool {
	if a.Dangerous || a.DangerousWith == "" {
		return a.Dangerous
	}
	var members map[string]json.RawMessage
	if len(args) > 0 && json.Unmarshal(args, &members) != nil {
		return true
	}
	return !slices.Contains(unsetValues, string(bytes.TrimSpace(members[a.DangerousWith])))
}
