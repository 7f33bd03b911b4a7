package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"collie/internal/mcp"
	"collie/internal/source/upstream/entry"
	"collie/internal/source/upstream/inflight"
	"collie/internal/tool"
)

// methods are the MCP requests that the kinds of Call become.
var methods = map[tool.Kind]string{
	tool.KindCall:     "tools/call",
	tool.KindRead:     "resources/read",
	tool.KindPrompt:   "prompts/get",
	tool.KindComplete: "completion/complete",
}

const (
	// maxRounds bounds how often a modern server may ask in one call (Multi Round-Trip).
	maxRounds = 10
	// maxEmptyRounds bounds how often it may do so without a question.
	maxEmptyRounds = 3
)

// Run sends c to the server and returns what it says, byte for byte.
func (s *Server) Run(ctx context.Context, call *tool.Call) (tool.Result, error) {
	again, sent := false, false // sent: an earlier try may have taken effect
	for {
		conn, err := s.connectionFor(ctx, slotFor(call), true)
		if err != nil {
			next, err := s.successor(ctx, err)
			if err != nil {
				return tool.Result{}, afterTry(sent, err)
			}
			result, err := next.runInPlace(ctx, call)
			return result, afterTry(sent, err)
		}
		conn.meets(call.Session)
		result, err := conn.run(ctx, call)
		if err == nil {
			s.supervisor.Answered()
			return result, nil
		}
		if _, ok := errors.AsType[*tool.ProtocolError](err); ok || unreadable(err) {
			s.supervisor.Answered()
		}
		switch {
		case errors.Is(err, errNotInUse): // it was given up between here and there
			continue
		case again || ctx.Err() != nil || needsAuth(err) || !unsent(err) && !(lost(err) && s.mayRepeat(call)):
			return tool.Result{}, afterTry(sent, conn.explain(ctx, call, err))
		}
		again, sent = true, !unsent(err) && call.HasEffects()
		pauseFor(ctx, conn.Client.Link.Done(), endWait) // once more, on a new connection
	}
}

// afterTry is the error of a call, an earlier try of which may have taken effect if sent is set, whatever became of this one.
func afterTry(sent bool, err error) error {
	e, ok := errors.AsType[*tool.Error](err)
	if !sent || !ok || e.OutcomeUnknown {
		return err
	}
	unknown := *e
	unknown.OutcomeUnknown = true
	return &unknown
}

// slotFor is the connection that a call asks for.
func slotFor(call *tool.Call) slot { return slot{era: eraFor(call), session: call.Session} }

// Current returns the call's action as the server offers it now; see [tool.Refresher]. A
// server that does not run is started for it, and the caller is told so.
func (s *Server) Current(ctx context.Context, call *tool.Call) (*tool.Action, error) {
	if call.Action.Off != "" || s.listing.Live() && !s.leaving.Load() {
		return call.Action, nil
	}
	done := func() {}
	if !s.standing(slotFor(call)) {
		done = s.tellStarting(ctx, call)
	}
	_, err := s.connectionFor(ctx, slotFor(call), false) // Run may want another one
	done()
	if err != nil {
		next, err := s.successor(ctx, err)
		if err != nil {
			return nil, err
		}
		return next.Current(ctx, call)
	}
	return s.offered(call)
}

// offered returns the call's action as the last list of the server has it.
func (s *Server) offered(call *tool.Call) (*tool.Action, error) {
	for _, t := range s.Offer().Tools {
		for i := range t.Actions {
			if a := &t.Actions[i]; a.Name == call.Action.Name {
				return a, nil
			}
		}
	}
	return nil, &tool.Error{
		Op: "call", Kind: tool.Removed, Subject: call.Name, Message: "the server " + s.name + " does not offer this tool any more",
		Hint: "list the tools again",
	}
}

