package gate_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"collie/internal/pipeline/gate"
	"collie/internal/tool"
	"collie/internal/tool/tooltest"
)

// fakePerson is a caller behind which a person answers questions, and remembers what it was asked.
type fakePerson struct {
	can          []tool.Capability
	caps         string
	answer       func(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)
	asked        []string // methods of the requests
	lastQuestion json.RawMessage
	id           string
	mute         bool // its answers to elicitation do not count as a person's
}

func (p *fakePerson) Supports(what tool.Capability) bool {
	return what == tool.SpeaksForPerson && !p.mute || slices.Contains(p.can, what)
}

func (p *fakePerson) ID() string { return p.id }

func (p *fakePerson) Capabilities() json.RawMessage {
	if p.caps == "" {
		return json.RawMessage(`{"elicitation":{}}`)
	}
	return json.RawMessage(p.caps)
}

func (p *fakePerson) Notify(context.Context, string, json.RawMessage) {}

func (p *fakePerson) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	p.asked, p.lastQuestion = append(p.asked, method), params
	return p.answer(ctx, method, params)
}

// personWhoAnswers returns a person, behind our own program or an MCP client, who always gives the same answer.
func personWhoAnswers(what tool.Capability, answer string) *fakePerson {
	return &fakePerson{can: []tool.Capability{what}, answer: func(context.Context, string, json.RawMessage) (json.RawMessage, error) {
		return json.RawMessage(answer), nil
	}}
}

// bindingSource is a source that binds calls: what a call would touch is what prepare returns.
type bindingSource struct {
	*tooltest.Fake
	prepare func(c *tool.Call) (tool.Plan, error)
}

func (p bindingSource) Bind(_ context.Context, c *tool.Call) (tool.Bound, error) {
	plan, err := p.prepare(c)
	return boundCall{plan: plan}, err
}

// boundCall is a bound call of a bindingSource.
type boundCall struct {
	tool.Bound
	plan tool.Plan
}

func (b boundCall) Plan(context.Context) (tool.Plan, error) { return b.plan, nil }

var examplePlan = tool.Plan{Targets: []string{"工作 (20210808180117-czj9bvb)", "/Work/Plans"}, Effect: "Deletes the notebook."}

// newRemoveCall returns a dangerous call with two targets.
func newRemoveCall(caller tool.Caller) *tool.Call {
	a := tooltest.Action("remove")
	a.Dangerous = true
	fake := tooltest.NewFake("siyuan", tooltest.Offer("notebook", a))
	return &tool.Call{
		Request: tool.Request{Kind: tool.KindCall, Name: "notebook__remove", Origin: tool.MCPLocal, Principal: "ada", Client: "claude 1.0", Caller: caller},
		Args:    json.RawMessage(`{"notebook":"20210808180117-czj9bvb"}`), Source: bindingSource{fake, func(*tool.Call) (tool.Plan, error) { return examplePlan, nil }}, Tool: "notebook", Action: &a, Target: "remove",
	}
}

// runCall runs c through the stage and reports whether it ran. It fails the test if a refused call has run or a
// permitted one has not.
func runCall(t *testing.T, s *gate.Stage, c *tool.Call) (ran bool, err error) {
	t.Helper()
	want := tooltest.Text("gone")
	r, err := tooltest.Checked(t.Context(), s.Check, c, func(context.Context, *tool.Call) (tool.Result, error) {
		ran = true
		return want, nil
	})
	if ran != (err == nil) || ran && string(r.Raw) != string(want.Raw) {
		t.Fatalf("ran %t, result %s, error %v", ran, r.Raw, err)
	}
	return ran, err
}

func mustRun(t *testing.T, s *gate.Stage, c *tool.Call) {
	t.Helper()
	if _, err := runCall(t, s, c); err != nil {
		t.Fatalf("refused: %v", err)
	}
}

