package gate

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/go-json-experiment/json/jsontext"

	"collie/internal/tool"
)

// callBinding identifies the call that an approval is for. Two calls have the same binding if they have the same
// origin, principal, caller, tool, action and arguments, and the same plan: same effect, same targets.
func callBinding(c *tool.Call, plan tool.Plan) string {
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

// callerID distinguishes the callers of one principal, so that only the caller that was shown a code can use
// the approval. It is empty if only the principal is known.
func callerID(c *tool.Call) string {
	if c.Caller == nil {
		return ""
	}
	return c.Caller.ID()
}

// canonical returns args without differences that mean nothing: white space, the order of members, the
// escapes in strings. Numbers keep their digits. If a name occurs twice, readers may disagree on the meaning,
// so such arguments are returned unchanged and are equal only byte for byte.
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
