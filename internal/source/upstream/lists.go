package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"
	"unicode"

	"collie/internal/mcp"
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

// learn fetches everything a server offers and publishes it.
func (s *Server) learn(c *conn) error {
	ctx, cancel := context.WithTimeoutCause(s.life, listLimit, fmt.Errorf("the lists took longer than %v", listLimit))
	defer cancel()
	offer := *s.Offer()
	offer.Instructions = c.client.Instructions
	offer.Logs = c.client.Can("logging")
	offer.Completes = c.client.Can("completions")
	offer.Subscribes = c.client.Can("resources", "subscribe") || c.client.Era == mcp.Modern && c.client.Can("resources")
	offer.ReadsAny = c.client.Can("resources")
	s.listen(ctx, c) // before the lists are fetched, so that no change of them is missed
	if err := s.learnTools(ctx, c, &offer); err != nil {
		return err
	}
	if err := s.learnResources(ctx, c, &offer); err != nil {
		s.log.Warn("resources not listed", "error", err)
	}
	if err := s.learnPrompts(ctx, c, &offer); err != nil {
		s.log.Warn("prompts not listed", "error", err)
	}
	s.publish(&offer, tool.ToolsChanged, tool.ResourcesChanged, tool.PromptsChanged)
	return nil
}

// publish makes an offer the current one and tells who watches.
func (s *Server) publish(offer *tool.Offer, kinds ...tool.ChangeKind) {
	s.offer.Store(offer)
	for _, kind := range kinds {
		s.watch.tell(tool.Change{Kind: kind, Source: s.name})
	}
}

func (s *Server) learnTools(ctx context.Context, c *conn, offer *tool.Offer) error {
	t := tool.Tool{
		Name: s.name, Title: s.entry.DisplayName, Description: s.entry.Description,
		View: s.entry.View, Prefix: s.entry.Prefix,
	}
	headers := map[string]*mcp.ParamHeaders{}
	seen := map[string]bool{}
	each := func(def json.RawMessage) bool {
		a, err := s.action(def)
		if err == nil && seen[a.Name] {
			err = fmt.Errorf("tool %q is listed twice, the first counts", a.Name)
		}
		if err == nil && c.proc == nil && c.client.Era == mcp.Modern {
			err = paramHeaders(headers, &a)
		}
		if err != nil {
			s.drop("tool", err)
			return true
		}
		seen[a.Name] = true
		t.Actions = append(t.Actions, a)
		return len(t.Actions) < maxTools
	}
	err := s.pages(ctx, c, "tools", "tools/list", "tools", each)
	if early := elements(c.client.Tools); len(early) > 0 && (isMethodNotFound(err) || !c.client.Can("tools")) {
		s.drop("the method tools/list", errors.New("the server lists its tools in its initialize result, which is not MCP; they are taken from there"))
		err = nil
		for _, def := range early {
			each(def)
		}
	}
	if err != nil {
		return fmt.Errorf("list tools: %w", err)
	}
	offer.Tools = []tool.Tool{t}
	s.headers.Store(&headers)
	return nil
}

func paramHeaders(all map[string]*mcp.ParamHeaders, a *tool.Action) error {
	h, err := mcp.CompileParamHeaders(a.InputSchema)
	if err != nil {
		return fmt.Errorf("tool %q: %w", a.Name, err)
	}
	if h != nil {
		all[a.Name] = h
	}
	return nil
}

// drop says that an entry of a list was left out, in the server's log and ours.
func (s *Server) drop(what string, err error) {
	s.ring.Add("collie", what+" left out: "+err.Error())
	s.log.Warn("list entry left out", "what", what, "error", err)
}

