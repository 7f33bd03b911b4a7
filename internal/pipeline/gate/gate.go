// Package gate is the stage that asks a person before a call runs that may do harm (ADR 14, 24 and 61). Which
// calls these are is decided by the table of package decision, by what actions declare and by what earlier stages
// have found out. How a person sees a question and answers it is up to whoever made the call; see [tool.Caller].
// The entry point is [New].
//
// There are three ways to ask a person, tried in this order:
//
//   - a program of ours asks the person in front of it ([tool.CanConfirm]);
//   - an MCP client of either era shows the question (elicitation), if its answers count as a
//     person's ([tool.SpeaksForPerson]);
//   - a code. The call is refused, and waits in a file of [Pending] until a person at a
//     terminal, in another process, agrees with "collie confirm CODE". The call then runs when
//     the same caller ([tool.Caller.ID]) makes it again. The code alone is worth nothing, so
//     callers may know it.
//
// The stage also refuses actions that are for people alone ([tool.Action.DirectOnly]) to everybody else,
// whether they are dangerous or not.
package gate

import (
	"context"
	"slices"
	"time"

	"collie/internal/tool"
)

// defaultWait is the default of [Options.Wait].
const defaultWait = 5 * time.Minute

// Options of a [Stage]. The zero value asks callers that can be asked, and refuses the calls of others
// without a code.
type Options struct {
	// Dir is the folder for calls that wait for a code; see [Pending]. If it is empty, there are no codes.
	Dir string
	// Wait is how long a caller may take to answer; 0 or less means 5 minutes.
	Wait time.Duration
}

// Stage lets a dangerous Call of kind call run only after a person has agreed. It is safe for concurrent use.
type Stage struct {
	pending Pending
	codes   bool
	wait    time.Duration
}

// New returns a Stage.
func New(opts Options) *Stage {
	if opts.Wait <= 0 {
		opts.Wait = defaultWait
	}
	return &Stage{pending: OpenPending(opts.Dir), codes: opts.Dir != "", wait: opts.Wait}
}

// Check is a [tool.Check]. It lets c pass if no confirmation is needed or a person agrees; the Call it
// returns is then bound to what the person agreed to. Before it asks, it binds the call: an error of the
// [tool.Binder] is returned unchanged, so that nobody is asked about a call that would be refused anyway. The
// stage's own errors are a [tool.Error] of kind
//
//   - Denied for an action that is for people alone, and for a call that is refused whoever agrees;
//   - Declined if a person said no;
//   - Unconfirmed if nobody could be asked or nobody answered; the Facts may hold a code as
//     "confirmationCode", with "expiresAt";
//   - StateChanged if the call would no longer do what the person was shown;
//   - Canceled if the call ended while a person was being asked.
func (s *Stage) Check(ctx context.Context, c *tool.Call) (*tool.Call, error) {
	if c.Action == nil {
		return c, nil
	}
	if c.Action.DirectOnly && c.Origin != tool.Direct {
		return c, forPeople(c)
	}
	if c.Kind != tool.KindCall || !asks(c) {
		return c, nil
	}
	plan, bound, err := bind(ctx, c)
	if err != nil {
		return c, err
	}
	switch a := s.ask(ctx, c, question(c, plan)); {
	case a.err != nil:
		return c, a.err
	case a.yes:
		return again(ctx, c, plan)
	case a.asked:
		return c, declined(c, a.how)
	case c.Origin == tool.Direct:
		return c, notAsked(c, "a person has to confirm this, and there is no terminal to ask at", "repeat it with --yes if you mean it")
	case c.Origin == tool.Chat:
		return c, notAsked(c, "this may change something, and no person is there to allow it",
			"tell the person what you wanted to do; they can allow it beforehand as "+c.Subject())
	case !s.codes:
		return c, notAsked(c, "a person has to confirm this, and the caller cannot ask one", "call from a client that supports elicitation")
	}
	if err := s.byCode(ctx, c, plan); err != nil {
		return c, err
	}
	return withBound(c, bound), nil // a person has already agreed to this plan
}

// asks reports whether a person confirms c. What a model wants of its own accord is confirmed unless the action is
// declared to read only: whether it is dangerous, nobody has said.
func asks(c *tool.Call) bool {
	return c.Action.Asks(c.Args) || c.Origin == tool.Chat && !c.Action.ReadOnly
}

// bind is what c would touch, as far as its Source says.
func bind(ctx context.Context, c *tool.Call) (tool.Plan, tool.Bound, error) {
	b, ok := c.Source.(tool.Binder)
	if !ok {
		return tool.Plan{}, nil, nil
	}
	bound, err := b.Bind(ctx, c)
	if err != nil {
		return tool.Plan{}, nil, err
	}
	plan, err := bound.Plan(ctx)
	return plan, bound, err
}

// bindAgain binds c a second time and makes sure that the plan is still the one the person was shown. A path, for
// example, may mean something else by now.
func again(ctx context.Context, c *tool.Call, shown tool.Plan) (*tool.Call, error) {
	now, bound, err := bind(ctx, c)
	if err != nil {
		return c, err
	}
	if now.Effect != shown.Effect || !slices.Equal(now.Targets, shown.Targets) {
		return c, &tool.Error{
			Op: "call", Kind: tool.StateChanged, Subject: c.Subject(),
			Message: "what it would touch has changed while a person was asked; nothing was done",
			Hint:    "call it again if it is still wanted; the person is then asked anew",
		}
	}
	return withBound(c, bound), nil
}

// with returns a copy of c that is bound.
func withBound(c *tool.Call, bound tool.Bound) *tool.Call {
	out := *c
	out.Bound = bound
	return &out
}

func forPeople(c *tool.Call) error {
	return &tool.Error{
		Op: "call", Kind: tool.Denied, Code: "direct_only", Subject: c.Subject(),
		Message: "only a person may do this, at a terminal",
		Hint:    "tell the person to run: collie " + c.Tool + " " + c.Action.Name + "; do not repeat the call",
	}
}

func declined(c *tool.Call, how string) error {
	if c.Origin == tool.Direct { // the reader of this message has just said no
		return &tool.Error{
			Op: "call", Kind: tool.Declined, Code: how, Subject: c.Subject(), Message: "you did not confirm it; nothing was done",
			Hint: "run it again if you want it after all",
		}
	}
	return &tool.Error{
		Op: "call", Kind: tool.Declined, Code: how, Subject: c.Subject(),
		Message: "a person was asked and did not agree; nothing was done",
		Hint:    "do not repeat the call unless the person asks for it",
	}
}

// codeRequired is the error code for calls about which nobody could be asked.
const codeRequired = "confirmation_required"

func notAsked(c *tool.Call, why, hint string) *tool.Error {
	return &tool.Error{Op: "call", Kind: tool.Unconfirmed, Code: codeRequired, Subject: c.Subject(), Message: why, Hint: hint}
}