// mustRefuse runs a call that must be refused and returns its error.
func mustRefuse(t *testing.T, s *gate.Stage, c *tool.Call, kind tool.ErrorKind) *tool.Error {
	t.Helper()
	_, err := runCall(t, s, c)
	e, ok := errors.AsType[*tool.Error](err)
	if !ok || e.Kind != kind {
		t.Fatalf("error %v, want one of kind %s", err, kind)
	}
	if e.Subject != "notebook.remove" || e.Message == "" || e.Hint == "" && kind != tool.Canceled || e.OutcomeUnknown {
		t.Errorf("error %+v: the subject, the reason or the hint is missing", e)
	}
	if e.Op == "call" { // an error of the stage, and not of the source
		said := gjson.ParseBytes(e.Payload()).Get("error")
		for _, name := range []string{"stage", "rule", "risk", "retryable"} {
			if v := said.Get(name); !v.Exists() || v.String() == "" || name == "retryable" && v.Bool() {
				t.Errorf("%s: %s is %q", said.Raw, name, v.String())
			}
		}
	}
	return e
}

func TestNobodyIsAskedAboutOtherCalls(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "pending")
	s := gate.New(gate.Options{Dir: dir})
	c := newRemoveCall(nil)
	c.Action.Dangerous = false
	mustRun(t, s, c)
	c = newRemoveCall(nil)
	c.Kind, c.Action = tool.KindRead, nil
	mustRun(t, s, c)
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder was made: %v", err)
	}
}

// Some actions are dangerous only with one of their arguments.
func TestAnArgumentMakesItDangerous(t *testing.T) {
	t.Parallel()
	s := gate.New(gate.Options{Dir: t.TempDir()})
	c := newRemoveCall(nil)
	c.Action.Dangerous, c.Action.DangerousWith = false, "outputPath"
	mustRun(t, s, c)
	c.Args = json.RawMessage(`{"outputPath":"/home/ada/notes.zip"}`)
	mustRefuse(t, s, c, tool.Unconfirmed)
}

// An action that only people may call is refused to all other origins before anything else happens, dangerous or not.
func TestDirectOnly(t *testing.T) {
	t.Parallel()
	s := gate.New(gate.Options{Dir: t.TempDir()})
	for _, origin := range []tool.Origin{tool.Chat, tool.CLIAgent, tool.MCPLocal, tool.MCPRemote, tool.Scheduled, ""} {
		for _, dangerous := range []bool{true, false} {
			who := personWhoAnswers(tool.CanConfirm, `{"confirm":true}`)
			c := newRemoveCall(who)
			c.Origin, c.Action.DirectOnly, c.Action.Dangerous = origin, true, dangerous
			c.Source = bindingSource{prepare: func(*tool.Call) (tool.Plan, error) {
				t.Error("its targets were looked up")
				return tool.Plan{}, nil
			}}
			if e := mustRefuse(t, s, c, tool.Denied); !strings.Contains(e.Hint, "collie notebook remove") || len(who.asked) > 0 {
				t.Errorf("%s: hint %q, asked %v", origin, e.Hint, who.asked)
			}
		}
	}
	c := newRemoveCall(personWhoAnswers(tool.CanConfirm, `{"confirm":true}`))
	c.Origin, c.Action.DirectOnly = tool.Direct, true
	mustRun(t, s, c)
}

// A call that its source refuses gets the source's own error, and nobody is asked about it.
func TestNobodyIsAskedAboutWhatIsRefused(t *testing.T) {
	t.Parallel()
	s := gate.New(gate.Options{Dir: t.TempDir()})
	who := personWhoAnswers(tool.CanConfirm, `{"confirm":true}`)
	no := &tool.Error{Op: "call", Kind: tool.Denied, Message: "the notebook is read-only"}
	for _, caller := range []tool.Caller{who, nil} {
		c := newRemoveCall(caller)
		c.Source = bindingSource{prepare: func(*tool.Call) (tool.Plan, error) { return tool.Plan{}, no }}
		if _, err := runCall(t, s, c); !errors.Is(err, no) {
			t.Errorf("error %v, want the source's own", err)
		}
	}
	if len(who.asked) > 0 {
		t.Errorf("asked %v", who.asked)
	}
}

