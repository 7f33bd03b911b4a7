package gate

import (
	"context"
	"crypto/rand"
	"strings"

	"collie/internal/tool"
)

// byCode passes c if a person has said yes to it before, and otherwise has it wait.
func (s *Stage) byCode(ctx context.Context, c *tool.Call, plan tool.Plan) error {
	q := question(c, plan)
	q.Args = argsText(outline(c.Args))
	w, err := s.pending.request(ctx, entry{Binding: binding(c, plan), Waiting: Waiting{
		Question: q, Origin: c.Origin, Principal: line(c.Principal, mostTarget), Client: line(c.Client, mostTarget),
	}})
	switch {
	case err != nil:
		return err
	case w.State == StateApproved:
		return nil
	case w.State == StateDenied:
		return declined(c, "decline")
	}
	e := unasked(c, "a person has to confirm this; the call waits for that and did nothing",
		"ask the person to run: collie confirm "+w.Code+"; then make the same call again")
	e.Facts = map[string]any{"confirmationCode": w.Code, "expiresAt": w.Expires}
	return e
}

// letters are those that nobody mistakes for others, read, typed or told: no 0 and O, 1, I and
// L, 2 and Z, 5 and S, 8 and B, no U beside V.
const letters = "34679ACDEFGHJKMNPQRTVWXY"

// codeLength makes 190 million codes. That is for telling calls apart: a code opens nothing
// without a person at a terminal.
const codeLength = 6

// newCode returns a random code.
func newCode() string {
	const fair = 256 / len(letters) * len(letters)
	code := make([]byte, 0, codeLength)
	for buf := [1]byte{}; len(code) < codeLength; {
		_, _ = rand.Read(buf[:]) // never fails
		if n := int(buf[0]); n < fair {
			code = append(code, letters[n%len(letters)])
		}
	}
	return string(code)
}

// readCode is a code as a person may type it.
func readCode(typed string) string {
	return strings.ToUpper(strings.NewReplacer("-", "", " ", "").Replace(typed))
}
