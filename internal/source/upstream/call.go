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

// This file runs a call on a server: it starts the server if needed, and repeats the call if that is safe.

// methods maps each kind of Call to its MCP method.
var methods = map[tool.Kind]string{
	tool.KindCall:     "tools/call",
	tool.KindRead:     "resources/read",
	tool.KindPrompt:   "prompts/get",
	tool.KindComplete: "completion/complete",
}

const (
	// maxRounds bounds how often a modern server may ask for input in one call (MCP 2026-07-28, Multi Round-Trip
	// Requests).
	maxRounds = 10
	// maxEmptyRounds bounds how often it may do so without a question.
	maxEmptyRounds = 3
)

// Run sends call to the server and returns the result byte for byte.
func (s *Server) Run(ctx context.Context, call *tool.Call) (tool.Result, error) {
	again, sent := false, false // sent: an earlier try may have taken effect
	for {
		conn, err := s.connectionFor(ctx, slotFor(call), true)
		if err != nil {
			next, err := s.successor(ctx, err)
			if err != nil {
				return tool.Result{}, retryError(sent, err)
			}
			result, err := next.runInPlace(ctx, call)
			return result, retryError(sent, err)
		}
		conn.beforeCall(call.Session)
		result, err := conn.run(ctx, call)
		if err == nil {
			s.supervisor.Answered()
			return result, nil
		}
		if _, ok := errors.AsType[*tool.ProtocolError](err); ok || isUnreadable(err) {
			s.supervisor.Answered()
		}
		switch {
		case errors.Is(err, errNotInUse): // the connection was retired before the call was registered on it; nothing was sent
			continue
		case !again && ctx.Err() == nil && conn.renewHeaders(err): // nothing was carried out
			again = true
			continue
		case again || ctx.Err() != nil || needsAuth(err) || !wasNotSent(err) && !(isLost(err) && s.mayRepeat(call)):
			return tool.Result{}, retryError(sent, conn.explainError(ctx, call, err))
		}
		again, sent = true, !wasNotSent(err) && call.HasEffects()
		sleepFor(ctx, conn.Client.Link.Done(), endWait) // try again on a new connection
	}
}

// renewHeaders reports whether a call that failed with err is worth a try on a new connection, because the server asked
// for a sign-in and headersCommand may print a new token by now. It takes the connection out of use.
func (c *conn) renewHeaders(err error) bool {
	s := c.server
	if !needsAuth(err) || s.settings().HeadersCommand == nil {
		return false
	}
	p := s.pool.lock()
	defer s.pool.unlock()
	if key, held := p.slotWith(c); held && !p.closed {
		c.calls.Retire()
		s.remove(p, key)
		s.life.wg.Go(func() {
			c.drain(s.life.ctx, s.set.opts.Drain)
			c.Close(s.life.ctx)
		})
	}
	return true
}

// retryError adjusts the error of a repeated call. If an earlier try may have taken effect (sent), the outcome is
// unknown, whatever happened to the last try.
func retryError(sent bool, err error) error {
	e, ok := errors.AsType[*tool.Error](err)
	if !sent || !ok || e.OutcomeUnknown {
		return err
	}
	unknown := *e
	unknown.OutcomeUnknown = true
	return &unknown
}

// slotFor returns the slot of the connection that a call needs.
func slotFor(call *tool.Call) slot { return slot{era: eraFor(call), session: call.Session} }

// Current returns the call's action as the server offers it now; see [tool.Refresher]. It starts the server if
// necessary and reports that to the caller as progress.
func (s *Server) Current(ctx context.Context, call *tool.Call) (*tool.Action, error) {
	if call.Action.Off != "" || s.listing.Live() && !s.replaced.Load() {
		return call.Action, nil
	}
	done := func() {}
	if !s.isConnected(slotFor(call)) {
		done = s.tellStarting(ctx, call)
	}
	_, err := s.connectionFor(ctx, slotFor(call), false) // no call yet: Run may need another connection
	done()
	if err != nil {
		next, err := s.successor(ctx, err)
		if err != nil {
			return nil, err
		}
		return next.Current(ctx, call)
	}
	return s.offeredAction(call)
}

// offeredAction returns the call's action from the server's latest list.
func (s *Server) offeredAction(call *tool.Call) (*tool.Action, error) {
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

// tellStarting sends progress to a caller that asked for it while the server starts, until done is called. The
// progress values rise, and stay below any that the server itself sends.
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
		for sleepFor(ctx, over, startNews) {
			tell()
		}
	})
	return func() {
		close(over)
		wg.Wait()
	}
}

// startNews is the interval of these progress messages.
const startNews = 2 * time.Second

