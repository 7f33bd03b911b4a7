package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"collie/internal/agent/acp"
	"collie/internal/chat"
	"collie/internal/llm"
	"collie/internal/tool"
)

// This file gives an agent of another program access to our tools, through an MCP endpoint that lives as long as the
// turn.

// Toolbox gives the agent of another program access to our tools during one turn.
type Toolbox struct {
	Principal, Profile string
	// Shows reports whether the agent sees the tool of that name; nil: it sees all.
	Shows func(name string) bool
	// Do runs a request through the pipeline. The person of the turn is asked if necessary, and the conversation shows
	// the call.
	Do func(ctx context.Context, r tool.Request) (tool.Result, error)
}

// Endpoint is the MCP server through which an agent uses a Toolbox.
type Endpoint struct {
	URL, Token string
	// Command starts a bridge to the server, for agents that support only servers on stdio. Env is the variable that
	// tells it the address.
	Command []string
	Env     [2]string
	Close   func()
}

// server returns the endpoint as the protocol describes it.
func (d *Endpoint) server(http bool) acp.Server {
	if http {
		return acp.Server{Name: "collie", URL: d.URL, Headers: [][2]string{{"Authorization", "Bearer " + d.Token}}}
	}
	return acp.Server{Name: "collie", Command: d.Command[0], Args: d.Command[1:], Env: [][2]string{d.Env}}
}

// openEndpoint starts an endpoint for our tools. servers is nil if there are no tools.
func (f *foreignTurn) openEndpoint(ctx context.Context, http bool) (servers []acp.Server, closeEndpoint func(), err error) {
	if f.agent.opts.Programs.Open == nil {
		return nil, func() {}, nil
	}
	f.set = f.agent.toolset(ctx, f.turn, &f.files)
	if len(f.set.tools) == 0 {
		return nil, func() {}, nil
	}
	patterns := len(f.turn.Config.Tools)+len(f.turn.Config.Deny)+len(f.files.agent.Tools)+len(f.files.agent.Deny) > 0
	box := &Toolbox{Principal: f.turn.Principal, Profile: f.set.profile, Do: f.runRequest}
	if patterns || len(f.barredTools()) > 0 {
		box.Shows = f.seesTool
	}
	endpoint, err := f.agent.opts.Programs.Open(ctx, box)
	if err != nil {
		return nil, nil, err
	}
	return []acp.Server{endpoint.server(http)}, endpoint.Close, nil
}

// barredTools returns the names of the tools that are shown to no model.
func (f *foreignTurn) barredTools() []string {
	if l := f.agent.tools.Load(); l != nil {
		return l.barred
	}
	return nil
}

// seesTool reports whether the agent sees a tool: the patterns of the turn and of the agent select it, and it is not
// barred.
func (f *foreignTurn) seesTool(name string) bool {
	return !slices.Contains(f.barredTools(), name) && selects(f.turn.Config.Tools, f.turn.Config.Deny, name) && selects(f.files.agent.Tools, f.files.agent.Deny, name)
}

// newCall returns a new id for a call.
func newCall() string {
	return "call_" + strings.ReplaceAll(uuid.Must(uuid.NewV7()).String(), "-", "")
}

// asRequest returns r as a request of the agent in this turn. Questions about it go to the person of the turn.
func (f *foreignTurn) asRequest(r tool.Request, call string) tool.Request {
	r.Origin, r.Principal, r.Session, r.Parent, r.Profile = tool.CLIAgent, f.turn.Principal, f.turn.Session, f.turn.ID+":0", f.set.profile
	r.Caller = &caller{agent: f.agent, turn: f.turn, sink: f.sink, call: call, name: r.Name, wait: f.watch, also: r.Caller}
	r.Taint = f.taints.String()
	if r.Client == "" {
		r.Client = f.files.agent.Name
	}
	return r
}

// runRequest implements [Toolbox.Do].
func (f *foreignTurn) runRequest(ctx context.Context, r tool.Request) (tool.Result, error) {
	ctx, done := f.untilTurnEnds(ctx)
	defer done()
	id := newCall()
	asked := f.asRequest(r, id)
	resolved, err := f.agent.opts.Pipeline.Resolve(ctx, asked)
	if err == nil {
		err = f.files.checkLevel(resolved)
	}
	if r.Kind != tool.KindCall { // resources and prompts change nothing and are not shown in the conversation
		if err != nil {
			return tool.Result{}, err
		}
		result, err := f.agent.opts.Pipeline.Do(ctx, asked)
		if err != nil {
			return result, err
		}
		return f.screenRead(context.WithoutCancel(ctx), r.Name, result)
	}
	start := time.Now()
	f.sink.Proposed(0, chat.ToolCall{ID: id, Name: r.Name, Args: r.Args})
	var result tool.Result
	switch {
	case !f.seesTool(r.Name):
		err = f.set.unknownError(r.Name)
	case err != nil && f.files.agent.Level != "": // exceeds the level, or its effects are unknown
	case f.isRefusedOften(r.Name):
		err = refusedOftenError(r.Name)
	default:
		if err = f.sink.Executing(ctx, id); err == nil {
			result, err = f.agent.opts.Pipeline.Do(ctx, asked)
			f.countRefusal(r.Name, err)
		}
	}
	part, state := llm.Part{Kind: llm.PartToolResult, Call: id, Name: r.Name}, chat.CallDone
	switch {
	case err != nil:
		part.Text, part.IsError, state = errorText(err), true, stateOf(err)
	default:
		part.Text, part.Files = resultText(result.Raw, true)
		if part.IsError = result.IsError; result.IsError {
			state = chat.CallFailed
		}
		var screened llm.Part
		if result, screened = f.screenResult(context.WithoutCancel(ctx), r.Name, part.Text, result); screened.Text != part.Text {
			part.Text, part.Files = screened.Text, nil
		}
	}
	f.sink.Answered(id, state, f.limitResult(context.WithoutCancel(ctx), part), time.Since(start).Milliseconds())
	return result, err
}

