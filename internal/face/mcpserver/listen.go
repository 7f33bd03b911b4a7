package mcpserver

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"collie/internal/mcp"
	"collie/internal/tool"
)

// This file serves the subscriptions of modern clients: one open request on which all changes are sent.

// subscription is an open subscriptions/listen request (MCP 2026-07-28, Subscriptions).
type subscription struct {
	in   *mcp.Incoming
	meta json.RawMessage // the _meta of the result that ends the stream

	tools, prompts, resources bool
	uris                      []string

	mu sync.Mutex // held while a message is sent, so that the acknowledgement comes first
}

// listen answers with a stream of the changes the client wants, until the client goes away or the gateway stops.
func (s *Server) listen(ctx context.Context, in *mcp.Incoming) (json.RawMessage, error) {
	filter := mcp.Get(in.Params, "notifications")
	var want struct {
		Tools     bool     `json:"toolsListChanged"`
		Prompts   bool     `json:"promptsListChanged"`
		Resources bool     `json:"resourcesListChanged"`
		URIs      []string `json:"resourceSubscriptions"`
	}
	if filter == nil || json.Unmarshal(filter, &want) != nil {
		return nil, &mcp.Error{Code: mcp.CodeInvalidParams, Message: `params.notifications must be an object such as {"toolsListChanged":true}`}
	}
	l := &subscription{
		in: in, tools: want.Tools, prompts: want.Prompts, resources: want.Resources,
		meta: mcp.Edit(nil, mcp.Field{Key: mcp.MetaSubscription, Value: json.RawMessage(in.ID)}),
	}
	profile := client(in.Peer).Profile
	for _, uri := range want.URIs {
		if err := s.pipeline.Subscribe(ctx, profile, uri); err != nil {
			s.log.Debug("subscription not granted", "uri", uri, "error", err)
			continue
		}
		l.uris = append(l.uris, uri)
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), partingTime)
		defer cancel()
		for _, uri := range l.uris {
			if err := s.pipeline.Unsubscribe(ctx, profile, uri); err != nil {
				s.log.Debug("subscription not ended", "uri", uri, "error", err)
			}
		}
	}()
	listSession := &tool.Session{ID: tool.NewCallID(), Profile: profile, ListsOnly: true}
	s.pipeline.Join(listSession)
	s.acknowledge(l)
	defer func() {
		s.pipeline.Leave(listSession.ID)
		s.mu.Lock()
		delete(s.subscriptions, l)
		s.mu.Unlock()
	}()
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-s.opts.Stopping:
		return mcp.Edit(nil, mcp.Field{Key: "resultType", Value: json.RawMessage(`"complete"`)}, mcp.Field{Key: "_meta", Value: l.meta}), nil
	}
}

// acknowledge registers l and sends the acknowledgement. Changes from now on are sent after it, because it
// has to be the first message.
func (s *Server) acknowledge(l *subscription) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.mu.Lock()
	s.subscriptions[l] = struct{}{}
	s.mu.Unlock()
	l.send("notifications/subscriptions/acknowledged", mcp.Edit(nil, mcp.Field{Key: "notifications", Value: l.grantedFilter()}))
}

// grantedFilter returns the part of the filter that was granted: all kinds of lists, and the URIs that could be subscribed to.
func (l *subscription) grantedFilter() json.RawMessage {
	var fields []mcp.Field
	for key, on := range map[string]bool{
		"toolsListChanged": l.tools, "promptsListChanged": l.prompts, "resourcesListChanged": l.resources,
	} {
		if on {
			fields = append(fields, mcp.Field{Key: key, Value: json.RawMessage("true")})
		}
	}
	if len(l.uris) > 0 {
		raw, err := json.Marshal(l.uris)
		if err != nil {
			panic("mcpserver: strings do not encode: " + err.Error())
		}
		fields = append(fields, mcp.Field{Key: "resourceSubscriptions", Value: raw})
	}
	return mcp.Edit(nil, fields...)
}

// notify sends a notification with the subscription's id.
func (l *subscription) notify(method string, params json.RawMessage) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.send(method, params)
}

func (l *subscription) send(method string, params json.RawMessage) {
	meta := mcp.Edit(mcp.Get(params, "_meta"), mcp.Field{Key: mcp.MetaSubscription, Value: json.RawMessage(l.in.ID)})
	l.in.Notify(method, mcp.Edit(params, mcp.Field{Key: "_meta", Value: meta}))
}

func (l *subscription) wants(ch tool.Change) bool {
	switch ch.Kind {
	case tool.ToolsChanged:
		return l.tools
	case tool.PromptsChanged:
		return l.prompts
	case tool.ResourcesChanged:
		return l.resources
	case tool.ResourceUpdated:
		return slices.Contains(l.uris, ch.URI)
	case tool.LogMessage, tool.Notice: // in 2026-07-28 logs come only with requests, and no other notifications are subscribed to
	}
	return false
}

var listMethods = map[tool.ChangeKind]string{
	tool.ToolsChanged:     "notifications/tools/list_changed",
	tool.PromptsChanged:   "notifications/prompts/list_changed",
	tool.ResourcesChanged: "notifications/resources/list_changed",
}

// notifyChange notifies the clients that want to know of a change.
func (s *Server) notifyChange(ch tool.Change) {
	method, params := ch.Method, ch.Params
	if m, ok := listMethods[ch.Kind]; ok {
		method = m
	}
	s.mu.Lock()
	var peers []*mcp.Peer
	for p, sess := range s.sessions {
		if (ch.Session == "" || ch.Session == p.Session) && sess.wants(ch) {
			peers = append(peers, p)
		}
	}
	var subscriptions []*subscription
	for l := range s.subscriptions {
		if l.wants(ch) {
			subscriptions = append(subscriptions, l)
		}
	}
	s.mu.Unlock() // mayHear may compute a list to compare it, and must not block others meanwhile
	for _, p := range peers {
		if s.mayHear(p, ch) {
			p.Notify(method, params)
		}
	}
	for _, l := range subscriptions {
		if s.mayHear(l.in.Peer, ch) {
			l.notify(method, params)
		}
	}
}

// mayHear reports whether a client may be told of ch: of a changed list if its own list may differ, of messages and resources if
// its profile shows something of the server they come from.
func (s *Server) mayHear(p *mcp.Peer, ch tool.Change) bool {
	profile := client(p).Profile
	if ch.Differs != nil {
		return ch.Differs(profile)
	}
	ofOneServer := ch.Kind == tool.LogMessage || ch.Kind == tool.Notice || ch.Kind == tool.ResourceUpdated
	return !ofOneServer || ch.Source == "" || s.pipeline.Shows(profile, ch.Source)
}

func (s *session) wants(ch tool.Change) bool {
	switch ch.Kind {
	case tool.ResourceUpdated:
		return s.wantsURI(ch.URI)
	case tool.LogMessage:
		return s.wantsLog(ch.Level)
	case tool.ToolsChanged, tool.PromptsChanged, tool.ResourcesChanged, tool.Notice:
	}
	return true
}
