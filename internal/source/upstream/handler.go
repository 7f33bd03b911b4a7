package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"collie/internal/mcp"
	"collie/internal/source/upstream/entry"
	"collie/internal/tool"
)

var _ mcp.Handler = (*conn)(nil)

// Notification takes what the server tells of its own accord.
func (c *conn) Notification(m mcp.Message, owner any) {
	s := c.server
	f, _ := owner.(*flight)
	switch m.Method {
	case "notifications/progress":
		if f == nil {
			f = c.byToken(mcp.Get(m.Params, "progressToken"))
		}
		if f != nil {
			f.advance(m.Params)
		}
	case "notifications/tools/list_changed":
		s.lists.ask(tool.ToolsChanged)
	case "notifications/resources/list_changed":
		s.lists.ask(tool.ResourcesChanged)
	case "notifications/prompts/list_changed":
		s.lists.ask(tool.PromptsChanged)
	case "notifications/resources/updated":
		if late(m.Params, owner) {
			return
		}
		s.watch.tell(tool.Change{
			Kind: tool.ResourceUpdated, Source: s.name, Method: m.Method,
			Params: withoutSubscription(m.Params), URI: mcp.GetString(m.Params, "uri"),
		})
	case "notifications/message":
		c.logged(m, f)
	case "notifications/subscriptions/acknowledged":
		if sub, ok := owner.(*subscription); ok && sub != nil {
			sub.confirm()
		}
	case "notifications/cancelled":
	default:
		c.other(m, f)
	}
}

// logged passes a log message on: to the caller whose call it came for, where the
// transport says so; else to all sessions, and to the one modern caller in flight, who
// gets logs in no other way.
func (c *conn) logged(m mcp.Message, f *flight) {
	if f != nil {
		f.caller.Notify(context.Background(), m.Method, m.Params)
		return
	}
	if f, _ := c.only(); f != nil && f.caller.Supports(tool.TakesInputRequired) {
		f.caller.Notify(context.Background(), m.Method, m.Params)
	}
	c.server.watch.tell(tool.Change{
		Kind: tool.LogMessage, Source: c.server.name, Method: m.Method, Params: withoutSubscription(m.Params),
		Level: mcp.GetString(m.Params, "level"),
	})
}

// other passes on a notification that we do not know.
func (c *conn) other(m mcp.Message, f *flight) {
	if f == nil {
		f, _ = c.only()
	}
	if f != nil {
		f.caller.Notify(context.Background(), m.Method, m.Params)
		return
	}
	c.server.watch.tell(tool.Change{Kind: tool.Notice, Source: c.server.name, Method: m.Method, Params: withoutSubscription(m.Params)})
}

// withoutSubscription removes the id of our own subscription, which means nothing to
// anybody else.
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

// Request answers what a legacy server asks back (7.5).
func (c *conn) Request(ctx context.Context, m mcp.Message, owner any) (json.RawMessage, error) {
	if m.Method == "ping" {
		return json.RawMessage("{}"), nil
	}
	if f, ok := owner.(*flight); ok && f != nil {
		return c.server.askBack(ctx, f, m.Method, m.Params)
	}
	for {
		f, several := c.only()
		if several && m.Method != "roots/list" {
			return nil, &mcp.Error{
				Code: mcp.CodeInternal,
				Message: "several clients have calls in flight and the transport does not say whose question this is; " +
					`"isolation": "session" gives each client a process of its own`,
			}
		}
		result, err := c.server.askBack(ctx, f, m.Method, m.Params)
		if _, answered := errors.AsType[*mcp.RPCError](err); err == nil || answered || f == nil || c.flies(f) || ctx.Err() != nil {
			return result, err
		}
		// It was another call's question, and this one ended meanwhile.
	}
}

// askBack puts a server's question to the caller of the call it belongs to, or answers it
// from the configuration. f may be nil.
func (s *Server) askBack(ctx context.Context, f *flight, method string, params json.RawMessage) (json.RawMessage, error) {
	var need tool.Capability
	var limit time.Duration
	mode := entry.Forward
	switch method {
	case "sampling/createMessage":
		need, limit, mode = tool.CanSample, 2*time.Minute, s.settings().Sampling
	case "elicitation/create":
		need, limit, mode = tool.CanElicit, 5*time.Minute, s.settings().Elicitation
	case "roots/list":
		need, limit = tool.CanRoots, time.Minute
		if len(s.settings().Roots) > 0 {
			return rootsResult(reveal(s.settings().Roots)), nil
		}
	default:
		return nil, &mcp.Error{Code: mcp.CodeMethodNotFound, Message: "Collie does not know the method " + method}
	}
	if f == nil || mode == entry.Off || mode == entry.Ask || !f.caller.Supports(need) {
		return decline(method, mode)
	}
	resume := f.pause()
	defer resume()
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("nobody answered %s within %v", method, limit))
	defer cancel()
	defer context.AfterFunc(f.ctx, cancel)() // nobody is there to ask once the call is over
	result, err := f.caller.Ask(ctx, method, params)
	if err != nil {
		if e, ok := errors.AsType[*tool.ProtocolError](err); ok {
			return nil, &mcp.RPCError{Raw: e.Raw}
		}
		return nil, &mcp.Error{Code: mcp.CodeInternal, Message: err.Error()}
	}
	return result, nil
}

// decline answers for a caller who cannot be asked, or must not be.
func decline(method string, mode entry.Answer) (json.RawMessage, error) {
	why := "the client cannot be asked"
	switch mode {
	case entry.Off:
		why = "switched off for this server"
	case entry.Ask:
		why = "a person would have to agree first, and nobody can be asked here"
	case entry.Forward:
	}
	switch method {
	case "elicitation/create":
		return json.RawMessage(`{"action":"decline"}`), nil
	case "roots/list":
		return json.RawMessage(`{"roots":[]}`), nil
	}
	return nil, &mcp.Error{Code: mcp.CodeMethodNotFound, Message: method + ": " + why}
}

// rootsResult answers roots/list with the roots of the configuration, paths or URIs.
func rootsResult(roots []string) json.RawMessage {
	type root struct {
		URI  string `json:"uri"`
		Name string `json:"name,omitempty"`
	}
	list := make([]root, len(roots))
	for i, r := range roots {
		list[i] = root{URI: r, Name: filepath.Base(r)}
		if !strings.Contains(r, "://") {
			list[i].URI = (&url.URL{Scheme: "file", Path: filepath.ToSlash(r)}).String()
		}
	}
	raw, err := json.Marshal(map[string]any{"roots": list})
	if err != nil {
		panic("upstream: roots do not encode: " + err.Error())
	}
	return raw
}
