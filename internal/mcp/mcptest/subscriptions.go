package mcptest

import (
	"context"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// This file serves subscriptions, and changes lists and resources so that there is something to notify of.

// listen is one open subscriptions/listen request of 2026-07-28.
type listen struct {
	call  *call
	kinds []string // lists whose changes it wants
	uris  []string // resources whose updates it wants
}

// listenFields are the filter's fields for changed lists.
var listenFields = []struct{ kind, field string }{
	{"tools", "toolsListChanged"},
	{"prompts", "promptsListChanged"},
	{"resources", "resourcesListChanged"},
}

// listen serves a subscription until ctx ends.
func (s *server) listen(ctx context.Context, c *call) { s.keepListen(ctx, s.openListen(c)) }

// openListen acknowledges a subscription. Once it has returned, the client receives what it subscribed to.
func (s *server) openListen(c *call) *listen {
	l := &listen{call: c}
	var honoured strings.Builder
	filter := c.params.Get("notifications")
	for _, f := range listenFields {
		if filter.Get(f.field).Bool() && s.opts.has(f.kind) {
			l.kinds = append(l.kinds, f.kind)
			honoured.WriteString(`,"` + f.field + `":true`)
		}
	}
	if uris := filter.Get("resourceSubscriptions"); uris.IsArray() && s.opts.has("resources") {
		for _, u := range uris.Array() {
			l.uris = append(l.uris, u.Str)
		}
		honoured.WriteString(`,"resourceSubscriptions":` + uris.Raw)
	}
	// Registered while holding the lock under which the acknowledgement is sent, because that has to be the
	// subscription's first message.
	s.mu.Lock()
	defer s.mu.Unlock()
	c.notify("notifications/subscriptions/acknowledged", `{"_meta":`+l.metaJSON()+`,"notifications":{`+trimComma(honoured.String())+`}}`)
	s.listens[l] = true
	return l
}

// keepListen keeps a subscription open until ctx ends.
func (s *server) keepListen(ctx context.Context, l *listen) {
	<-ctx.Done()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.listens, l)
}

func (l *listen) metaJSON() string { return `{"` + metaSubscription + `":` + l.call.id + `}` }

// endListens ends all subscriptions from the server's side, with proper responses.
func (s *server) endListens() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for l := range s.listens {
		l.call.answer(`{"resultType":"complete","_meta":` + l.metaJSON() + `}`)
		delete(s.listens, l)
	}
}

// toggleExtra adds the extra entry of a list, or removes it if it is there, and notifies every client that wants to
// know.
func (s *server) toggleExtra(kind string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.extra[kind] = !s.extra[kind]
	method := "notifications/" + kind + "/list_changed"
	for p := range s.peers {
		if version, _ := p.agreed(); version != "" {
			p.send(notification(method, ""))
		}
	}
	for l := range s.listens {
		if slices.Contains(l.kinds, kind) {
			l.call.notify(method, `{"_meta":`+l.metaJSON()+`}`)
		}
	}
}

func (s *server) hasExtra(kind string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.extra[kind]
}

// changeResource changes a resource and notifies its subscribers.
func (s *server) changeResource(uri gjson.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.revisions[uri.Str]++
	const method = "notifications/resources/updated"
	for p := range s.peers {
		if p.isSubscribed(uri.Str) {
			p.send(notification(method, `{"uri":`+quote(uri.Str)+`}`))
		}
	}
	for l := range s.listens {
		if slices.Contains(l.uris, uri.Str) {
			l.call.notify(method, `{"_meta":`+l.metaJSON()+`,"uri":`+quote(uri.Str)+`}`)
		}
	}
}

func (s *server) revision(uri string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.revisions[uri]
}

func (s *server) subscribe(_ context.Context, c *call)   { s.setSubscription(c, true) }
func (s *server) unsubscribe(_ context.Context, c *call) { s.setSubscription(c, false) }

func (s *server) setSubscription(c *call, on bool) {
	if c.uri.Str == "" {
		c.refuse(codeInvalidParams, "uri is missing", "")
		return
	}
	c.peer.setSubscribed(c.uri.Str, on)
	c.answer(`{}`)
}

// trimComma removes the comma at the beginning of s.
func trimComma(s string) string {
	if s == "" {
		return s
	}
	return s[1:]
}