// untilTurnEnds returns ctx, cancelled when the turn ends. Until done is called, the agent does not count as silent.
func (f *foreignTurn) untilTurnEnds(ctx context.Context) (inner context.Context, done func()) {
	inner, cancel := context.WithCancelCause(ctx)
	stop := f.onTurnEnd(func() { cancel(&tool.Error{Op: "call", Kind: tool.Canceled, Message: "the turn ended"}) })
	f.mu.Lock()
	f.working++
	f.mu.Unlock()
	return inner, func() {
		f.mu.Lock()
		f.working--
		f.restartSilence()
		f.mu.Unlock()
		stop()
		cancel(nil)
	}
}

// isRefusedOften reports whether calls of name were refused so often in this turn that the person is not asked again.
func (f *foreignTurn) isRefusedOften(name string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.refused[name] >= maxRefusals
}

// refusedOftenError returns the error for a call of name that is refused without asking the person again.
func refusedOftenError(name string) error {
	return &tool.Error{Op: "call", Kind: tool.Declined, Subject: name, Message: "it was refused several times in this turn; the person is not asked about it again", Hint: "go on without it, and say what would be needed"}
}

// countRefusal counts err if it is a refusal.
func (f *foreignTurn) countRefusal(name string, err error) {
	switch tool.KindOf(err).Class() {
	case tool.Declined, tool.Denied, tool.Unconfirmed:
		f.mu.Lock()
		defer f.mu.Unlock()
		f.refused[name]++
	}
}

// permission is the [tool.Source] of calls for which agents ask permission. Run does nothing: that a call passes all
// stages is the permission.
type permission struct{}

var allowedResult = tool.Result{Raw: json.RawMessage(`{"content":[{"type":"text","text":"allowed"}]}`)}

// Name implements [tool.Source].
func (permission) Name() string { return engineCLI }

// Offer implements [tool.Source]. No catalog lists it.
func (permission) Offer() *tool.Offer { return &tool.Offer{} }

// Watch implements [tool.Source].
func (permission) Watch(func(tool.Change)) (stop func()) { return func() {} }

// Run implements [tool.Source].
func (permission) Run(context.Context, *tool.Call) (tool.Result, error) { return allowedResult, nil }

// Permit implements [acp.Client]: a call that the agent wants to make itself passes all stages like one of ours, is
// recorded, and the person of the turn decides.
func (f *foreignTurn) Permit(ctx context.Context, u acp.Call) (allowed, decided bool) {
	ctx, done := f.untilTurnEnds(ctx)
	defer done()
	f.mu.Lock()
	c := f.mergeCall(u)
	if c == nil || c.closed || f.ended {
		f.mu.Unlock()
		return false, true
	}
	f.showOnce(c)
	name, id, args, action := f.callName(&c.Call), c.id, c.argsJSON(), actionOfKind(c.Kind)
	action.Description = c.Title
	f.mu.Unlock()
	call := &tool.Call{
		Request: f.asRequest(tool.Request{Kind: tool.KindCall, Name: name, Args: args}, id), Source: permission{},
		Tool: ownToolPrefix + f.files.agent.Name, Action: action, Target: action.Name, Args: args,
	}
	err := f.files.checkLevel(call)
	switch {
	case err != nil:
	case f.isRefusedOften(name):
		err = refusedOftenError(name)
	default:
		_, err = f.agent.opts.Pipeline.DoCall(ctx, call)
		f.countRefusal(name, err)
	}
	if err == nil {
		return true, true
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !c.closed {
		f.closeCall(c, stateOf(err), errorText(err))
	}
	return false, ctx.Err() == nil
}

// actionOfKind returns the action for a kind of tool in the protocol. A person decides about each. Its risk follows
// from name and hints, as with every action of a foreign server, so that the firewall reads its arguments too.
func actionOfKind(kind string) *tool.Action {
	return &tool.Action{
		Name: cmp.Or(kind, "other"), InputSchema: json.RawMessage(`{"type":"object"}`), Dangerous: true,
		ReadOnly: kind == "read" || kind == "search" || kind == "think", Destructive: kind == "delete" || kind == "execute" || kind == "fetch" || kind == "" || kind == "other",
	}
}
