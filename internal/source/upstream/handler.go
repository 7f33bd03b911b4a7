package upstream

import (
	"context"
	"encoding/json"

	"collie/internal/mcp"
	"collie/internal/source/upstream/inflight"
	"collie/internal/tool"
)

// This file handles the notifications that a server sends. Its requests are handled in ask.go.

var _ mcp.Handler = (*conn)(nil)

// Notification handles a notification from the server.
func (c *conn) Notification(m mcp.Message, owner any) {
	s := c.server
	f, _ := owner.(*inflight.Call)
	switch m.Method {
	case "notifications/progress":
		if f == nil {
			f = c.calls.ByToken(mcp.Get(m.Params, "progressToken"))
		}
		if f != nil {
			f.Progressed(m.Params)
		}
	case "notifications/tools/list_changed":
		s.listing.Ask(tool.ToolsChanged)
	case "notifications/resources/list_changed":
		s.listing.Ask(tool.ResourcesChanged)
	case "notifications/prompts/list_changed":
		s.listing.Ask(tool.PromptsChanged)
	case "notifications/resources/updated":
		if isLate(m.Params, owner) {
			return
		}
		s.watchers.notify(tool.Change{
			Kind: tool.ResourceUpdated, Source: s.name, Method: m.Method,
			Params: withoutSubscription(m.Params), URI: mcp.GetString(m.Params, "uri"),
		})
	case "notifications/message":
		c.forwardLog(m, f)
	case "notifications/subscriptions/acknowledged":
		if sub, ok := owner.(*subscription); ok && sub != nil {
			sub.confirm()
		}
	case "notifications/cancelled":
	default:
		c.forwardUnknown(m, f)
	}
}

// forwardLog forwards a log message. If the transport says which call it came for, it goes to that caller. Otherwise it
// goes to all sessions, and to the only modern caller in flight, which has no other way to get logs.
func (c *conn) forwardLog(m mcp.Message, f *inflight.Call) {
	if f != nil {
		f.Caller.Notify(context.Background(), m.Method, m.Params)
		return
	}
	if f, _ := c.calls.Owner(); f != nil && f.Caller.Supports(tool.TakesInputRequired) {
		f.Caller.Notify(context.Background(), m.Method, m.Params)
	}
	c.server.watchers.notify(tool.Change{
		Kind: tool.LogMessage, Source: c.server.name, Method: m.Method, Params: withoutSubscription(m.Params),
		Level: mcp.GetString(m.Params, "level"), Session: c.session(),
	})
}

// forwardUnknown forwards a notification that MCP does not define: to the caller of the call that it names or came for,
// else to the caller of the only call in flight, else to all sessions.
func (c *conn) forwardUnknown(m mcp.Message, f *inflight.Call) {
	params := m.Params
	if g, theirs := c.calls.Named(params); g != nil {
		f, params = g, theirs
	} else if f == nil {
		f, _ = c.calls.Owner()
	}
	if f != nil {
		f.Caller.Notify(context.Background(), m.Method, params)
		return
	}
	c.server.watchers.notify(tool.Change{
		Kind: tool.Notice, Source: c.server.name, Method: m.Method, Params: withoutSubscription(params), Session: c.session(),
	})
}

// withoutSubscription removes the id of our own subscription, because clients do not know it.
func withoutSubscription(params json.RawMessage) json.RawMessage {
	meta := mcp.Get(params, "_meta")
	if mcp.Get(meta, mcp.MetaSubscription) == nil {
		return params
	}
	meta = mcp.Edit(meta, mcp.Field{Key: mcp.MetaSubscription})
	if string(meta) == "{}" {
		meta = nil
	}
	return mcp.Edit(params, mcp.Field{Key: "_meta", Value: meta})
}