// isLost reports whether err leaves it open whether the call reached the server before the
// connection ended.
func isLost(err error) bool {
	e, ok := errors.AsType[*mcp.LinkError](err)
	return ok && !e.TooLarge && e.Status == 0 && !isUnreadable(err)
}

// isUnreadable reports whether err is about an answer that cannot be parsed. Such a call has been carried out.
func isUnreadable(err error) bool {
	_, ok := errors.AsType[*mcp.AnswerError](err)
	return ok
}

// mayRepeat reports whether a lost call may be sent again: for tools only if the user's settings allow it, or if a
// trusted server declares the tool read-only or idempotent.
func (s *Server) mayRepeat(call *tool.Call) bool {
	if call.Kind != tool.KindCall {
		return call.Kind != tool.KindRequest // reads, prompts and completions change nothing
	}
	conf := s.settings()
	if conf.Tools.Override[call.Target].Retry {
		return true
	}
	return conf.Trust == entry.Trusted && call.Action != nil && (call.Action.ReadOnly || call.Action.Idempotent)
}

// eraFor returns the era of the client that made a call. A command at a terminal has none; it is treated as legacy if
// it can be asked back, since its prompts work in that way.
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

// startError gives the error of a failed start a kind if it has none.
func (s *Server) startError(err error) error {
	if _, ok := errors.AsType[*tool.Error](err); ok {
		return err
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return s.endedError(err, false)
	}
	return &tool.Error{Op: "start", Kind: tool.Unavailable, Subject: s.name, Err: err}
}

// endedError returns the error for a call whose context ended before the answer came. sent says that the call may have
// taken effect.
func (s *Server) endedError(err error, sent bool) error {
	e := &tool.Error{Op: "call", Kind: tool.Canceled, Subject: s.name, Err: err}
	if errors.Is(err, context.DeadlineExceeded) {
		e.Kind, e.OutcomeUnknown = tool.Timeout, sent
	}
	return e
}

func wasNotSent(err error) bool {
	e, ok := errors.AsType[*mcp.LinkError](err)
	return ok && !e.Sent && !e.TooLarge && e.Status == 0
}

// run sends one call. If a modern server asks for input and the caller cannot take an input_required result, run asks
// the caller and sends the call again with the answers.
func (c *conn) run(ctx context.Context, call *tool.Call) (tool.Result, error) {
	ctx, f := c.calls.Add(ctx, call, c.server.settings().ToolTimeout)
	if f == nil {
		return tool.Result{}, tooLateError()
	}
	defer c.finish(f)
	if call.Kind == tool.KindRequest {
		if err := c.checkRequest(call); err != nil {
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
			return tool.Result{}, roundError(round, err)
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
				return tool.Result{}, &tool.Error{
					Op: "call", Kind: tool.Upstream, Subject: call.Name,
					Message: fmt.Sprintf("the server asked for input %d times without a question", empty),
				}
			}
		}
		if req.Params, err = c.answerQuestions(ctx, f, base, resp.Result); err != nil {
			return tool.Result{}, err
		}
	}
	return tool.Result{}, &tool.Error{
		Op: "call", Kind: tool.Upstream, Subject: call.Name,
		Message: fmt.Sprintf("the server asked more than %d times", maxRounds),
	}
}

// finish takes a call that has ended off the connection.
func (c *conn) finish(f *inflight.Call) {
	c.server.listing.Used(c.calls.Remove(f))
}

// roundError adjusts the error of one round of a call. From the second round on the server has received the call, so the
// error counts as sent.
func roundError(round int, err error) error {
	e, ok := errors.AsType[*mcp.LinkError](err)
	if round == 0 || !ok || e.Sent {
		return err
	}
	sent := *e
	sent.Sent = true
	return &sent
}

// recheckTool fetches the tools again when a server says that it does not know a tool in its list.
func (s *Server) recheckTool(call *tool.Call, obj json.RawMessage) {
	code := string(mcp.Get(obj, "code"))
	if call.Kind != tool.KindCall || code != "-32601" && code != "-32602" {
		return
	}
	if code == "-32601" || strings.Contains(mcp.GetString(obj, "message"), call.Target) {
		s.listing.Ask(tool.ToolsChanged)
	}
}

// protocolError returns a server's JSON-RPC error unchanged.
func protocolError(raw json.RawMessage) *tool.ProtocolError {
	code, err := strconv.Atoi(string(mcp.Get(raw, "code")))
	if err != nil {
		code = mcp.CodeInternal
	}
	return &tool.ProtocolError{Code: code, Message: mcp.GetString(raw, "message"), Raw: raw}
}

