package upstream

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"

	"collie/internal/mcp"
	"collie/internal/source/upstream/toolcache"
	"collie/internal/tool"
)

// known is what a server told of itself, byte for byte, whoever remembered it: the live
// server or the cache. It is immutable once it has been published.
type known struct {
	tools, resources, templates, prompts []json.RawMessage
	instructions                         string
	info, capabilities                   json.RawMessage
	version                              string
	modern, remote                       bool

	truncated bool
	dropped   []toolcache.Dropped
	ttl       time.Duration // smallest ttlMs; 0 where no page gave one
	scope     string        // strictest cacheScope; empty where no page gave one
}

// can reports whether the server announced a capability; see [mcp.Client.Can].
func (k *known) can(path ...string) bool {
	v := mcp.Get(k.capabilities, path...)
	return v != nil && string(v) != "false" && string(v) != "null"
}

// isKnown reports whether it is known what the server offers.
func (s *Server) isKnown() bool { return s.known.Load() != nil }

// taskOnly reports whether a tool can be called as a task alone (2025-11-25, Tasks): without the
// capability no client may do so, whatever the tool says.
func (k *known) taskOnly(def json.RawMessage) bool {
	return k.can("tasks", "requests", "tools", "call") && mcp.GetString(def, "execution", "taskSupport") == "required"
}

func same(a, b []json.RawMessage) bool {
	return slices.EqualFunc(a, b, func(x, y json.RawMessage) bool { return bytes.Equal(x, y) })
}

// publish makes k what the server offers and tells who watches what is different. Lists that
// have not changed keep their place in memory, so that a call that was resolved in the old
// offer finds its action in the new one. s.publishing is held.
func (s *Server) publish(k *known, fresh tool.Freshness, why string) {
	old, before := s.known.Load(), s.offer.Load()
	if old == nil {
		old = &known{}
	}
	offer, headers := s.offerOf(k)
	conf := s.conf.Load()
	pinned := s.pinned.Load()
	sameTools := same(old.tools, k.tools) && len(before.Tools) > 0 && s.built == conf && s.builtPins == pinned
	if sameTools {
		offer.Tools = before.Tools
	}
	s.known.Store(k)
	s.built, s.builtPins = conf, pinned
	s.headers.Store(&headers)
	s.offer.Store(offer)
	s.mu.Lock()
	s.freshness, s.why = fresh, why
	s.mu.Unlock()
	var kinds []tool.ChangeKind
	if !sameTools && !sameActions(before.Tools, offer.Tools) || len(before.Tools) == 0 || old.instructions != k.instructions {
		kinds = append(kinds, tool.ToolsChanged)
	}
	if !same(old.resources, k.resources) || !same(old.templates, k.templates) || before.ReadsAny != offer.ReadsAny {
		kinds = append(kinds, tool.ResourcesChanged)
	}
	if !same(old.prompts, k.prompts) {
		kinds = append(kinds, tool.PromptsChanged)
	}
	for _, kind := range kinds {
		s.watch.tell(tool.Change{Kind: kind, Source: s.name})
	}
}

// republish makes the offer anew of what is known, after settings or pins have changed.
func (s *Server) republish() {
	s.publishing.Lock()
	defer s.publishing.Unlock()
	k := s.known.Load()
	if k == nil {
		return
	}
	s.mu.Lock()
	fresh, why := s.freshness, s.why
	s.mu.Unlock()
	s.publish(k, fresh, why)
}

// sameActions reports whether clients see the same in both.
func sameActions(a, b []tool.Tool) bool {
	return slices.EqualFunc(a, b, func(x, y tool.Tool) bool {
		return x.View == y.View && x.Prefix == y.Prefix && x.Title == y.Title && x.Description == y.Description &&
			slices.EqualFunc(x.Actions, y.Actions, func(p, q tool.Action) bool {
				return p.Off == q.Off && bytes.Equal(p.Definition, q.Definition)
			})
	})
}

// offerOf is what k means under the settings of now.
func (s *Server) offerOf(k *known) (*tool.Offer, map[string]*mcp.ParamHeaders) {
	conf := s.settings()
	offer := &tool.Offer{
		Instructions: k.instructions,
		Logs:         k.can("logging"),
		Completes:    k.can("completions"),
		Subscribes:   k.can("resources", "subscribe") || k.modern && k.can("resources"),
		ReadsAny:     k.can("resources"),
	}
	t := tool.Tool{
		Name: s.name, Title: conf.DisplayName, Description: conf.Description,
		View: conf.View, Prefix: conf.Prefix, Actions: make([]tool.Action, 0, len(k.tools)),
	}
	var headers map[string]*mcp.ParamHeaders
	for _, def := range k.tools {
		a, err := s.action(def)
		if err != nil {
			continue // it was checked when it came
		}
		if k.taskOnly(def) {
			a.Off = "it runs as a task only (taskSupport: required), which Collie does not carry"
		}
		if k.remote && bytes.Contains(a.InputSchema, []byte("x-mcp-header")) { // whoever told the list: a modern call needs them
			if h, err := mcp.CompileParamHeaders(a.InputSchema); err == nil && h != nil {
				if headers == nil {
					headers = map[string]*mcp.ParamHeaders{}
				}
				headers[a.Name] = h
			}
		}
		t.Actions = append(t.Actions, a)
	}
	offer.Tools = []tool.Tool{t}
	for _, def := range k.resources {
		offer.Resources = append(offer.Resources, tool.Resource{URI: mcp.GetString(def, "uri"), Definition: def})
	}
	for _, def := range k.templates {
		offer.Templates = append(offer.Templates, tool.Template{Pattern: mcp.GetString(def, "uriTemplate"), Definition: def})
	}
	for _, def := range k.prompts {
		offer.Prompts = append(offer.Prompts, tool.Prompt{Name: mcp.GetString(def, "name"), Definition: def})
	}
	return offer, headers
}
