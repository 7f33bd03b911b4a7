package web

import (
	"context"
	"net/http"
	"strings"

	"github.com/tidwall/gjson"

	"collie/internal/chat"
	"collie/internal/tool"
)

// This file keeps clients whose token is held to a profile away from the conversations of other profiles.

// idKinds maps the text before a path variable to what the variable identifies.
var idKinds = map[string]chat.IDKind{
	"sessions": chat.IDOfSession, "messages": chat.IDOfMessage, "turns": chat.IDOfTurn, "blobs": chat.IDOfAttachment,
}

// checkReach returns an error of kind NotFound if a request is about a conversation that its sender may not see.
func (a *api) checkReach(r *http.Request, route *Route) error {
	if route.Class != ClassChat {
		return nil
	}
	only := a.opts.Identify(r).Only
	if only == nil {
		return nil
	}
	what, id := partOf(r, route.Pattern)
	if what == "" || id == "" {
		return nil
	}
	s, err := a.chat(r)
	if err != nil {
		return err
	}
	return s.InProfile(r.Context(), *only, what, id)
}

// partOf returns the part of a conversation that a request is about; "" if it is about none.
func partOf(r *http.Request, pattern string) (what chat.IDKind, id string) {
	if strings.HasSuffix(pattern, "/blobs") {
		return chat.IDOfSession, r.URL.Query().Get("session")
	}
	before, variable, found := strings.Cut(pattern, "/{")
	if !found {
		return "", ""
	}
	name, _, _ := strings.Cut(variable, "}")
	return idKinds[before[strings.LastIndexByte(before, '/')+1:]], r.PathValue(name)
}

// reach filters the events of conversations that a client may see. The zero value allows all.
type reach struct {
	service *chat.Service
	only    *string
	known   map[string]bool // by session
}

// filter returns the events that the client may see.
func (c *reach) filter(ctx context.Context, events []*chat.Event) []*chat.Event {
	if c.only == nil {
		return events
	}
	var seen []*chat.Event
	for _, e := range events {
		if e.Session == "" || c.maySee(ctx, e) {
			seen = append(seen, e)
		}
	}
	return seen
}

// maySee reports whether the client may see an event of a session. The result is cached, because a session's profile
// changes only with an event of that session. For a deleted session the cached result counts. An event whose session
// cannot be read is hidden, and the next one reads it again.
func (c *reach) maySee(ctx context.Context, e *chat.Event) bool {
	sees, known := c.known[e.Session]
	changed := e.Kind == "session" && gjson.GetBytes(e.Body, "revision").Int() != 0
	if !known || changed {
		err := c.service.InProfile(ctx, *c.only, chat.IDOfSession, e.Session)
		if sees = err == nil; !sees && tool.KindOf(err) != tool.NotFound {
			delete(c.known, e.Session)
			return false
		}
		c.known[e.Session] = sees
	}
	return sees
}