// answerQuestions asks the caller every question of an input_required result, in order, and returns the parameters for
// the retry.
func (c *conn) answerQuestions(ctx context.Context, f *inflight.Call, params, result json.RawMessage) (json.RawMessage, error) {
	fields := []mcp.Field{{Key: "inputResponses"}, {Key: "requestState", Value: mcp.Get(result, "requestState")}}
	if requests := mcp.Get(result, "inputRequests"); requests != nil {
		if requests[0] != '{' {
			return nil, &tool.Error{Op: "call", Kind: tool.Upstream, Subject: f.Request.Name, Message: "inputRequests is not an object"}
		}
		var answers json.RawMessage
		for key, ask := range mcp.Members(requests) {
			answer, err := c.answerQuestion(ctx, f, mcp.GetString(ask, "method"), mcp.Get(ask, "params"))
			if err != nil {
				return nil, &tool.Error{Op: "call", Kind: tool.Upstream, Subject: f.Request.Name, Message: "the server asked for something that the client does not provide", Err: err}
			}
			answers = mcp.Edit(answers, mcp.Field{Key: key, Value: answer})
		}
		fields[0].Value = answers
	}
	return mcp.Edit(params, fields...), nil
}

// params returns the parameters to send: the caller's own, with the server's name of the target, our progress token,
// and the metadata of the server's era.
func (c *conn) params(f *inflight.Call) json.RawMessage {
	call := f.Request
	fields := make([]mcp.Field, 0, 4)
	switch call.Kind {
	case tool.KindCall:
		fields = append(fields, mcp.Field{Key: "name", Value: mcp.Quote(call.Target)})
		// Missing arguments stay missing and null stays null.
		args := mcp.Get(call.Params, "arguments")
		if call.Params == nil || string(call.Args) != "{}" || args != nil && string(args) != "null" {
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
	if edited := c.callMeta(f, meta); edited != nil || meta != nil {
		fields = append(fields, mcp.Field{Key: "_meta", Value: edited})
	}
	return mcp.Edit(call.Params, fields...)
}

// requestParams returns the parameters of a request that MCP does not define: as they came, except for ids of other
// requests, which are translated, and the metadata.
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
	if edited := c.callMeta(f, meta); edited != nil || meta != nil {
		params = mcp.Edit(params, mcp.Field{Key: "_meta", Value: edited})
	}
	return params
}

// messageOf returns a call of kind request as a message.
func messageOf(call *tool.Call) *tool.Message {
	return &tool.Message{Method: call.Name, Params: call.Params, Request: true, Principal: call.Principal, Session: call.Session}
}

// checkRequest refuses an unknown request if the server would take it for one about another client's call.
func (c *conn) checkRequest(call *tool.Call) error {
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

// callMeta returns the caller's metadata for the server, nil if nothing of it is left.
func (c *conn) callMeta(f *inflight.Call, meta json.RawMessage) json.RawMessage {
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

// modernMeta returns the metadata that tells a modern server who calls and what the client can do.
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

// explainError turns err into an error that says what happened to the call and what to do.
func (c *conn) explainError(ctx context.Context, call *tool.Call, err error) error {
	if _, ok := errors.AsType[*tool.ProtocolError](err); ok {
		return err
	}
	if needsAuth(err) { // checked first: a missing sign-in is a tool.Error too
		c.signedOut()
		return &tool.Error{
			Op: "call", Kind: tool.NeedsAuth, Subject: c.server.name, Message: c.server.redact(err.Error()), Hint: c.server.authHint(),
		}
	}
	effects := call.HasEffects()
	if ctx.Err() != nil && isLost(err) { // the reason why the call ended explains more than the state of its connection
		effects = effects && !wasNotSent(err)
		err = context.Cause(ctx)
	}
	if e, ok := errors.AsType[*tool.Error](err); ok {
		return retryError(effects && (e.Kind == tool.Timeout || e.Kind == tool.Canceled), err)
	}
	if ctx.Err() != nil {
		return c.server.endedError(err, effects)
	}
	link, ok := errors.AsType[*mcp.LinkError](err)
	if !ok {
		return &tool.Error{Op: "call", Kind: tool.Upstream, Subject: c.server.name, OutcomeUnknown: effects, Err: err}
	}
	out := &tool.Error{Op: "call", Kind: tool.Unavailable, Subject: c.server.name, OutcomeUnknown: effects && link.Sent && link.Status == 0}
	switch {
	case isUnreadable(err):
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

// endWait bounds the wait for a connection to be known as ended after a write to it failed.
const endWait = 500 * time.Millisecond

// requestLimit bounds our own small requests to a server.
const requestLimit = 15 * time.Second