// action reads a tool's definition and checks it (5.6).
func (s *Server) action(def json.RawMessage) (tool.Action, error) {
	name, err := entryName(def)
	if err != nil {
		return tool.Action{}, err
	}
	a := tool.Action{
		Name: name, Definition: def, InputSchema: mcp.Get(def, "inputSchema"),
		Title: mcp.GetString(def, "title"), Description: mcp.GetString(def, "description"),
		ReadOnly:   string(mcp.Get(def, "annotations", "readOnlyHint")) == "true",
		Idempotent: string(mcp.Get(def, "annotations", "idempotentHint")) == "true",
	}
	if len(a.InputSchema) == 0 || string(a.InputSchema) == "null" {
		a.InputSchema = json.RawMessage(`{"type":"object"}`)
		a.Definition = mcp.Edit(def, mcp.Field{Key: "inputSchema", Value: a.InputSchema})
		s.ring.Add("collie", fmt.Sprintf("tool %q has no inputSchema, taken as an object", name))
	}
	if a.InputSchema[0] != '{' {
		return a, fmt.Errorf("tool %q: inputSchema is no object", name)
	}
	if depth(a.InputSchema) > maxSchemaDepth {
		return a, fmt.Errorf("tool %q: inputSchema is nested deeper than %d", name, maxSchemaDepth)
	}
	a.Off, a.Timeout = s.switchedOff(name), s.entry.MaxToolTimeout
	return a, nil
}

// entryName reads the name of a list's entry.
func entryName(def json.RawMessage) (string, error) {
	if len(def) > maxDefinition {
		return "", fmt.Errorf("definition of %q is larger than %d bytes", mcp.GetString(def, "name"), maxDefinition)
	}
	name, ok := mcp.Text(mcp.Get(def, "name"))
	if !ok || name == "" {
		return "", fmt.Errorf("an entry without a name: %.80s", def)
	}
	if n := len([]rune(name)); n > 128 {
		return "", fmt.Errorf("name %.40q… is longer than 128 characters", name)
	}
	for _, r := range name {
		if unicode.IsControl(r) {
			return "", fmt.Errorf("name %q has a control character", name)
		}
	}
	return name, nil
}

// depth is how deep arrays and objects nest in a valid JSON text.
func depth(raw []byte) int {
	deepest, now, quoted := 0, 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case !quoted && (c == '{' || c == '['):
			now++
			deepest = max(deepest, now)
		case !quoted && (c == '}' || c == ']'):
			now--
		}
	}
	return deepest
}

func (s *Server) learnResources(ctx context.Context, c *conn, offer *tool.Offer) error {
	var resources []tool.Resource
	var templates []tool.Template
	err := s.pages(ctx, c, "resources", "resources/list", "resources", func(def json.RawMessage) bool {
		if uri := mcp.GetString(def, "uri"); uri != "" && len(def) <= maxDefinition {
			resources = append(resources, tool.Resource{URI: uri, Definition: def})
		} else {
			s.drop("resource", fmt.Errorf("an entry without a uri: %.80s", def))
		}
		return len(resources) < maxEntries
	})
	if err != nil {
		return fmt.Errorf("list resources: %w", err)
	}
	err = s.pages(ctx, c, "resources", "resources/templates/list", "resourceTemplates", func(def json.RawMessage) bool {
		if pattern := mcp.GetString(def, "uriTemplate"); pattern != "" && len(def) <= maxDefinition {
			templates = append(templates, tool.Template{Pattern: pattern, Definition: def})
		} else {
			s.drop("resource template", fmt.Errorf("an entry without a uriTemplate: %.80s", def))
		}
		return len(templates) < maxEntries
	})
	if err != nil && !isMethodNotFound(err) { // templates are optional where resources are not
		return fmt.Errorf("list resource templates: %w", err)
	}
	offer.Resources, offer.Templates = resources, templates
	return nil
}

func (s *Server) learnPrompts(ctx context.Context, c *conn, offer *tool.Offer) error {
	var prompts []tool.Prompt
	seen := map[string]bool{}
	err := s.pages(ctx, c, "prompts", "prompts/list", "prompts", func(def json.RawMessage) bool {
		name, err := entryName(def)
		if err == nil && seen[name] {
			err = fmt.Errorf("prompt %q is listed twice, the first counts", name)
		}
		if err != nil {
			s.drop("prompt", err)
			return true
		}
		seen[name] = true
		prompts = append(prompts, tool.Prompt{Name: name, Definition: def})
		return len(prompts) < maxEntries
	})
	if err != nil {
		return fmt.Errorf("list prompts: %w", err)
	}
	offer.Prompts = prompts
	return nil
}