func TestProgramsOfOurs(t *testing.T) {
	t.Parallel()
	s := gate.New(gate.Options{})
	for _, origin := range []tool.Origin{tool.Direct, tool.Chat} {
		for answer, yes := range map[string]bool{
			`{"confirm":true}`: true, `{"confirm":false}`: false, `{"confirm":"true"}`: false, `{}`: false, `true`: false, `null`: false,
		} {
			who := personWhoAnswers(tool.CanConfirm, answer)
			who.can = append(who.can, tool.CanElicit) // if both ways exist, collie/confirm is used
			c := newRemoveCall(who)
			c.Origin = origin
			if yes {
				mustRun(t, s, c)
			} else {
				_ = mustRefuse(t, s, c, tool.Declined)
			}
			if d := cmp.Diff([]string{tool.MethodConfirm}, who.asked); d != "" {
				t.Errorf("asked (-want +got):\n%s", d)
			}
			var got tool.Question
			want := tool.Question{
				Tool: "notebook", Action: "remove", Effect: examplePlan.Effect, Targets: examplePlan.Targets, Args: `{"notebook":"20210808180117-czj9bvb"}`, Risk: tool.RiskHigh,
			}
			if err := json.Unmarshal(who.lastQuestion, &got); err != nil || !cmp.Equal(want, got) {
				t.Errorf("question: %v, (-want +got):\n%s", err, cmp.Diff(want, got))
			}
		}
	}
}

func TestElicitation(t *testing.T) {
	t.Parallel()
	s := gate.New(gate.Options{Dir: t.TempDir()})
	mustRun(t, s, newRemoveCall(personWhoAnswers(tool.CanElicit, `{"action":"accept","content":{"confirm":true}}`)))
	for answer, code := range map[string]string{
		`{"action":"accept","content":{"confirm":false}}`:  "decline",
		`{"action":"accept","content":{"confirm":"true"}}`: "decline",
		`{"action":"accept","content":{"confirm":1}}`:      "decline",
		`{"action":"accept","content":{}}`:                 "decline",
		`{"action":"accept"}`:                              "decline",
		`{"action":"decline","content":{"confirm":true}}`:  "decline",
		`{"action":"cancel","content":{"confirm":true}}`:   "cancel",
		`{"confirm":true}`:                                 "decline",
		`{"content":{"confirm":true}}`:                     "decline",
		`{}`:                                               "decline",
		`null`:                                             "decline",
	} {
		if e := mustRefuse(t, s, newRemoveCall(personWhoAnswers(tool.CanElicit, answer)), tool.Declined); e.Code != code {
			t.Errorf("%s: code %q, want %q", answer, e.Code, code)
		}
	}
	who := personWhoAnswers(tool.CanElicit, `{}`)
	_ = mustRefuse(t, s, newRemoveCall(who), tool.Declined)
	var asked struct {
		Message string
		Mode    string
		Schema  json.RawMessage `json:"requestedSchema"`
	}
	if err := json.Unmarshal(who.lastQuestion, &asked); err != nil {
		t.Fatal(err)
	}
	const text = `Collie asks before this runs.

Tool: notebook
Action: remove
Effect: Deletes the notebook.
Risk: high
Targets:
- 工作 (20210808180117-czj9bvb)
- /Work/Plans
Arguments: {"notebook":"20210808180117-czj9bvb"}`
	if d := cmp.Diff(text, asked.Message); d != "" {
		t.Errorf("message (-want +got):\n%s", d)
	}
	if !strings.Contains(string(asked.Schema), `"required":["confirm"]`) || asked.Mode != "" {
		t.Errorf("schema %s, mode %q", asked.Schema, asked.Mode)
	}
}

