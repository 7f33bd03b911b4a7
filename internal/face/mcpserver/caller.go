package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"collie/internal/mcp"
	"collie/internal/tool"
)

// caller is the [tool.Caller] for the client of one request.
type caller struct {
	server *Server
	in     *mcp.Incoming
}

var _ tool.Caller = (*caller)(nil)

// ID returns the client's session or stream. A modern client over HTTP has neither (2026-07-28 is stateless)
// and is identified by the name it gives itself. A client with a false name can pose only as another client
// with the same token.
func (c *caller) ID() string {
	if c.in.Peer.Session != "" {
		return "session " + c.in.Peer.Session
	}
	if stream := client(c.in.Peer).Stream; stream != "" {
		return "stream " + stream
	}
	return "client " + mcp.GetString(c.in.Peer.Info, "name")
}

// Supports goes by the capabilities that the client declared.
func (c *caller) Supports(capability tool.Capability) bool {
	switch capability {
	case tool.CanSample, tool.CanElicit, tool.CanRoots:
		return c.in.Peer.Can(string(capability))
	case tool.TakesInputRequired:
		return c.in.Peer.Era == mcp.Modern
	case tool.SpeaksForPerson:
		mute := client(c.in.Peer).Mute
		return mute == nil || !mute.Load()
	case tool.CanConfirm: // no declaration makes a client one of our own programs
	case tool.WantsProgress:
		return mcp.Get(c.in.Params, "_meta", "progressToken") != nil
	case tool.Attends:
		return c.in.Heard()
	case tool.TakesAnyRequest:
		return c.in.Peer.Era == mcp.Legacy
	}
	return false
}

// Capabilities returns the client's own object.
func (c *caller) Capabilities() json.RawMessage { return c.in.Peer.Capabilities }

// Notify passes a notification on. Log messages are filtered by the level that the client wants.
func (c *caller) Notify(_ context.Context, method string, params json.RawMessage) {
	if method == "notifications/message" && !c.wantsLog(mcp.GetString(params, "level")) {
		return
	}
	c.in.Notify(method, params)
}

// wantsLog reports whether the client wants log messages of a level. A modern client says so with each
// request, a legacy one once for its session.
func (c *caller) wantsLog(level string) bool {
	if c.in.Peer.Era == mcp.Modern {
		return atLeast(level, mcp.GetString(c.in.Params, "_meta", mcp.MetaLogLevel))
	}
	s := c.server.session(c.in.Peer)
	return s != nil && s.wantsLog(level)
}

// Ask asks the client.
func (c *caller) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	return answerOf(c.in.Ask(ctx, method, params))
}

// answerOf converts a client's refusal to the error that [tool.Caller] documents.
func answerOf(result json.RawMessage, err error) (json.RawMessage, error) {
	if e, ok := errors.AsType[*mcp.RPCError](err); ok {
		return nil, &tool.ProtocolError{Code: e.Code(), Message: mcp.GetString(e.Raw, "message"), Raw: e.Raw}
	}
	return result, err
}

// levels are the log levels of MCP, least severe first.
var levels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// atLeast reports whether level is at least as severe as least. If least is empty or unknown, it returns
// false.
func atLeast(level, least string) bool {
	wish := slices.Index(levels, least)
	return wish >= 0 && slices.Index(levels, level) >= wish
}
