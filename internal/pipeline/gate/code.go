package gate

import (
	"context"
	"crypto/rand"
	"strings"

	"collie/internal/tool"
)

// approveByCode lets c pass if a person has approved it before, and refuses it if a person has declined it. Otherwise the
// call is stored to wait for a person, and refused. It writes the outcome into record.
func (s *Stage) approveByCode(ctx context.Context, c *tool.Call, plan tool.Plan, q tool.Question, record *tool.Decision) *tool.Error {
	const approver = "code"
	q.Args = argsText(outline(c.Args))
	w, isNew, err := s.pending.findOrAdd(ctx, entry{Binding: callBinding(c, plan), Waiting: Waiting{
		Question: q, Origin: c.Origin, Principal: line(c.Principal, maxTarget), Client: line(c.Client, maxTarget),
	}})
	switch {
	case err != nil:
		return err
	case w.State == StateApproved:
		record.Verdict, record.Approver = tool.Allowed, approver
		return nil
	case w.State == StateDenied:
		record.Approver = approver
		return declinedError(c, "decline")
	}
	if isNew {
		s.asked.Publish(Asked{Call: c, Code: w.Code})
	}
	record.Verdict = tool.Deferred
	e := cannotAskError(c, "a person has to confirm this; the call waits for that and did nothing",
		"ask the person to run: collie confirm "+w.Code+"; then make the same call again")
	e.Facts = map[string]any{"confirmationCode": w.Code, "expiresAt": w.Expires}
	return e
}

// codeLetters are characters that are not confused with each other when read or typed: no 0 and O, 1, I
// and L, 2 and Z, 5 and S, 8 and B, no U because of V.
const codeLetters = "34679ACDEFGHJKMNPQRTVWXY"

// codeLength gives 190 million codes. They only need to distinguish calls: a code approves nothing by itself, a person has to
// give it at a terminal or press a button in the pages.
const codeLength = 6

// newCode returns a random code.
func newCode() string {
	const fair = 256 / len(codeLetters) * len(codeLetters) // bytes from here on would favour the first letters, so they are skipped
	code := make([]byte, 0, codeLength)
	for buf := [1]byte{}; len(code) < codeLength; {
		_, _ = rand.Read(buf[:]) // never fails
		if n := int(buf[0]); n < fair {
			code = append(code, codeLetters[n%len(codeLetters)])
		}
	}
	return string(code)
}

// readCode normalizes a code that a person typed.
func readCode(typed string) string {
	return strings.ToUpper(strings.NewReplacer("-", "", " ", "").Replace(typed))
}