// A critical call runs only if the person types its name. --yes may repeat the name; permissions given beforehand do
// not count. MCP clients whose risk does not count are asked without the name.
func TestCriticalCallsWantTheNameTyped(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		origin  tool.Origin
		clients bool
		what    tool.Capability
		answer  string
		name    string // of the target
		want    tool.ErrorKind
		code    string
	}{
		{origin: tool.Direct, what: tool.CanConfirm, answer: `{"confirm":true,"name":"工作"}`, name: "工作"},
		{origin: tool.Direct, what: tool.CanConfirm, answer: `{"confirm":true,"name":" 工作 "}`, name: "工作"},
		{origin: tool.Direct, what: tool.CanConfirm, answer: `{"confirm":true}`, name: "工作", want: tool.Declined, code: "wrong_name"},
		{origin: tool.Direct, what: tool.CanConfirm, answer: `{"confirm":true,"name":"work"}`, name: "工作", want: tool.Declined, code: "wrong_name"},
		{origin: tool.Direct, what: tool.CanConfirm, answer: `{"confirm":false,"name":"工作"}`, name: "工作", want: tool.Declined, code: "decline"},
		{origin: tool.Chat, what: tool.CanConfirm, answer: `{"confirm":true,"name":["工作"]}`, name: "工作", want: tool.Declined, code: "wrong_name"},
		{origin: tool.Chat, what: tool.CanConfirm, answer: `{"confirm":true}`, name: "工作", want: tool.Declined, code: "wrong_name"},
		{origin: tool.Chat, what: tool.CanConfirm, answer: `{"confirm":true,"name":"notebook.remove"}`},
		{origin: tool.Chat, what: tool.CanConfirm, answer: `{"confirm":true,"name":""}`, want: tool.Declined, code: "wrong_name"},
		{origin: tool.Chat, what: tool.CanConfirm, answer: `{"confirm":true,"name":"notebook.remove"}`, name: "a\u202eb"},
		{origin: tool.MCPLocal, clients: true, what: tool.CanElicit, answer: `{"action":"accept","content":{"confirm":true,"name":"工作"}}`, name: "工作"},
		{origin: tool.MCPLocal, clients: true, what: tool.CanElicit, answer: `{"action":"accept","content":{"confirm":true}}`, name: "工作", want: tool.Declined, code: "wrong_name"},
		{origin: tool.MCPLocal, what: tool.CanElicit, answer: `{"action":"accept","content":{"confirm":true}}`, name: "工作"},
	} {
		s := gate.New(gate.Options{Clients: func() bool { return tt.clients }})
		who := personWhoAnswers(tt.what, tt.answer)
		c := withRisk(newRemoveCall(who), tool.RiskCritical)
		c.Origin, c.Source = tt.origin, bindingSource{prepare: func(*tool.Call) (tool.Plan, error) {
			return tool.Plan{Targets: examplePlan.Targets[:1], Effect: examplePlan.Effect, Name: tt.name}, nil
		}}
		if tt.want == "" {
			mustRun(t, s, c)
		} else if e := mustRefuse(t, s, c, tt.want); e.Code != tt.code || e.Decision.Risk != tool.RiskCritical {
			t.Errorf("%+v: %+v", tt, e)
		}
		asks := strings.Contains(string(who.lastQuestion), `"name"`)
		if asks == (tt.origin == tool.MCPLocal && !tt.clients) {
			t.Errorf("%+v: asked %s", tt, who.lastQuestion)
		}
	}
	dir := t.TempDir()
	mustWaitForCode(t, gate.New(gate.Options{Dir: dir}), withRisk(newRemoveCall(nil), tool.RiskCritical))
	if w := listWaiting(t, dir); len(w) != 1 || w[0].Question.Name != "notebook.remove" {
		t.Errorf("what waits: %+v", w)
	}
}

// If a client cannot show the form, or fails to, the call gets a code.
func TestClientsThatCannotBeAsked(t *testing.T) {
	t.Parallel()
	failing := &fakePerson{can: []tool.Capability{tool.CanElicit}, answer: func(context.Context, string, json.RawMessage) (json.RawMessage, error) {
		return nil, tool.NewProtocolError(-32601, "method not found", nil)
	}}
	pages := personWhoAnswers(tool.CanElicit, `{"action":"accept","content":{"confirm":true}}`)
	pages.caps = `{"elicitation":{"url":{}}}`
	mute := personWhoAnswers(tool.CanElicit, `{"action":"accept","content":{"confirm":true}}`)
	mute.mute = true
	both := personWhoAnswers(tool.CanElicit, `{"action":"accept","content":{"confirm":true}}`)
	both.caps = `{"elicitation":{"url":{},"form":{}}}`
	s := gate.New(gate.Options{Dir: t.TempDir()})
	for name, who := range map[string]*fakePerson{
		"fails": failing, "shows pages alone": pages, "speaks for nobody": mute, "can do other things": personWhoAnswers(tool.CanSample, `{"confirm":true}`),
	} {
		if e := mustRefuse(t, s, newRemoveCall(who), tool.Unconfirmed); e.Code != "confirmation_required" || e.Facts["confirmationCode"] == "" {
			t.Errorf("%s: %+v", name, e)
		}
	}
	mustRun(t, s, newRemoveCall(both))
	if e := mustRefuse(t, gate.New(gate.Options{}), newRemoveCall(nil), tool.Unconfirmed); e.Facts != nil {
		t.Errorf("without a folder: %+v", e)
	}
}

