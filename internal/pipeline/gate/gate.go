// Package gate is the stage that asks a person before a call runs that may do harm (ADR 14, 24, 61 and 63). Which
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
// With a yes, a person whom a program of ours asks may grant more calls of the kind (package grant). Such calls of
// conversations run without a question; each use is on record.
//
// The stage also refuses actions that are for people alone ([tool.Action.DirectOnly]) to everybody else,
// whether they are dangerous or not.
package gate

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"collie/internal/event"
	"collie/internal/pipeline/gate/decision"
	"collie/internal/pipeline/gate/grant"
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
	// Pause stops the clock that limits the call with that context, while a person is asked, until resume is called;
	// nil means that there is none.
	Pause func(context.Context) (resume func())
	// Asked gets a notice when a person is asked, and again when that has ended; nil means no notice.
	Asked *event.Bus[Asked]
	// Clients reports whether the risk counts for calls of MCP clients too; nil means it does not.
	Clients func() bool
	// Decided is called for each call that a person or a grant allowed; nil means no notice. The error of a refused
	// call carries its decision instead.
	Decided func(*tool.Call, tool.Decision)
	// Grants returns the grants of people. It is called when a person would have to be asked about a call that a
	// grant could cover; nil means that there are no grants. If it fails, the person is asked.
	Grants func(context.Context) (grant.Store, error)
	// Given is called with each grant that a person gives when asked about a call; nil means no
	// notice.
	Given func(*tool.Call, *grant.Grant)
	// Touches returns what a call touches and where, for a Source that does not declare it. It returns nil if that is
	// unknown.
	Touches func(*tool.Call) []tool.Touch
	Logger  *slog.Logger // nil discards
}

// Asked is the notice that a person is being asked about a call, or was asked.
type Asked struct {
	Call *tool.Call
	// Answer is "yes", "no", or "none" if nobody answered; empty while the person is being asked.
	Answer string
	// Code is set if the call waits under it for a person who answers elsewhere and was not asked before. No second
	// notice follows with the answer.
	Code string
}

// Stage lets a Call of kind call that may do harm run only after a person has agreed, to it or by a grant that covers it. It is safe for concurrent use.
type Stage struct {
	pending Pending
	codes   bool
	wait    time.Duration
	pause   func(context.Context) (resume func())
	asked   *event.Bus[Asked]
	clients func() bool
	decided func(*tool.Call, tool.Decision)
	grants  func(context.Context) (grant.Store, error)
	given   func(*tool.Call, *grant.Grant)
	touches func(*tool.Call) []tool.Touch
	log     *slog.Logger
}

// New returns a Stage.
func New(opts Options) *Stage {
	if opts.Wait <= 0 {
		opts.Wait = defaultWait
	}
	if opts.Pause == nil {
		opts.Pause = func(context.Context) func() { return func() {} }
	}
	if opts.Asked == nil {
		opts.Asked = &event.Bus[Asked]{}
	}
	if opts.Clients == nil {
		opts.Clients = func() bool { return false }
	}
	if opts.Decided == nil {
		opts.Decided = func(*tool.Call, tool.Decision) {}
	}
	if opts.Given == nil {
		opts.Given = func(*tool.Call, *grant.Grant) {}
	}
	if opts.Touches == nil {
		opts.Touches = func(*tool.Call) []tool.Touch { return nil }
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	return &Stage{
		pending: OpenPending(opts.Dir), codes: opts.Dir != "", wait: opts.Wait, pause: opts.Pause,
		asked: opts.Asked, clients: opts.Clients, decided: opts.Decided,
		grants: opts.Grants, given: opts.Given, touches: opts.Touches, log: opts.Logger,
	}
}

// Check is a [tool.Check]. It lets c pass if no confirmation is needed, a grant covers it or a person agrees; the Call it
// returns is then bound to what the person agreed to. Before it asks, it binds the call: an error of the
// [tool.Binder] is returned unchanged, so that a person is never asked about a call that would be refused
// anyway. The stage's own errors carry a [tool.Decision], and are a [tool.Error] of kind
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
		return c, directOnlyError(c)
	}
	if c.Kind != tool.KindCall {
		return c, nil
	}
	d, grantable := s.lookUp(c)
	if d.Outcome == decision.Run {
		return c, nil
	}
	record := initialRecord(c, d)
	final := d.Outcome == decision.Deny && !d.Unasked // nobody is asked
	if final && !grantable {
		return c, withDecision(deniedError(c, d), &record)
	}
	plan, bound, err := bind(ctx, c)
	if err != nil {
		return c, err
	}
	var about *grant.Asked
	if grantable {
		about = &grant.Asked{Call: c, Risk: d.Risk, Touches: s.touchesOf(c, plan)}
		if record.Grant = s.useGrant(ctx, about); record.Grant != "" {
			record.Verdict, record.Approver = tool.Allowed, "grant"
			s.decided(c, record)
			return withBound(c, bound), nil // what the grant covers is what was bound
		}
		if final {
			return c, withDecision(deniedError(c, d), &record)
		}
	}
	offers := s.offers(about)
	asked, refusal := s.askAgreement(ctx, c, plan, offers, &record)
	if asked && refusal == nil { // a person takes time; a path, for instance, may mean another document by now
		var now tool.Plan
		if now, bound, err = bind(ctx, c); err != nil {
			record.Grant = ""
			s.decided(c, record)
			return c, err
		}
		if now.Effect != plan.Effect || !slices.Equal(now.Targets, plan.Targets) || !slices.Equal(now.Touches, plan.Touches) ||
			record.Grant != "" && !slices.Equal(s.touchesOf(c, now), about.Touches) {
			record.Verdict, record.Grant, refusal = tool.Forbade, "", stateChangedError(c)
		}
	}
	if refusal != nil {
		return c, withDecision(refusal, &record)
	}
	if record.Grant != "" && !s.storeChosen(ctx, about, offers, record.Grant) {
		record.Grant = ""
	}
	s.decided(c, record)
	return withBound(c, bound), nil
}