// tellStarting tells a caller who takes progress that the server is being started, and goes
// on telling until done is called. The values rise and stay below any of the server's own.
func (s *Server) tellStarting(ctx context.Context, call *tool.Call) (done func()) {
	token := inflight.TokenOf(call)
	if token == nil {
		return func() {}
	}
	begun := time.Now()
	tell := func() {
		waited := time.Since(begun)
		text := "starting " + s.name
		if s.settings().Runner && waited > time.Second {
			text += "; a first start may download"
		}
		call.Caller.Notify(ctx, "notifications/progress", mcp.Edit(nil,
			mcp.Field{Key: "progressToken", Value: token},
			mcp.Field{Key: "progress", Value: json.RawMessage(strconv.FormatFloat(waited.Seconds()/1e6, 'f', 9, 64))},
			mcp.Field{Key: "message", Value: mcp.Quote(text)}))
	}
	tell()
	over := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for pauseFor(ctx, over, startNews) {
			tell()
		}
	})
	return func() {
		close(over)
		wg.Wait()
	}
}

// startNews is how often a caller hears that a start goes on.
const startNews = 2 * time.Second

// lost reports whether a call may or may not have reached a server that went away.
func lost(err error) bool {
	e, ok := errors.AsType[*mcp.LinkError](err)
	return ok && !e.TooLarge && e.Status == 0 && !unreadable(err)
}

// unreadable reports whether a server answered a call with something that cannot be read:
// the call has been carried out.
func unreadable(err error) bool {
	_, ok := errors.AsType[*mcp.AnswerError](err)
	return ok
}

// mayRepeat reports whether a call that was lost may be sent again: the user says so, or a
// server that the user trusts says that it changes nothing or may be repeated.
func (s *Server) mayRepeat(call *tool.Call) bool {
	if call.Kind != tool.KindCall {
		return call.Kind != tool.KindRequest // the others read
	}
	conf := s.settings()
	if conf.Tools.Override[call.Target].Retry {
		return true
	}
	return conf.Trust == entry.Trusted && call.Action != nil && (call.Action.ReadOnly || call.Action.Idempotent)
}

// eraFor is the era a call asks for: that of the client that made it. A person at a terminal
// is of no era, but can be asked back only as the legacy one does.
func eraFor(call *tool.Call) mcp.Era {
	c := call.Caller
	switch {
	case c == nil:
		return 0
	case c.Supports(tool.TakesInputRequired):
		return mcp.Modern
	case call.Origin != tool.Direct, c.Supports(tool.CanElicit), c.Supports(tool.CanSample), c.Supports(tool.CanRoots):
		return mcp.Legacy
	}
	return 0
}

// startError makes sure that a failed start is an error with a kind.
func (s *Server) startError(err error) error {
	if _, ok := errors.AsType[*tool.Error](err); ok {
		return err
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return s.gaveUp(err, false)
	}
	return &tool.Error{Op: "start", Kind: tool.Unavailable, Subject: s.name, Err: err}
}

// gaveUp is the error of a call whose context ended before its answer came. sent says that
// it may have taken effect.
func (s *Server) gaveUp(err error, sent bool) error {
	e := &tool.Error{Op: "call", Kind: tool.Canceled, Subject: s.name, Err: err}
	if errors.Is(err, context.DeadlineExceeded) {
		e.Kind, e.OutcomeUnknown = tool.Timeout, sent
	}
	return e
}

func unsent(err error) bool {
	e, ok := errors.AsType[*mcp.LinkError](err)
	return ok && !e.Sent && !e.TooLarge && e.Status == 0
}