// A person who typed the call is asked at the terminal or has to use --yes; the call does not wait for a
// code.
func TestDirectCallsNeedYes(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "pending")
	c := newRemoveCall(nil)
	c.Origin = tool.Direct
	if e := mustRefuse(t, gate.New(gate.Options{Dir: dir}), c, tool.Unconfirmed); !strings.Contains(e.Hint, "--yes") || e.Facts != nil {
		t.Errorf("%+v", e)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder was made: %v", err)
	}
}

// A call runs only if its plan is still the one the person was shown.
func TestTargetsThatChangeWhileAPersonThinks(t *testing.T) {
	t.Parallel()
	s := gate.New(gate.Options{})
	for name, tt := range map[string]struct {
		now  tool.Plan
		err  error
		kind tool.ErrorKind
	}{
		"other targets": {now: tool.Plan{Targets: []string{"重要"}, Effect: examplePlan.Effect}, kind: tool.StateChanged},
		"other effect":  {now: tool.Plan{Targets: examplePlan.Targets, Effect: "Deletes all."}, kind: tool.StateChanged},
		"not allowed":   {err: &tool.Error{Kind: tool.Denied, Subject: "notebook.remove", Message: "x", Hint: "y"}, kind: tool.Denied},
	} {
		now := examplePlan
		var err error
		who := personWhoAnswers(tool.CanConfirm, "")
		who.answer = func(context.Context, string, json.RawMessage) (json.RawMessage, error) {
			now, err = tt.now, tt.err
			return json.RawMessage(`{"confirm":true}`), nil
		}
		c := newRemoveCall(who)
		c.Source = bindingSource{prepare: func(*tool.Call) (tool.Plan, error) { return now, err }}
		t.Log(name)
		_ = mustRefuse(t, s, c, tt.kind)
	}
}

