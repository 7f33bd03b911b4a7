package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"collie/internal/mcp"
	"collie/internal/source/upstream/entry"
	"collie/internal/source/upstream/inflight"
	"collie/internal/tool"
	"collie/internal/units"
)

// This file passes a server's requests on to clients.

const (
	// ownMethods is the prefix of the gateway's own methods, which no server may use.
	ownMethods  = "collie/"
	methodRoots = "roots/list"
	// lookAgain is how often a pending question checks that the client of its call still reads.
	lookAgain = time.Second
)

var errMoved = errors.New("the question is put again in a call whose client reads")

// Request answers a request that a legacy server sends to its client.
func (c *conn) Request(ctx context.Context, m mcp.Message, owner any) (json.RawMessage, error) {
	if m.Method == "ping" {
		return json.RawMessage("{}"), nil
	}
	if f, params := c.calls.Named(m.Params); f != nil {
		return c.answerQuestion(ctx, f, m.Method, params)
	}
	if f, ok := owner.(*inflight.Call); ok && f != nil {
		return c.answerQuestion(ctx, f, m.Method, m.Params)
	}
	for {
		f, several := c.calls.Owner()
		switch {
		case f == nil && m.Method == methodRoots:
			return c.rootsOutside(ctx, m.Params, several)
		case several:
			return nil, c.server.ambiguousOwner()
		}
		result, err := c.askUnlessMoved(ctx, f, m)
		again := errors.Is(err, errMoved) || errors.Is(err, inflight.ErrOver) // it turned out to belong to another call
		if f == nil || !again || ctx.Err() != nil {
			return result, err
		}
	}
}

// ambiguousOwner returns the error for a question that could belong to several clients.
func (s *Server) ambiguousOwner() *mcp.Error {
	return &mcp.Error{
		Code: mcp.CodeInternal,
		Message: fmt.Sprintf("several clients have calls in flight at the server %q, and its transport does not say whose question this is; "+
			`with "isolation": "session" in the entry %q of mcpServers, in the settings of Collie, each client has a process of its own`, s.name, s.name),
	}
}

// askUnlessMoved answers a question as answerQuestion does, but fails with errMoved if the client of f stops reading
// while the client of another call of the same session still reads: the transport does not say which call a question
// belongs to, so the other call is then tried.
func (c *conn) askUnlessMoved(ctx context.Context, f *inflight.Call, m mcp.Message) (json.RawMessage, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if f != nil && f.Caller.Supports(tool.Attends) {
		go func() { // ends with the question
			for sleepFor(ctx, nil, lookAgain) {
				g, _ := c.calls.Owner()
				if g == nil || g == f {
					continue
				}
				if stillReads := f.Caller.Supports(tool.Attends); !stillReads && g.Caller.Supports(tool.Attends) {
					cancel(errMoved)
				}
			}
		}()
	}
	return c.answerQuestion(ctx, f, m.Method, m.Params)
}

// answerQuestion answers a server's question: from the configuration, or by asking the caller of the call f that it
// belongs to. It declines for a caller that cannot or must not be asked, and if f is nil.
func (c *conn) answerQuestion(ctx context.Context, f *inflight.Call, method string, params json.RawMessage) (json.RawMessage, error) {
	conf := c.server.settings()
	var need tool.Capability
	var limit time.Duration
	mode := entry.Forward
	switch method {
	case "sampling/createMessage":
		need, limit, mode = tool.CanSample, 2*time.Minute, conf.Sampling
	case "elicitation/create":
		need, limit, mode = tool.CanElicit, 5*time.Minute, conf.Elicitation
	case methodRoots:
		need, limit = tool.CanRoots, time.Minute
		if len(conf.Roots) > 0 {
			return rootsResult(entry.Reveal(conf.Roots)), nil
		}
	default:
		need, limit = tool.TakesAnyRequest, 5*time.Minute
		if strings.HasPrefix(method, ownMethods) {
			f = nil
		}
	}
	if f == nil || mode == entry.Off || mode == entry.Ask || !f.Caller.Supports(need) {
		return decline(method, mode)
	}
	if method == methodRoots {
		c.roots.recordSent(f.Request.Session)
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	answered, ok := f.Question(end) // canceled when the call ends, because then nobody can answer any more
	if !ok {
		return nil, inflight.ErrOver
	}
	defer answered()
	resume := f.Pause()
	defer resume()
	return c.askCaller(ctx, f.Caller, f.Request.Session, limit, method, params)
}

// askCaller sends a question to a caller and returns its answer. limit bounds how long the caller may take.
func (c *conn) askCaller(
	ctx context.Context, caller tool.Caller, session string, limit time.Duration, method string, params json.RawMessage,
) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("no answer to %s within %s", method, units.DurationWords(limit)))
	defer cancel()
	params, forget := c.server.questions.swapToken(c, session, params)
	defer forget()
	result, err := caller.Ask(ctx, method, params)
	if e, ok := errors.AsType[*tool.ProtocolError](err); ok {
		return nil, &mcp.RPCError{Raw: e.Raw}
	}
	return result, err
}

// decline returns the answer for a caller that cannot or must not be asked.
func decline(method string, mode entry.Answer) (json.RawMessage, error) {
	why := "the client cannot be asked"
	switch mode {
	case entry.Off:
		why = "switched off for this server"
	case entry.Ask:
		why = "a person would have to agree first, but nobody here can be asked"
	case entry.Forward:
	}
	switch method {
	case "elicitation/create":
		return json.RawMessage(`{"action":"decline"}`), nil
	case methodRoots:
		return json.RawMessage(`{"roots":[]}`), nil
	}
	return nil, &mcp.Error{Code: mcp.CodeMethodNotFound, Message: method + ": " + why}
}
