// Package gate is the stage that asks a person before a dangerous call runs (ADR 14 and
// 24). Which actions are dangerous is their Source's word; what a person sees and types on is
// left to whoever made the call, see [tool.Caller]. The entry point is [New].
//
// There are three ways to a person, tried in this order:
//
//   - a program of ours that asks the one in front of it ([tool.CanConfirm]);
//   - an MCP client that shows questions (elicitation), of either era, if what it answers counts
//     as a person's ([tool.SpeaksForPerson]);
//   - a code. The call is refused, and waits in a file of [Pending] until a person at a
//     terminal has said yes with "collie confirm CODE", in a process of its own. The same call,
//     made again by the same caller ([tool.Caller.ID]), then runs. The code itself opens nothing:
//     whoever makes calls may know it.
//
// A model that answers in a conversation (origin chat) asks for every action that is not declared to
// read only, by the first way alone: no code is given to it.
//
// The stage also keeps actions that are for people alone ([tool.Action.DirectOnly]) from
// everybody else, whether they are dangerous or not.
package gate

import (
	"context"
	"slices"
	"time"

	"collie/internal/tool"
)

// defaultWait is how long a person may think, unless [Options] say otherwise.
const defaultWait = 5 * time.Minute

// Options of a [Stage]. The zero value asks the callers that can be asked, and refuses the
// calls of others without a code.
type Options struct {
	// Dir is the folder of the calls that wait for a code; see [Pending]. Empty: none can.
	Dir string
	// Wait bounds how long a caller may take to answer; 0 or less means defaultWait.
	Wait time.Duration
}

// Stage lets a dangerous Call of kind call run once a person has agreed to it. It is safe for
// concurrent use.
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

// Check is a [tool.Check]: it lets c pass if nobody needs to be asked, or if a person agrees. What
// would be refused anyway is refused before that: the error of a [tool.Binder] is returned as it is.
// What a person has agreed to is passed on as a Call that is bound. The stage's own errors are a
// [tool.Error] of kind
//
//   - Denied for an action that is for people alone;
//   - Declined where a person said no;
//   - Unconfirmed where nobody could be asked or nobody answered; a code is among the Facts
//     as "confirmationCode", with "expiresAt";
//   - StateChanged where the call would not touch any more what the person was shown;
//   - Canceled where the call ended while somebody was asked.
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
		return c, unasked(c, "a person has to confirm this, and there is no terminal to ask at", "repeat it with --yes if you mean it")
	case c.Origin == tool.Chat:
		return c, unasked(c, "this may change something, and no person is there to allow it",
			"tell the person what you wanted to do; they can allow it beforehand as "+c.Subject())
	case !s.codes:
		return c, unasked(c, "a person has to confirm this, and the caller cannot ask one", "call from a client that supports elicitation")
	}
	if err := s.byCode(ctx, c, plan); err != nil {
		return c, err
	}
	return with(c, bound), nil // the person has agreed before, to what is planned now
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

// again binds c anew, and makes sure that what runs is what the person was shown: a path, for
// example, may mean something else since the question was put.
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
	return with(c, bound), nil
}

// with is c with what it was bound to.
func with(c *tool.Call, bound tool.Bound) *tool.Call {
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
	if c.Origin == tool.Direct { // who reads this has just said no
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

// codeRequired is the code of the errors for calls that nobody could be asked about.
const codeRequired = "confirmation_required"

func unasked(c *tool.Call, why, hint string) *tool.Error {
	return &tool.Error{Op: "call", Kind: tool.Unconfirmed, Code: codeRequired, Subject: c.Subject(), Message: why, Hint: hint}
}