func TestAPersonWhoDoesNotAnswer(t *testing.T) {
	t.Parallel()
	wait := func(ctx context.Context, _ string, _ json.RawMessage) (json.RawMessage, error) {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	for _, what := range []tool.Capability{tool.CanConfirm, tool.CanElicit} {
		synctest.Test(t, func(t *testing.T) {
			s := gate.New(gate.Options{Dir: t.TempDir()})
			begun := time.Now()
			e := mustRefuse(t, s, newRemoveCall(&fakePerson{can: []tool.Capability{what}, answer: wait}), tool.Unconfirmed)
			if took := time.Since(begun); took != 5*time.Minute || e.Code != "no_answer" || e.Facts != nil {
				t.Errorf("after %v: %+v", took, e)
			}
			ctx, cancel := context.WithCancelCause(t.Context())
			gone := errors.New("the client hung up")
			time.AfterFunc(time.Second, func() { cancel(gone) })
			_, err := tooltest.Checked(ctx, s.Check, newRemoveCall(&fakePerson{can: []tool.Capability{what}, answer: wait}), func(context.Context, *tool.Call) (tool.Result, error) {
				t.Error("it ran")
				return tool.Result{}, nil
			})
			if tool.KindOf(err) != tool.Canceled || !errors.Is(err, gone) || tool.OutcomeOf(tool.Result{}, err) != tool.Cancelled {
				t.Errorf("a call that ended: %v", err)
			}
		})
	}
}

// Calls by models need confirmation from medium risk on, and never wait for a code.
func TestModelsAskAboutRisk(t *testing.T) {
	t.Parallel()
	s := gate.New(gate.Options{Dir: t.TempDir()})
	call := func(caller tool.Caller, readOnly bool) *tool.Call {
		c := newRemoveCall(caller)
		a := tooltest.Action("remove")
		a.ReadOnly, a.Risk = readOnly, tool.RiskMedium
		if readOnly {
			a.Risk = tool.RiskNone
		}
		c.Origin, c.Action = tool.Chat, &a
		return c
	}
	mustRun(t, s, call(nil, true))
	mustRun(t, s, withFinding(call(nil, false), tool.Finding{Risk: tool.RiskLow}))
	mustRun(t, s, withRisk(call(nil, false), tool.RiskLow))
	mustRefuse(t, s, withRisk(call(nil, true), tool.RiskUnknown), tool.Unconfirmed) // it is marked as read-only, but its name is "remove"
	mustRefuse(t, s, withFinding(call(nil, true), tool.Finding{Risk: tool.RiskHigh}), tool.Unconfirmed)
	e := mustRefuse(t, s, call(nil, false), tool.Unconfirmed)
	if e.Facts["confirmationCode"] != nil || !strings.Contains(e.Hint, "notebook.remove") {
		t.Errorf("the refusal gives a code or does not name what to allow: %+v", e)
	}
	mute := personWhoAnswers(tool.CanElicit, `{"action":"accept","content":{"confirm":true}}`)
	mute.mute = true
	mustRefuse(t, s, call(mute, false), tool.Unconfirmed)
	yes := personWhoAnswers(tool.CanConfirm, `{"confirm":true}`)
	yes.mute = true
	mustRun(t, s, call(yes, false))
	if len(yes.asked) != 1 {
		t.Errorf("the person was asked %d times", len(yes.asked))
	}
	no := personWhoAnswers(tool.CanConfirm, `{"confirm":false}`)
	mustRefuse(t, s, call(no, false), tool.Declined)
}

// withRisk returns c with a declared risk.
func withRisk(c *tool.Call, risk tool.Risk) *tool.Call {
	a := *c.Action
	a.Risk = risk
	c.Action = &a
	return c
}

// withFinding returns c with a finding of a stage.
func withFinding(c *tool.Call, f tool.Finding) *tool.Call {
	c.Finding = &f
	return c
}

// The risk of calls of MCP clients counts if the settings say so. A call that is refused anyway causes no question.
func TestClientsAreHeldToTheTable(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		origin  tool.Origin
		risk    tool.Risk
		clients bool
		want    tool.ErrorKind // empty: it runs
		code    string
	}{
		{origin: tool.MCPLocal, risk: tool.RiskCritical},
		{origin: tool.MCPRemote, risk: tool.RiskCritical},
		{origin: tool.MCPLocal, risk: tool.RiskMedium, clients: true},
		{origin: tool.MCPLocal, risk: tool.RiskHigh, clients: true, want: tool.Unconfirmed, code: "confirmation_required"},
		{origin: tool.MCPRemote, risk: tool.RiskMedium, clients: true, want: tool.Unconfirmed, code: "confirmation_required"},
		{origin: tool.MCPRemote, risk: tool.RiskCritical, clients: true, want: tool.Denied, code: "denied_by_table"},
		{origin: tool.Scheduled, risk: tool.RiskHigh, want: tool.Denied, code: "denied_by_table"},
		{risk: tool.RiskNone, want: tool.Denied, code: "denied_by_table"},
	} {
		s := gate.New(gate.Options{Dir: t.TempDir(), Clients: func() bool { return tt.clients }})
		c := newRemoveCall(nil)
		a := tooltest.Action("remove")
		c.Origin, c.Action = tt.origin, &a
		switch withRisk(c, tt.risk); tt.want {
		case "":
			mustRun(t, s, c)
		default:
			if e := mustRefuse(t, s, c, tt.want); e.Code != tt.code || e.Decision.Risk != tt.risk {
				t.Errorf("%+v: %+v", tt, e)
			}
		}
	}
}

// The verdict of the guardian counts as the table says: it avoids or causes a question. If the review failed, a person
// decides.
func TestReviewsCount(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		origin  tool.Origin
		risk    tool.Risk
		verdict tool.Risk
		least   tool.Risk
		want    tool.ErrorKind // empty: it runs
		rule    string         // of the published decision
	}{
		{origin: tool.Chat, risk: tool.RiskMedium, verdict: tool.RiskNone, least: tool.RiskHigh},
		{origin: tool.Chat, risk: tool.RiskMedium, verdict: tool.RiskMedium, least: tool.RiskHigh},
		{origin: tool.Chat, risk: tool.RiskMedium, verdict: tool.RiskMedium, least: tool.RiskMedium, want: tool.Unconfirmed, rule: "guardian.data_loss"},
		{origin: tool.Chat, risk: tool.RiskMedium, verdict: tool.RiskHigh, least: tool.RiskHigh, want: tool.Unconfirmed, rule: "guardian.data_loss"},
		{origin: tool.Chat, risk: tool.RiskHigh, verdict: tool.RiskNone, least: tool.RiskHigh, want: tool.Unconfirmed, rule: "high.high.chat"},
		{origin: tool.Chat, risk: tool.RiskLow, verdict: tool.ReviewFailed, want: tool.Unconfirmed, rule: "guardian.data_loss"},
		{origin: tool.CLIAgent, risk: tool.RiskLow, verdict: tool.RiskCritical, want: tool.Denied},
		{origin: tool.Scheduled, risk: tool.RiskLow, verdict: tool.ReviewFailed, want: tool.Denied},
		{origin: tool.Chat, risk: tool.RiskLow, verdict: "unheard of", want: tool.Denied},
		{origin: tool.Chat, risk: tool.RiskLow, verdict: tool.RiskHigh, least: "unheard of", want: tool.Denied},
	} {
		var told []string
		s := gate.New(gate.Options{Decided: func(_ *tool.Call, d tool.Decision) { told = append(told, d.Rule) }})
		c := newRemoveCall(nil)
		a := tooltest.Action("remove")
		c.Origin, c.Action = tt.origin, &a
		c.Review = &tool.Review{Rule: "guardian.data_loss", Reason: "it deletes", Verdict: tt.verdict, Threshold: tt.least}
		withRisk(c, tt.risk)
		if tt.want == "" {
			mustRun(t, s, c)
		} else {
			told = append(told, mustRefuse(t, s, c, tt.want).Decision.Rule)
		}
		if tt.rule != "" && !slices.Equal(told, []string{tt.rule}) {
			t.Errorf("%+v: told %q", tt, told)
		}
	}
}

