package gate

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/go-json-experiment/json/jsontext"

	"collie/internal/tool"
)

// binding is what an approval is good for: this call of this caller, and no other. Calls have
// the same one if they have the same origin, principal, caller, tool, action and arguments, and
// would do the same to the same targets.
func binding(c *tool.Call, plan tool.Plan) string {
	args := sha256.Sum256(canonical(c.Args))
	raw, err := json.Marshal([]any{
		c.Origin, c.Principal, callerID(c), c.Tool, c.Action.Name, hex.EncodeToString(args[:]), plan.Targets, plan.Effect,
	})
	if err != nil {
		panic("gate: strings do not encode: " + err.Error())
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// callerID tells the callers of one principal apart, so that nobody uses an approval but who was
// shown its code. It is empty where the principal is all that is known.
func callerID(c *tool.Call) string {
	if c.Caller == nil {
		return ""
	}
	return c.Caller.ID()
}

// canonical is args without differences that mean nothing: space, the order of members, the way a string
// is escaped. Numbers keep their digits. Arguments that can be understood in two ways, since a
// name stands in them twice, are the same only byte for byte.
func canonical(args json.RawMessage) []byte {
	v := jsontext.Value(bytes.Clone(args))
	if len(v) == 0 || v.Kind() == 'n' {
		v = jsontext.Value("{}")
	}
	if err := v.Format(jsontext.ReorderRawObjects(true)); err != nil {
		return args
	}
	return v
}