// run sends one call, and again with the answers where a modern server asks a caller who
// cannot take an input_required result.
func (c *conn) run(ctx context.Context, call *tool.Call) (tool.Result, error) {
	ctx, f := c.calls.Add(ctx, call, c.server.settings().ToolTimeout)
	if f == nil {
		return tool.Result{}, tooLate()
	}
	defer c.finish(f)
	if call.Kind == tool.KindRequest {
		if err := c.admit(call); err != nil {
			return tool.Result{}, err
		}
	}
	req := &mcp.Request{Method: methods[call.Kind], Params: c.params(f), Name: call.Target, ID: &f.Wire, Owner: f}
	switch call.Kind {
	case tool.KindComplete:
		req.Name = ""
	case tool.KindRequest:
		req.Method, req.Name = call.Target, ""
	case tool.KindCall, tool.KindRead, tool.KindPrompt:
	}
	if call.Kind == tool.KindCall {
		if h := c.server.listing.Headers(call.Target); h != nil {
			req.Header = h.Pairs(call.Args)
		}
	}
	base, empty := req.Params, 0
	for round := range maxRounds {
		resp, err := c.Client.Call(ctx, req)
		if err != nil {
			return tool.Result{}, inRound(round, err)
		}
		if resp.Error != nil {
			c.server.recheckTool(call, resp.Error)
			return tool.Result{}, protocolError(resp.Error)
		}
		if resp.ResultType != "input_required" {
			return tool.Result{Raw: resp.Result, IsError: resp.IsError, Type: resp.ResultType}, nil
		}
		if f.Caller.Supports(tool.TakesInputRequired) {
			return tool.Result{Raw: resp.Result, Type: resp.ResultType}, nil
		}
		if mcp.Get(resp.Result, "inputRequests") == nil {
			if empty++; empty >= maxEmptyRounds {
				break
			}
		}
		if req.Params, err = c.answers(ctx, f, base, resp.Result); err != nil {
			return tool.Result{}, err
		}
	}
	return tool.Result{}, &tool.Error{
		Op: "call", Kind: tool.Upstream, Subject: call.Name,
		Message: fmt.Sprintf("the server asked more than %d times", maxRounds),
	}
}

// finish says that a call has ended.
func (c *conn) finish(f *inflight.Call) {
	c.server.listing.Used(c.calls.Remove(f))
}

// inRound is the error of a round of a call. After the first one the server has got the call,
// whatever became of this one.
func inRound(round int, err error) error {
	e, ok := errors.AsType[*mcp.LinkError](err)
	if round == 0 || !ok || e.Sent {
		return err
	}
	sent := *e
	sent.Sent = true
	return &sent
}

// recheckTool fetches the tools again when a server says that it does not know one that we list.
func (s *Server) recheckTool(call *tool.Call, obj json.RawMessage) {
	code := string(mcp.Get(obj, "code"))
	if call.Kind != tool.KindCall || code != "-32601" && code != "-32602" {
		return
	}
	if code == "-32601" || strings.Contains(mcp.GetString(obj, "message"), call.Target) {
		s.listing.Ask(tool.ToolsChanged)
	}
}

// protocolError is a server's JSON-RPC error as it came.
func protocolError(raw json.RawMessage) *tool.ProtocolError {
	code, err := strconv.Atoi(string(mcp.Get(raw, "code")))
	if err != nil {
		code = mcp.CodeInternal
	}
	return &tool.ProtocolError{Code: code, Message: mcp.GetString(raw, "message"), Raw: raw}
}

// answers asks the caller everything that an input_required result asks for, in its order, and
// returns the parameters of the retry.
func (c *conn) answers(ctx context.Context, f *inflight.Call, params, result json.RawMessage) (json.RawMessage, error) {
	fields := []mcp.Field{{Key: "inputResponses"}, {Key: "requestState", Value: mcp.Get(result, "requestState")}}
	if requests := mcp.Get(result, "inputRequests"); requests != nil {
		if requests[0] != '{' {
			return nil, &tool.Error{Op: "call", Kind: tool.Upstream, Subject: f.Request.Name, Message: "inputRequests is not an object"}
		}
		var given json.RawMessage
		for key, ask := range mcp.Members(requests) {
			answer, err := c.askBack(ctx, f, mcp.GetString(ask, "method"), mcp.Get(ask, "params"))
			if err != nil {
				return nil, &tool.Error{Op: "call", Kind: tool.Upstream, Subject: f.Request.Name, Message: "the server asked for what the client does not give", Err: err}
			}
			given = mcp.Edit(given, mcp.Field{Key: key, Value: answer})
		}
		fields[0].Value = given
	}
	return mcp.Edit(params, fields...), nil
}

