package listing

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"collie/internal/mcp"
	"collie/internal/source/upstream/toolcache"
	"collie/internal/tool"
)

// This file publishes the lists of a server as what it offers, and reports the changes.

// Lists holds the lists and the handshake of a server, byte for byte, from the live server or from the cache. It is
// immutable once published.
type Lists struct {
	Tools, Resources, Templates, Prompts []json.RawMessage
	Dropped                              []toolcache.Dropped // tools that were left out
	Instructions                         string
	info, capabilities                   json.RawMessage
	version                              string
	modern, remote                       bool

	truncated bool
	ttl       time.Duration // smallest ttlMs; 0 if no page gave one
	scope     string        // strictest cacheScope; empty if no page gave one
}

// can reports whether the server announced a capability; see [mcp.Client.Can].
func (k *Lists) can(path ...string) bool { return can(k.capabilities, path...) }

func can(capabilities json.RawMessage, path ...string) bool {
	v := mcp.Get(capabilities, path...)
	return v != nil && string(v) != "false" && string(v) != "null"
}

// TaskOnly reports whether a tool can only be called as a task (MCP 2025-11-25, Tasks). A server without the
// capability cannot require that, whatever the tool says.
func TaskOnly(capabilities, def json.RawMessage) bool {
	return can(capabilities, "tasks", "requests", "tools", "call") && mcp.GetString(def, "execution", "taskSupport") == "required"
}

func sameDefinitions(a, b []json.RawMessage) bool {
	return slices.EqualFunc(a, b, func(x, y json.RawMessage) bool { return bytes.Equal(x, y) })
}

// publish makes k what the server offers and reports the differences to watchers. Unchanged lists keep their place in
// memory, so that a call resolved in the old offer finds its action in the new one. The caller holds l.publishMu.
func (l *Listing) publish(k *Lists, fresh tool.Freshness, why string) {
	old, before := l.Lists(), l.offer.Load()
	if old == nil {
		old = &Lists{}
	}
	offer, headers := l.offerOf(k)
	conf := l.opts.Settings()
	pinned := l.pinned.Load()
	sameTools := sameDefinitions(old.Tools, k.Tools) && len(before.Tools) > 0 && l.built.conf == conf && l.built.pins == pinned &&
		bytes.Equal(old.capabilities, k.capabilities) // which say whether some tools are off
	if sameTools {
		offer.Tools = before.Tools
	}
	l.lists.Store(k)
	l.built.conf, l.built.pins = conf, pinned
	l.headers.Store(&headers)
	l.offer.Store(offer)
	l.mu.Lock()
	l.meta.freshness, l.meta.why = fresh, why
	l.mu.Unlock()
	var kinds []tool.ChangeKind
	if !sameTools && !sameActions(before.Tools, offer.Tools) || len(before.Tools) == 0 || old.Instructions != k.Instructions {
		kinds = append(kinds, tool.ToolsChanged)
	}
	if !sameDefinitions(old.Resources, k.Resources) || !sameDefinitions(old.Templates, k.Templates) || before.ReadsAny != offer.ReadsAny ||
		old.Instructions != k.Instructions { // long ones are a resource
		kinds = append(kinds, tool.ResourcesChanged)
	}
	if !sameDefinitions(old.Prompts, k.Prompts) {
		kinds = append(kinds, tool.PromptsChanged)
	}
	for _, kind := range kinds {
		l.opts.Tell(tool.Change{Kind: kind, Source: l.opts.Name})
	}
}

// Publish is like publish, for callers that do not hold l.publishMu. The server replaces k when it reports its own lists.
func (l *Listing) Publish(k *Lists, fresh tool.Freshness, why string) {
	l.publishMu.Lock()
	defer l.publishMu.Unlock()
	l.publish(k, fresh, why)
}

// Republish rebuilds the offer from the known lists, after settings or pins have changed.
func (l *Listing) Republish() {
	l.publishMu.Lock()
	defer l.publishMu.Unlock()
	k := l.Lists()
	if k == nil {
		return
	}
	l.mu.Lock()
	fresh, why := l.meta.freshness, l.meta.why
	l.mu.Unlock()
	l.publish(k, fresh, why)
}

// sameActions reports whether two lists of tools look the same to clients.
func sameActions(a, b []tool.Tool) bool {
	return slices.EqualFunc(a, b, func(x, y tool.Tool) bool {
		return x.View == y.View && x.Prefix == y.Prefix && x.Title == y.Title && x.Description == y.Description && x.About == y.About &&
			slices.EqualFunc(x.Actions, y.Actions, func(p, q tool.Action) bool {
				return p.Off == q.Off && p.Alias == q.Alias && bytes.Equal(p.Definition, q.Definition)
			})
	})
}

// offerOf returns what k offers under the current settings.
func (l *Listing) offerOf(k *Lists) (*tool.Offer, map[string]*mcp.ParamHeaders) {
	conf := l.opts.Settings()
	offer := &tool.Offer{
		Instructions: k.Instructions,
		Logs:         k.can("logging"),
		Completes:    k.can("completions"),
		Subscribes:   k.can("resources", "subscribe") || k.modern && k.can("resources"),
		ReadsAny:     k.can("resources"),
	}
	t := tool.Tool{
		Name: l.opts.Name, Title: conf.DisplayName, Description: conf.Description, About: cmp.Or(conf.About, conf.Description),
		View: conf.View, Prefix: conf.Prefix, Actions: make([]tool.Action, 0, len(k.Tools)),
	}
	var headers map[string]*mcp.ParamHeaders
	for _, def := range k.Tools {
		a, err := l.action(def)
		if err != nil {
			continue // checked when it was fetched
		}
		if TaskOnly(k.capabilities, def) {
			a.Off, a.Unsupported = "it runs as a task only (taskSupport: required), which Collie does not carry", true
		}
		if k.remote && bytes.Contains(a.InputSchema, []byte("x-mcp-header")) { // for legacy lists too: a modern call of the tool needs them
			if h, err := mcp.CompileParamHeaders(a.InputSchema); err == nil && h != nil {
				if headers == nil {
					headers = map[string]*mcp.ParamHeaders{}
				}
				headers[a.Name] = h
			}
		}
		t.Actions = append(t.Actions, a)
	}
	l.dropTakenAliases(t.Actions)
	offer.Tools = []tool.Tool{t}
	for _, def := range k.Resources {
		offer.Resources = append(offer.Resources, tool.Resource{URI: mcp.GetString(def, "uri"), Definition: def})
	}
	for _, def := range k.Templates {
		offer.Templates = append(offer.Templates, tool.Template{Pattern: mcp.GetString(def, "uriTemplate"), Definition: def})
	}
	for _, def := range k.Prompts {
		offer.Prompts = append(offer.Prompts, tool.Prompt{Name: mcp.GetString(def, "name"), Definition: def})
	}
	return offer, headers
}