// The outcome of a question is reported once, with its rule and how the person answered: in the error of a refused
// call, otherwise to Decided.
func TestDecisionsAreTold(t *testing.T) {
	t.Parallel()
	asks := &tool.Finding{Stage: "firewall", Rule: "command.unknown", Risk: tool.RiskHigh, Ask: true}
	for name, tt := range map[string]struct {
		caller  *fakePerson
		finding *tool.Finding
		origin  tool.Origin
		want    tool.Decision
	}{
		"yes":     {caller: personWhoAnswers(tool.CanConfirm, `{"confirm":true}`), origin: tool.Chat, want: tool.Decision{Stage: "gate", Rule: "alone.high.chat", Risk: tool.RiskHigh, Verdict: tool.Allowed, Approver: "program"}},
		"before":  {caller: personWhoAnswers(tool.CanConfirm, `{"confirm":true,"beforehand":true}`), origin: tool.Chat, want: tool.Decision{Stage: "gate", Rule: "alone.high.chat", Risk: tool.RiskHigh, Verdict: tool.Allowed, Approver: "beforehand"}},
		"no":      {caller: personWhoAnswers(tool.CanConfirm, `{"confirm":false}`), finding: asks, origin: tool.Chat, want: tool.Decision{Stage: "firewall", Rule: "command.unknown", Risk: tool.RiskHigh, Verdict: tool.Forbade, Approver: "program"}},
		"a form":  {caller: personWhoAnswers(tool.CanElicit, `{"action":"accept","content":{"confirm":true}}`), finding: asks, origin: tool.MCPLocal, want: tool.Decision{Stage: "firewall", Rule: "command.unknown", Risk: tool.RiskHigh, Verdict: tool.Allowed, Approver: "client"}},
		"nobody":  {caller: personWhoAnswers(tool.WantsProgress, ""), origin: tool.Chat, want: tool.Decision{Stage: "gate", Rule: "alone.high.chat", Risk: tool.RiskHigh, Verdict: tool.Forbade}},
		"a code":  {caller: personWhoAnswers(tool.WantsProgress, ""), finding: asks, origin: tool.MCPLocal, want: tool.Decision{Stage: "firewall", Rule: "command.unknown", Risk: tool.RiskHigh, Verdict: tool.Deferred}},
		"no harm": {caller: personWhoAnswers(tool.WantsProgress, ""), finding: &tool.Finding{Risk: tool.RiskLow}, origin: tool.Chat},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var told []tool.Decision
			s := gate.New(gate.Options{Dir: t.TempDir(), Decided: func(_ *tool.Call, d tool.Decision) { told = append(told, d) }})
			c := newRemoveCall(tt.caller)
			a := tooltest.Action("remove")
			a.Risk = tool.RiskHigh
			c.Origin, c.Action, c.Finding = tt.origin, &a, tt.finding
			_, err := runCall(t, s, c)
			if e, ok := errors.AsType[*tool.Error](err); ok {
				told = append(told, *e.Decision)
			}
			want := []tool.Decision{tt.want}
			if tt.want == (tool.Decision{}) {
				want = nil
			}
			if d := cmp.Diff(want, told); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}