// withDecision sets the audit record of a refusal in e, and returns e.
func withDecision(e *tool.Error, record *tool.Decision) error {
	e.Decision = record
	return e
}

// withBound returns a copy of c that is bound.
func withBound(c *tool.Call, bound tool.Bound) *tool.Call {
	out := *c
	out.Bound = bound
	return &out
}

// askAgreement asks a person about c, and writes the outcome into record. asked means that the person was asked just now, so
// time has passed since plan was made.
func (s *Stage) askAgreement(ctx context.Context, c *tool.Call, plan tool.Plan, offers []grant.Grant, record *tool.Decision) (asked bool, refusal *tool.Error) {
	q := question(c, plan, offers)
	setRisk(&q, c, plan, record.Risk)
	switch a := s.ask(ctx, c, q); {
	case a.err != nil:
		return true, a.err
	case a.yes:
		record.Verdict, record.Approver, record.Grant = tool.Allowed, a.by, a.grant
		return true, nil
	case a.asked:
		record.Approver = a.by
		return true, declinedError(c, a.how)
	case c.Origin == tool.Direct:
		return false, cannotAskError(c, "a person has to confirm this, and there is no terminal to ask at", "repeat it with --yes if you mean it")
	case isOfModel(c.Origin) && q.Name != "":
		return false, cannotAskError(c, "this can do critical harm, and nobody is available to allow it", "tell the person what you wanted to do; nothing can allow it beforehand")
	case isOfModel(c.Origin):
		return false, cannotAskError(c, "this may change something, and nobody is available to allow it",
			"tell the person what you wanted to do; they can allow it beforehand as "+c.Subject())
	case !s.codes:
		return false, cannotAskError(c, "a person has to confirm this, and the caller cannot ask one", "call from a client that supports elicitation")
	}
	return false, s.approveByCode(ctx, c, plan, q, record)
}

// setRisk sets the risk that a question shows and, if it is critical, the name that the person has to type: that of the target if it has a usable one, else that of
// the action.
func setRisk(q *tool.Question, c *tool.Call, plan tool.Plan, risk tool.Risk) {
	if q.Risk = risk; risk != tool.RiskCritical {
		return
	}
	q.Name = line(c.Subject(), maxTarget)
	if name := line(plan.Name, maxName); name != "" && name == plan.Name {
		q.Name = name
	}
}

// initialRecord returns the audit record of a call that d does not simply let run: which stage and rule stopped it. It says that the call is refused,
// until a person agrees.
func initialRecord(c *tool.Call, d decision.Decision) tool.Decision {
	record := tool.Decision{Stage: "gate", Rule: d.Rule, Risk: d.Risk, Verdict: tool.Forbade}
	switch {
	case c.Finding != nil && c.Finding.Ask:
		record.Stage, record.Rule = c.Finding.Stage, c.Finding.Rule
	case c.Review != nil && (c.Review.Verdict == tool.ReviewFailed || c.Review.Verdict == d.Risk):
		record.Stage, record.Rule = "guardian", c.Review.Rule
	}
	return record
}

