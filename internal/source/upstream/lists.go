package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"
	"unicode"

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

// What is read of a tool's definition, by position.
const (
	defName = iota
	defTitle
	defDescription
	defSchema
	defHints
	defFields
)

var definitionKeys = [defFields]string{"name", "title", "description", "inputSchema", "annotations"}

// action reads a tool's definition and checks it (5.6).
func (s *Server) action(def json.RawMessage) (tool.Action, error) {
	if len(def) > maxDefinition {
		return tool.Action{}, tooLargeDefinition(def)
	}
	var v [defFields]json.RawMessage
	mcp.GetAll(def, definitionKeys[:], v[:])
	name, err := checkName(v[defName], def)
	if err != nil {
		return tool.Action{}, err
	}
	a := tool.Action{Name: name, Definition: def, InputSchema: v[defSchema]}
	a.Title, _ = mcp.Text(v[defTitle])
	a.Description, _ = mcp.Text(v[defDescription])
	if hints := v[defHints]; hints != nil {
		a.ReadOnly = string(mcp.Get(hints, "readOnlyHint")) == "true"
		a.Idempotent = string(mcp.Get(hints, "idempotentHint")) == "true"
	}
	if missing(a.InputSchema) {
		a.InputSchema = json.RawMessage(`{"type":"object"}`)
		a.Definition = mcp.Edit(def, mcp.Field{Key: "inputSchema", Value: a.InputSchema})
	}
	if a.InputSchema[0] != '{' {
		return a, fmt.Errorf("tool %q: inputSchema is no object", name)
	}
	if depth(a.InputSchema) > maxSchemaDepth {
		return a, fmt.Errorf("tool %q: inputSchema is nested deeper than %d", name, maxSchemaDepth)
	}
	a.Off, a.Timeout = s.switchedOff(name), s.settings().MaxToolTimeout
	return a, nil
}

func missing(v json.RawMessage) bool { return len(v) == 0 || string(v) == "null" }

func tooLargeDefinition(def json.RawMessage) error {
	return fmt.Errorf("definition of %q is larger than %d bytes", mcp.GetString(def, "name"), maxDefinition)
}

// entryName reads the name of a list's entry.
func entryName(def json.RawMessage) (string, error) {
	if len(def) > maxDefinition {
		return "", tooLargeDefinition(def)
	}
	return checkName(mcp.Get(def, "name"), def)
}

// checkName reads the name of the entry def.
func checkName(raw, def json.RawMessage) (string, error) {
	name, ok := mcp.Text(raw)
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

// pages follows a list to its end and calls each for every entry until it returns false. A
// list that the server does not announce is empty. A page that fails fails the list. What
// the pages say about caching goes into k, which may be nil. size is how much of the list is
// kept: one whose pages bring nothing new has no end.
func (s *Server) pages(ctx context.Context, c *conn, k *known, capability, method, field string, each func(json.RawMessage) bool, size func() int) error {
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
		k.hints(result)
		defs := elements(mcp.Get(result, field))
		next := mcp.Get(result, "nextCursor")
		cursor, more := mcp.Text(next)
		more = more && cursor != ""
		before := size()
		for i, def := range defs {
			if !each(def) && (more || i < len(defs)-1) {
				s.cut(k, field, fmt.Errorf("the list is longer than the %d entries that Collie takes, it ends there", most(field)))
				return nil
			}
		}
		if !more {
			return nil
		}
		if cursors[cursor] {
			s.cut(k, field, fmt.Errorf("the cursor %.40q came twice, the list ends there", cursor))
			return nil
		}
		if len(defs) > 0 && size() == before {
			s.cut(k, field, errors.New("a page brought nothing new, the list ends there"))
			return nil
		}
		cursors[cursor] = true
		params = mcp.Edit(nil, mcp.Field{Key: "cursor", Value: next})
	}
	s.cut(k, field, fmt.Errorf("more than %d pages, the list ends there", maxPages))
	return nil
}

