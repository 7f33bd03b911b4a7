package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"collie/internal/mcp"
	"collie/internal/source/upstream/toolcache"
	"collie/internal/tool"
)

// The bounds of a list (5.6; sizes by architecture.md 7).
const (
	maxPages       = 200
	maxTools       = 2000
	maxEntries     = 20000 // of resources, templates, prompts
	maxDefinition  = 1 << 20
	maxSchemaDepth = 64
	listLimit      = 60 * time.Second
	pageLimit      = 15 * time.Second
	quietLists     = 250 * time.Millisecond
)

// learn fetches everything a server offers, publishes it and keeps it in the cache. Where
// resources or prompts fail, what was known of them stays.
func (s *Server) learn(ctx context.Context, c *conn) error {
	ctx, cancel := context.WithTimeoutCause(ctx, listLimit, fmt.Errorf("the lists took longer than %v", listLimit))
	defer cancel()
	k := s.fresh(c)
	s.listen(ctx, c) // before the lists are fetched, so that no change of them is missed
	if err := s.learnTools(ctx, c, k); err != nil {
		return &listError{err}
	}
	if err := s.learnResources(ctx, c, k); err != nil {
		s.log.Warn("resources not listed", "error", err)
	}
	if err := s.learnPrompts(ctx, c, k); err != nil {
		s.log.Warn("prompts not listed", "error", err)
	}
	s.learned(k, true)
	s.remember(k)
	return nil
}

// listError says that a server is there and does not tell what it offers.
type listError struct{ err error }

// Error gives the cause.
func (e *listError) Error() string { return "list tools: " + e.err.Error() }

// Unwrap returns the cause.
func (e *listError) Unwrap() error { return e.err }

// fresh is what was known, with what the handshake of c says.
func (s *Server) fresh(c *conn) *known {
	k := &known{}
	if old := s.known.Load(); old != nil {
		*k = *old
	}
	k.instructions, k.info, k.capabilities = c.client.Instructions, c.client.Info, c.client.Capabilities
	k.version, k.modern, k.remote = c.client.Version, c.client.Era == mcp.Modern, c.proc == nil
	return k
}

// learned takes complete lists from a live server. confirmed says that its tools are among them;
// else they are those that were known, and no younger than they were.
func (s *Server) learned(k *known, confirmed bool) {
	if confirmed {
		s.relistAt.Store(time.Now().Add(k.lifetime()).UnixNano())
		s.checkPins(k, true)
	}
	s.publishing.Lock()
	if confirmed {
		s.mu.Lock()
		s.validated = time.Now()
		s.mu.Unlock()
	}
	s.publish(k, tool.FreshLive, "")
	s.publishing.Unlock()
}

// lifetime is how long live lists are taken as they are, without asking again (7.4).
func (k *known) lifetime() time.Duration {
	if k.ttl > 0 {
		return k.ttl
	}
	return 5 * time.Minute
}

func (s *Server) learnTools(ctx context.Context, c *conn, k *known) error {
	k.tools, k.dropped, k.truncated, k.ttl, k.scope = nil, nil, false, 0, ""
	seen := map[string]bool{}
	drop := func(def json.RawMessage, err error) {
		name := mcp.GetString(def, "name")
		if runes := []rune(name); len(runes) > 128 {
			name = string(runes[:128])
		}
		k.dropped = append(k.dropped, toolcache.Dropped{Name: name, Reason: err.Error()})
		s.drop("tool", err)
	}
	each := func(def json.RawMessage) bool {
		a, err := s.action(def)
		if err == nil && seen[a.Name] {
			err = fmt.Errorf("tool %q is listed twice, the first counts", a.Name)
		}
		if err == nil && c.proc == nil && c.client.Era == mcp.Modern {
			if _, bad := mcp.CompileParamHeaders(a.InputSchema); bad != nil {
				err = fmt.Errorf("tool %q: %w", a.Name, bad)
			}
		}
		if err != nil {
			drop(def, err)
			return true
		}
		if missing(mcp.Get(def, "inputSchema")) {
			s.said.Add("collie", fmt.Sprintf("tool %q has no inputSchema, taken as an object", a.Name))
		}
		seen[a.Name] = true
		k.tools = append(k.tools, def)
		return len(k.tools) < maxTools
	}
	err := s.pages(ctx, c, k, "tools", "tools/list", "tools", each, func() int { return len(k.tools) })
	if early := elements(c.client.Tools); len(early) > 0 && (isMethodNotFound(err) || !c.client.Can("tools")) {
		s.drop("the method tools/list", errors.New("the server lists its tools in its initialize result, which is not MCP; they are taken from there"))
		err = nil
		for _, def := range early {
			each(def)
		}
	}
	return err
}

// drop says that an entry of a list was left out, in the server's log and ours.
func (s *Server) drop(what string, err error) {
	s.said.Add("collie", what+" left out: "+err.Error())
	s.log.Warn("list entry left out", "what", what, "error", err)
}

func (s *Server) learnResources(ctx context.Context, c *conn, k *known) error {
	var resources, templates []json.RawMessage
	seen := map[string]bool{}
	fit := func(def json.RawMessage, key, what string) bool { // what is kept has each name once
		id := mcp.GetString(def, key)
		switch {
		case id == "" || len(def) > maxDefinition:
			s.drop(what, fmt.Errorf("an entry without a %s: %.80s", key, def))
		case seen[key+id]:
			s.drop(what, fmt.Errorf("%s %q is listed twice, the first counts", key, id))
		default:
			seen[key+id] = true
			return true
		}
		return false
	}
	err := s.pages(ctx, c, nil, "resources", "resources/list", "resources", func(def json.RawMessage) bool {
		if fit(def, "uri", "resource") {
			resources = append(resources, def)
		}
		return len(resources) < maxEntries
	}, func() int { return len(resources) })
	if err != nil {
		return fmt.Errorf("list resources: %w", err)
	}
	err = s.pages(ctx, c, nil, "resources", "resources/templates/list", "resourceTemplates", func(def json.RawMessage) bool {
		if fit(def, "uriTemplate", "resource template") {
			templates = append(templates, def)
		}
		return len(templates) < maxEntries
	}, func() int { return len(templates) })
	if err != nil && !isMethodNotFound(err) { // templates are optional where resources are not
		return fmt.Errorf("list resource templates: %w", err)
	}
	k.resources, k.templates = resources, templates
	return nil
}

func (s *Server) learnPrompts(ctx context.Context, c *conn, k *known) error {
	var prompts []json.RawMessage
	seen := map[string]bool{}
	err := s.pages(ctx, c, nil, "prompts", "prompts/list", "prompts", func(def json.RawMessage) bool {
		name, err := entryName(def)
		if err == nil && seen[name] {
			err = fmt.Errorf("prompt %q is listed twice, the first counts", name)
		}
		if err != nil {
			s.drop("prompt", err)
			return true
		}
		seen[name] = true
		prompts = append(prompts, def)
		return len(prompts) < maxEntries
	}, func() int { return len(prompts) })
	if err != nil {
		return fmt.Errorf("list prompts: %w", err)
	}
	k.prompts = prompts
	return nil
}