// lookUp looks c up in the decision table, without a grant. grantable reports whether a grant would let it run instead.
func (s *Stage) lookUp(c *tool.Call) (d decision.Decision, grantable bool) {
	mustAsk, clients := c.Finding != nil && c.Finding.Ask || c.Action.Asks(c.Args), s.clients()
	if !mustAsk && !decision.RiskCounts(c.Origin, clients) {
		return decision.Decision{Outcome: decision.Run}, false
	}
	risk, _ := c.Action.Rated()
	if c.Finding != nil && c.Finding.Risk != tool.RiskUnknown {
		risk = c.Finding.Risk
	}
	input := decision.Case{Origin: c.Origin, Risk: risk, Surface: s.surface(c), MustAsk: mustAsk, Clients: clients}
	if r := c.Review; r != nil {
		input.Guardian, input.Verdict, input.Threshold = decision.Enforce, r.Verdict, r.Threshold
	}
	if d = decision.Decide(input); d.Outcome == decision.Run || s.grants == nil || !(&grant.Asked{Call: c, Risk: d.Risk}).Grantable() {
		return d, false
	}
	input.Granted = true
	return d, decision.Decide(input).Outcome == decision.Run
}

// surface returns the way in which a person can be asked about c.
func (s *Stage) surface(c *tool.Call) decision.Surface {
	switch {
	case c.Caller != nil && (c.Caller.Supports(tool.CanConfirm) || canAskByForm(c.Caller)):
		return decision.Person
	case s.codes && c.Origin != tool.Direct && !isOfModel(c.Origin):
		return decision.Code
	}
	return decision.Nobody
}

// isOfModel reports whether calls of an origin are those that a model decides on.
func isOfModel(o tool.Origin) bool { return o == tool.Chat || o == tool.CLIAgent }

// bind resolves the targets of c, if its Source can, and returns what c would touch.
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

// stateChangedError returns the error for a call that would no longer do what the person was shown.
func stateChangedError(c *tool.Call) *tool.Error {
	return &tool.Error{
		Op: "call", Kind: tool.StateChanged, Subject: c.Subject(),
		Message: "what it would touch has changed while a person was asked; nothing was done",
		Hint:    "call it again if it is still needed; the person is then asked again",
	}
}

func directOnlyError(c *tool.Call) error {
	risk, _ := c.Action.Rated()
	return &tool.Error{
		Decision: &tool.Decision{Stage: "gate", Rule: "direct_only", Risk: risk, Verdict: tool.Forbade},
		Op:       "call", Kind: tool.Denied, Code: "direct_only", Subject: c.Subject(),
		Message: "only a person may do this, at a terminal",
		Hint:    "tell the person to run: collie " + c.Tool + " " + c.Action.Name + "; do not repeat the call",
	}
}

// deniedError returns the error for a call that the table refuses.
func deniedError(c *tool.Call, d decision.Decision) *tool.Error {
	return &tool.Error{
		Op: "call", Kind: tool.Denied, Code: "denied_by_table", Subject: c.Subject(),
		Message: fmt.Sprintf("a call of %s risk is refused here", d.Risk),
		Hint:    "do not repeat it in another form; tell the person what you wanted to do",
	}
}

func declinedError(c *tool.Call, how string) *tool.Error {
	e := &tool.Error{Op: "call", Kind: tool.Declined, Code: how, Subject: c.Subject()}
	switch direct, wrong := c.Origin == tool.Direct, how == wrongName; { // the reader of a direct call's error has just answered
	case direct && wrong:
		e.Message, e.Hint = "the name that you typed is not the one that was asked for; nothing was done", "run it again, and type the name exactly as it is shown"
	case direct:
		e.Message, e.Hint = "you did not confirm it; nothing was done", "run it again if you want it after all"
	case wrong:
		e.Message, e.Hint = "a person was asked and did not type the name that agrees; nothing was done", "do not repeat the call unless the person asks for it"
	default:
		e.Message, e.Hint = "a person was asked and did not agree; nothing was done", "do not repeat the call unless the person asks for it"
	}
	return e
}

// wrongName is the error code for a yes that does not repeat the name of what would be lost.
const wrongName = "wrong_name"

// codeRequired is the error code for calls about which nobody could be asked.
const codeRequired = "confirmation_required"

func cannotAskError(c *tool.Call, why, hint string) *tool.Error {
	return &tool.Error{Op: "call", Kind: tool.Unconfirmed, Code: codeRequired, Subject: c.Subject(), Message: why, Hint: hint}
}