// params are the parameters as the server gets them: the caller's own, with the names that
// the server knows, our progress token, and the metadata of the server's era.
func (c *conn) params(f *inflight.Call) json.RawMessage {
	call := f.Request
	fields := make([]mcp.Field, 0, 4)
	switch call.Kind {
	case tool.KindCall:
		fields = append(fields, mcp.Field{Key: "name", Value: mcp.Quote(call.Target)})
		// Arguments that a client left out are not made up, and null stays null.
		given := mcp.Get(call.Params, "arguments")
		if call.Params == nil || string(call.Args) != "{}" || given != nil && string(given) != "null" {
			fields = append(fields, mcp.Field{Key: "arguments", Value: call.Args})
		}
	case tool.KindRead:
		fields = append(fields, mcp.Field{Key: "uri", Value: mcp.Quote(call.Target)})
	case tool.KindPrompt:
		fields = append(fields, mcp.Field{Key: "name", Value: mcp.Quote(call.Target)})
		if call.Params == nil {
			fields = append(fields, mcp.Field{Key: "arguments", Value: call.Args})
		}
	case tool.KindComplete:
		ref := mcp.Get(call.Params, "ref")
		if mcp.Get(ref, "name") != nil {
			fields = append(fields, mcp.Field{Key: "ref", Value: mcp.Edit(ref, mcp.Field{Key: "name", Value: mcp.Quote(call.Target)})})
		} else {
			fields = append(fields, mcp.Field{Key: "ref", Value: mcp.Edit(ref, mcp.Field{Key: "uri", Value: mcp.Quote(call.Target)})})
		}
	case tool.KindRequest:
		return c.requestParams(f)
	}
	meta := mcp.Get(call.Params, "_meta")
	if edited := c.meta(f, meta); edited != nil || meta != nil {
		fields = append(fields, mcp.Field{Key: "_meta", Value: edited})
	}
	return mcp.Edit(call.Params, fields...)
}

// requestParams are the parameters of a request that we do not know: as they came, but for what
// names another request, and the metadata.
func (c *conn) requestParams(f *inflight.Call) json.RawMessage {
	call := f.Request
	params := call.Params
	if len(params) > 0 && params[0] != '{' {
		return params
	}
	if theirs, ok := c.calls.Translate(messageOf(call)); ok {
		params = theirs
	}
	meta := mcp.Get(params, "_meta")
	if edited := c.meta(f, meta); edited != nil || meta != nil {
		params = mcp.Edit(params, mcp.Field{Key: "_meta", Value: edited})
	}
	return params
}

// messageOf is a request that we do not know as a message.
func messageOf(call *tool.Call) *tool.Message {
	return &tool.Message{Method: call.Name, Params: call.Params, Request: true, Principal: call.Principal, Session: call.Session}
}

// admit refuses a request that we do not know where the server would take it for one about another
// client's call.
func (c *conn) admit(call *tool.Call) error {
	m := messageOf(call)
	if !c.calls.IsAnothers(m) {
		return nil
	}
	if _, theirs := c.calls.Translate(m); theirs {
		return nil
	}
	return &tool.Error{
		Op: "request", Kind: tool.Invalid, Subject: call.Name,
		Message: "params.requestId or params.progressToken is not that of a request that this session has in flight",
		Hint:    "name a request by the id or the progress token that it was sent with, in the same session",
	}
}

// meta is the caller's metadata as the server gets it; nil where nothing is left of it.
func (c *conn) meta(f *inflight.Call, meta json.RawMessage) json.RawMessage {
	var fields []mcp.Field
	if f.Token != nil {
		fields = append(fields, mcp.Field{Key: "progressToken", Value: mcp.Quote(strconv.FormatUint(f.Seq, 10))})
	}
	if c.Client.Era == mcp.Modern {
		fields = append(fields, c.modernMeta(f, meta)...)
	} else if mcp.Get(meta, mcp.MetaVersion) != nil {
		for _, key := range []string{mcp.MetaVersion, mcp.MetaClientInfo, mcp.MetaCapabilities, mcp.MetaLogLevel} {
			fields = append(fields, mcp.Field{Key: key})
		}
	}
	if len(fields) == 0 {
		return meta
	}
	if meta = mcp.Edit(meta, fields...); string(meta) == "{}" {
		return nil
	}
	return meta
}

