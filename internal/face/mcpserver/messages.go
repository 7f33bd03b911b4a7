package mcpserver

import (
	"context"
	"encoding/json"
	"strings"

	"collie/internal/mcp"
	"collie/internal/tool"
)

// ownMethods is the prefix of this program's own methods, which are never forwarded.
const ownMethods = "collie/"

// taskMethods is the prefix of the methods about tasks of 2025-11-25. They are not supported, because the
// tasks of a shared server would be visible to all its clients.
const taskMethods = "tasks/"

// isOurs reports whether a method must never reach a server, because it is about the session between a client
// and this program. A server that several clients share would, for example, start again for all of them after
// an initialize of one.
func isOurs(method string) bool {
	switch method {
	case "initialize", "server/discover", "ping", "notifications/initialized", "notifications/cancelled":
		return true
	}
	return strings.HasPrefix(method, ownMethods) || strings.HasPrefix(method, taskMethods)
}

// forward sends a request with an unknown method through the pipeline to the server it is for.
func (s *Server) forward(ctx context.Context, in *mcp.Incoming) (json.RawMessage, error) {
	if isOurs(in.Method) || strings.HasPrefix(in.Method, "notifications/") {
		return nil, methodNotFound(in.Method)
	}
	args := in.Params
	if args == nil {
		args = json.RawMessage("{}")
	}
	return s.run(ctx, in, tool.Request{Kind: tool.KindRequest, Name: in.Method, Args: args})
}

// Notified passes on a client's notification. It does not get those that the protocol layer handles.
func (s *Server) Notified(p *mcp.Peer, m mcp.Message) {
	principal := client(p)
	if isOurs(m.Method) || !s.pipeline.Tell(&tool.Message{
		Method: m.Method, Params: m.Params, Principal: principal.Principal, Session: p.Session, Profile: principal.Profile,
	}) {
		s.log.Debug("notification of a client is for nobody", "method", m.Method)
	}
}

// sessionCaller is the [tool.Caller] for the client of a session outside of its requests.
type sessionCaller struct {
	server *Server
	peer   *mcp.Peer
}

var _ tool.Caller = (*sessionCaller)(nil)

// ID returns "": it is used only during a call.
func (*sessionCaller) ID() string { return "" }

// Supports goes by what the client declared.
func (r *sessionCaller) Supports(capability tool.Capability) bool {
	switch capability {
	case tool.CanSample, tool.CanElicit, tool.CanRoots:
		return r.peer.Can(string(capability))
	case tool.TakesAnyRequest:
		return true
	case tool.TakesInputRequired, tool.CanConfirm, tool.WantsProgress, tool.Attends:
	}
	return false
}

// Capabilities returns the client's own capabilities object.
func (r *sessionCaller) Capabilities() json.RawMessage { return r.peer.Capabilities }

// Notify passes a notification on. Log messages are held to the level the client asked for.
func (r *sessionCaller) Notify(_ context.Context, method string, params json.RawMessage) {
	if s := r.server.session(r.peer); method != "notifications/message" || s != nil && s.wantsLog(mcp.GetString(params, "level")) {
		r.peer.Notify(method, params)
	}
}

// Ask asks the client.
func (r *sessionCaller) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	return answerOf(r.peer.Ask(ctx, method, params))
}