// pages follows a list to its end and calls each for every entry until it returns false. A
// list that the server does not announce is empty. A page that fails fails the list.
func (s *Server) pages(ctx context.Context, c *conn, capability, method, field string, each func(json.RawMessage) bool) error {
	if !c.client.Can(capability) {
		return nil
	}
	cursors := map[string]bool{}
	var params json.RawMessage
	for range maxPages {
		result, err := s.page(ctx, c, method, params)
		if err != nil {
			return err
		}
		for _, def := range elements(mcp.Get(result, field)) {
			if !each(def) {
				s.drop(field, errors.New("the list is longer than Collie takes, it ends there"))
				return nil
			}
		}
		next := mcp.Get(result, "nextCursor")
		cursor, ok := mcp.Text(next)
		if !ok || cursor == "" {
			return nil
		}
		if cursors[cursor] {
			s.drop(field, fmt.Errorf("the cursor %.40q came twice, the list ends there", cursor))
			return nil
		}
		cursors[cursor] = true
		params = mcp.Edit(nil, mcp.Field{Key: "cursor", Value: next})
	}
	s.drop(field, fmt.Errorf("more than %d pages, the list ends there", maxPages))
	return nil
}

func (s *Server) page(ctx context.Context, c *conn, method string, params json.RawMessage) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, pageLimit, fmt.Errorf("%s did not answer within %v", method, pageLimit))
	defer cancel()
	return c.client.Request(ctx, method, params)
}

// elements are the members of a JSON array; nil for anything else.
func elements(raw json.RawMessage) []json.RawMessage {
	var list []json.RawMessage
	if len(raw) == 0 || json.Unmarshal(raw, &list) != nil {
		return nil
	}
	return list
}

// refresher fetches lists again when a server says that they changed: gathered for 250 ms,
// one at a time (7.3).
type refresher struct {
	server *Server

	mu      sync.Mutex
	pending map[tool.ChangeKind]bool
	timer   *time.Timer
	running bool
	closed  bool
	wg      sync.WaitGroup
}

func (r *refresher) ask(kind tool.ChangeKind) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	if r.pending == nil {
		r.pending = map[tool.ChangeKind]bool{}
	}
	r.pending[kind] = true
	if r.timer == nil && !r.running {
		r.timer = time.AfterFunc(quietLists, r.run)
	}
}

func (r *refresher) run() {
	r.mu.Lock()
	kinds := r.pending
	r.pending, r.timer = nil, nil
	if r.closed {
		r.mu.Unlock()
		return
	}
	r.running = true
	r.wg.Add(1)
	r.mu.Unlock()
	defer r.wg.Done()
	r.server.relearn(kinds)
	r.mu.Lock()
	r.running = false
	if len(r.pending) > 0 && !r.closed {
		r.timer = time.AfterFunc(quietLists, r.run)
	}
	r.mu.Unlock()
}

// close stops refreshing; a refresh under way ends with the server's life.
func (r *refresher) close() {
	r.mu.Lock()
	r.closed = true
	if r.timer != nil {
		r.timer.Stop()
	}
	r.mu.Unlock()
	r.wg.Wait()
}

// relearn fetches the lists of some kinds again. What fails keeps the old list.
func (s *Server) relearn(kinds map[tool.ChangeKind]bool) {
	s.mu.Lock()
	c, starting := s.primary, s.opening[0] != nil
	s.mu.Unlock()
	if starting { // the lists may have been fetched before they changed
		for kind := range kinds {
			s.lists.ask(kind)
		}
		return
	}
	if c == nil || !c.alive() {
		return
	}
	ctx, cancel := context.WithTimeout(s.life, listLimit)
	defer cancel()
	fetch := []struct {
		kind tool.ChangeKind
		get  func(context.Context, *conn, *tool.Offer) error
	}{{tool.ToolsChanged, s.learnTools}, {tool.ResourcesChanged, s.learnResources}, {tool.PromptsChanged, s.learnPrompts}}
	for _, f := range fetch {
		if !kinds[f.kind] {
			continue
		}
		offer := *s.Offer()
		if err := f.get(ctx, c, &offer); err != nil {
			s.log.Warn("list not refreshed, the old one stays", "kind", string(f.kind), "error", err)
			continue
		}
		s.publish(&offer, f.kind)
	}
}