// modernMeta says to a modern server who calls and what the caller can do.
func (c *conn) modernMeta(f *inflight.Call, meta json.RawMessage) []mcp.Field {
	s := c.server
	caps := f.Caller.Capabilities()
	for name, mode := range map[string]entry.Answer{"sampling": s.settings().Sampling, "elicitation": s.settings().Elicitation} {
		if mode == entry.Off {
			caps = mcp.Edit(caps, mcp.Field{Key: name})
		}
	}
	fields := []mcp.Field{
		{Key: mcp.MetaVersion, Value: mcp.Quote(c.Client.Version)},
		{Key: mcp.MetaCapabilities, Value: caps},
	}
	if mcp.Get(meta, mcp.MetaClientInfo) == nil {
		fields = append(fields, mcp.Field{Key: mcp.MetaClientInfo, Value: s.set.opts.Info})
	}
	if level := s.wants.currentLevel(); level != "" && mcp.Get(meta, mcp.MetaVersion) == nil {
		fields = append(fields, mcp.Field{Key: mcp.MetaLogLevel, Value: mcp.Quote(level)})
	}
	return fields
}

// explain makes an error that says what happened to the call and what to do.
func (c *conn) explain(ctx context.Context, call *tool.Call, err error) error {
	if _, ok := errors.AsType[*tool.ProtocolError](err); ok {
		return err
	}
	if needsAuth(err) { // before the next, since what a sign-in lacks is a tool.Error too
		c.signedOut()
		return &tool.Error{
			Op: "call", Kind: tool.NeedsAuth, Subject: c.server.name, Message: c.server.redact(err.Error()), Hint: c.server.authHint(),
		}
	}
	effects := call.HasEffects()
	if ctx.Err() != nil && lost(err) { // why the call ends says more than what became of the connection meanwhile
		effects = effects && !unsent(err)
		err = context.Cause(ctx)
	}
	if e, ok := errors.AsType[*tool.Error](err); ok {
		return afterTry(effects && (e.Kind == tool.Timeout || e.Kind == tool.Canceled), err)
	}
	if ctx.Err() != nil {
		return c.server.gaveUp(err, effects)
	}
	link, ok := errors.AsType[*mcp.LinkError](err)
	if !ok {
		return &tool.Error{Op: "call", Kind: tool.Upstream, Subject: c.server.name, OutcomeUnknown: effects, Err: err}
	}
	out := &tool.Error{Op: "call", Kind: tool.Unavailable, Subject: c.server.name, OutcomeUnknown: effects && link.Sent && link.Status == 0}
	switch {
	case unreadable(err):
		out.Kind, out.Message = tool.Upstream, c.server.redact(link.Error())
		out.Hint = "this is for the server's author: every answer has to be valid JSON-RPC, without NaN or Infinity, at most 1,000 levels deep"
	case link.TooLarge:
		out.Kind, out.Message, out.Hint = tool.TooLarge, link.Error(), "ask for less, or raise limits.maxFrame"
	case link.Status != 0:
		out.Message = c.server.redact(link.Error())
		_, out.Hint = linkReason(link)
	case c.Process != nil:
		logs := "collie mcp logs " + c.server.name + " shows its output"
		if end := c.Ending(); end != "" {
			out.Kind, out.Message, out.Hint = tool.Crashed, "the server ended in mid-call: "+end, logs+"; the next call starts it again"
		} else {
			out.Message, out.Hint = c.server.redact(link.Error()), logs
		}
	default:
		out.Message = c.server.redact(link.Error())
		_, out.Hint = linkReason(link)
	}
	out.Message = strings.TrimSpace(out.Message)
	return out
}

// endWait is how long the end of a connection may take to show after a write failed.
const endWait = 500 * time.Millisecond

// requestLimit is how long the small requests of our own may take.
const requestLimit = 15 * time.Second