// most is how many entries of a list are taken.
func most(field string) int {
	if field == "tools" {
		return maxTools
	}
	return maxEntries
}

// cut says that a list ends early.
func (s *Server) cut(k *known, field string, why error) {
	s.drop(field, why)
	if k != nil {
		k.truncated = true
	}
}

// hints takes over what a page says about how long it is good, and for whom (2026-07-28,
// Caching).
func (k *known) hints(result json.RawMessage) {
	if k == nil {
		return
	}
	if ms, err := strconv.ParseInt(string(mcp.Get(result, "ttlMs")), 10, 64); err == nil && ms > 0 {
		if d := time.Duration(min(ms, int64(maxTTL/time.Millisecond))) * time.Millisecond; k.ttl == 0 || d < k.ttl {
			k.ttl = d
		}
	}
	if scope := mcp.GetString(result, "cacheScope"); scope != "" && k.scope != "private" {
		k.scope = scope
	}
}

// maxTTL bounds what a server may say about how long its lists are good.
const maxTTL = 30 * 24 * time.Hour

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
	failed  int // refreshes in a row
	closed  bool
	wg      sync.WaitGroup

	one sync.Mutex // held by a refresh: the later one knows better
}

// again asks for what could not be fetched, later and later (7.3).
func (r *refresher) again(kinds map[tool.ChangeKind]bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pending == nil {
		r.pending = map[tool.ChangeKind]bool{}
	}
	for kind := range kinds {
		r.pending[kind] = true
	}
	r.failed++
}

// wait is how long changes are gathered, or how long a failed refresh rests. r.mu is held.
func (r *refresher) wait() time.Duration {
	d := quietLists
	for range min(r.failed, 12) {
		d *= 2
	}
	return min(d, lastWait)
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
	r.mu.Lock()
	before := r.failed
	r.mu.Unlock()
	r.server.relearn(kinds)
	r.mu.Lock()
	r.running = false
	if r.failed == before {
		r.failed = 0
	}
	if len(r.pending) > 0 && !r.closed {
		r.timer = time.AfterFunc(r.wait(), r.run)
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
	c, starting := s.primary, s.opening[slot{}] != nil
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
	if !s.refresh(s.life, c, kinds) {
		s.lists.again(kinds)
	}
}

// refresh fetches the lists of some kinds from a live server and takes those that came off
// kinds. What fails keeps the old list.
func (s *Server) refresh(ctx context.Context, c *conn, kinds map[tool.ChangeKind]bool) (ok bool) {
	s.lists.one.Lock()
	defer s.lists.one.Unlock()
	ctx, cancel := context.WithTimeout(ctx, listLimit)
	defer cancel()
	confirmed := kinds[tool.ToolsChanged]
	fetch := []struct {
		kind tool.ChangeKind
		get  func(context.Context, *conn, *known) error
	}{{tool.ToolsChanged, s.learnTools}, {tool.ResourcesChanged, s.learnResources}, {tool.PromptsChanged, s.learnPrompts}}
	k, ok, any := s.fresh(c), true, false
	for _, f := range fetch {
		if !kinds[f.kind] {
			continue
		}
		next := *k
		if err := f.get(ctx, c, &next); err != nil {
			ok = false
			confirmed = confirmed && f.kind != tool.ToolsChanged
			if c.alive() && ctx.Err() == nil { // else it says nothing about the list
				s.log.Warn("list not refreshed, the old one stays", "kind", string(f.kind), "error", err)
				s.set.cache().Failed(s.name, "list_failed")
			}
			continue
		}
		k, any = &next, true
		delete(kinds, f.kind)
	}
	s.mu.Lock()
	current := s.primary == c // else a later connection has told its own
	s.mu.Unlock()
	if any && current {
		s.learned(k, confirmed)
		if !kinds[tool.ToolsChanged] { // what is kept says when its tools were confirmed
			s.remember(k)
		}
	}
	return ok
}
