package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
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

// list is one of the lists that a server tells.
type list int

// The lists. Whoever calls a tool needs the first one alone.
const (
	toolList list = iota
	resourceList
	templateList
	promptList
	allLists
)

// capability is what a server announces that has such a list.
func (l list) capability() string {
	return [allLists]string{"tools", "resources", "resources", "prompts"}[l]
}

// hearGrace is how long a start waits for the server to confirm that it tells of changed lists.
const hearGrace = 20 * time.Millisecond

// learn fetches the tools over a new connection and publishes them: nothing else has to be known
// before a call (see learnRest). Where another connection stands whose lists are on offer, they are
// taken only if always is set.
func (s *Server) learn(ctx context.Context, c *conn, always bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, listLimit, fmt.Errorf("the lists took longer than %v", listLimit))
	defer cancel()
	s.hear(ctx, c)
	next := &known{}
	if err := s.learnTools(ctx, c, next); err != nil {
		return &listError{err}
	}
	if err := c.client.Ready(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	if always || s.teacher == nil || !s.teacher.alive() {
		s.teacher, c.teaches = c, true
	}
	s.mu.Unlock()
	seen := s.known.Load() != nil
	s.takeTools(c, next)
	if c.teaches && seen { // else an entry would say that there is nothing beside the tools
		s.remember(c)
	}
	return nil
}

// hear sees to it that the server tells of changed lists, and waits a moment for that: where the
// stream that it does so on stands before the lists are fetched, no change of them is missed. Where
// it stands only later, the tools are fetched again; the other lists wait for it.
func (s *Server) hear(ctx context.Context, c *conn) {
	var open func(context.Context) bool
	link, legacy := c.client.Link.(interface{ AwaitStream(context.Context) bool })
	switch {
	case c.client.Era == mcp.Modern:
		open = func(context.Context) bool { return s.listen(s.life, c) }
	case legacy:
		open = func(ctx context.Context) bool { return c.client.Ready(ctx) == nil && link.AwaitStream(ctx) }
	default: // a pipe carries what it tells at any time
		close(c.hears)
		return
	}
	var asked atomic.Bool
	s.wg.Go(func() {
		opening, cancel := context.WithTimeout(s.life, listenWait)
		defer cancel()
		if open(opening) && asked.Load() && c.client.Can("tools", "listChanged") {
			s.lists.ask(tool.ToolsChanged)
		}
		close(c.hears)
	})
	pauseFor(ctx, c.hears, hearGrace)
	asked.Store(true) // what changes from now on, and before the stream stands, is missed
}

// learnRest fetches what no call of a tool waits for, side by side, and keeps in the cache what came.
// Each list is published when it is there; of one that fails or hangs, what was known stays.
func (s *Server) learnRest(ctx context.Context, c *conn) {
	defer close(c.listed)
	if !c.teaches {
		return
	}
	defer s.begunAll()
	ctx, cancel := context.WithTimeoutCause(ctx, listLimit, fmt.Errorf("the lists took longer than %v", listLimit))
	defer cancel()
	<-c.hears // listenWait bounds it
	var wg sync.WaitGroup
	for l := resourceList; l < allLists; l++ {
		wg.Go(func() {
			if err := s.fetch(ctx, c, l); err != nil && c.alive() && ctx.Err() == nil {
				s.log.Warn("list not fetched, what was known of it stays", "error", err)
			}
		})
	}
	wg.Wait()
	if s.life.Err() == nil {
		s.remember(c)
	}
}

// awaitLists returns when the connection has told all its lists or failed to.
func (c *conn) awaitLists(ctx context.Context) error {
	select {
	case <-c.listed:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// listsAtEnd is how long a server that is being stopped may take for lists that it was asked for:
// they are kept together or not at all.
const listsAtEnd = 500 * time.Millisecond

// fetch asks for one list and publishes it.
func (s *Server) fetch(ctx context.Context, c *conn, l list) error {
	c.asking[l].Lock()
	defer c.asking[l].Unlock()
	next := &known{}
	switch l {
	case toolList:
		if err := s.learnTools(ctx, c, next); err != nil {
			return err
		}
		s.takeTools(c, next)
	case resourceList:
		if err := s.learnResources(ctx, c, next); err != nil {
			return err
		}
		s.amend(c, false, func(k *known) { k.resources = next.resources })
	case templateList:
		if err := s.learnTemplates(ctx, c, next); err != nil {
			return err
		}
		s.amend(c, false, func(k *known) { k.templates = next.templates })
	case promptList:
		if err := s.learnPrompts(ctx, c, next); err != nil {
			return err
		}
		s.amend(c, false, func(k *known) { k.prompts = next.prompts })
	}
	return nil
}

// takeTools publishes tools that c has told, unless another connection's lists are on offer.
func (s *Server) takeTools(c *conn, next *known) {
	if !s.isTeacher(c) {
		return
	}
	s.relistAt.Store(time.Now().Add(next.lifetime()).UnixNano())
	s.checkPins(next, true)
	s.amend(c, true, func(k *known) {
		k.tools, k.dropped, k.truncated, k.ttl, k.scope = next.tools, next.dropped, next.truncated, next.ttl, next.scope
	})
}

// isTeacher reports whether c is the connection whose lists are on offer.
func (s *Server) isTeacher(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.teacher == c
}

// amend publishes what is known after a change that c has told of. What comes late, after another
// connection has taken c's place, is dropped. confirmed says that c has told the tools.
func (s *Server) amend(c *conn, confirmed bool, change func(*known)) {
	s.publishing.Lock()
	defer s.publishing.Unlock()
	s.mu.Lock()
	if s.teacher != c {
		s.mu.Unlock()
		return
	}
	if confirmed {
		s.validated = time.Now()
	}
	s.mu.Unlock()
	k := s.fresh(c)
	change(k)
	s.publish(k, tool.FreshLive, "")
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

// fit reports whether an entry of a list can be kept; what is kept has each name once.
func (s *Server) fit(seen map[string]bool, def json.RawMessage, key, what string) bool {
	id := mcp.GetString(def, key)
	switch {
	case id == "" || len(def) > maxDefinition:
		s.drop(what, fmt.Errorf("an entry without a %s: %.80s", key, def))
	case seen[id]:
		s.drop(what, fmt.Errorf("%s %q is listed twice, the first counts", key, id))
	default:
		seen[id] = true
		return true
	}
	return false
}

func (s *Server) learnResources(ctx context.Context, c *conn, k *known) error {
	seen := map[string]bool{}
	err := s.pages(ctx, c, nil, "resources", "resources/list", "resources", func(def json.RawMessage) bool {
		if s.fit(seen, def, "uri", "resource") {
			k.resources = append(k.resources, def)
		}
		return len(k.resources) < maxEntries
	}, func() int { return len(k.resources) })
	if err != nil {
		return fmt.Errorf("list resources: %w", err)
	}
	return nil
}

// learnTemplates is for servers that have resources; templates are optional there.
func (s *Server) learnTemplates(ctx context.Context, c *conn, k *known) error {
	seen := map[string]bool{}
	err := s.pages(ctx, c, nil, "resources", "resources/templates/list", "resourceTemplates", func(def json.RawMessage) bool {
		if s.fit(seen, def, "uriTemplate", "resource template") {
			k.templates = append(k.templates, def)
		}
		return len(k.templates) < maxEntries
	}, func() int { return len(k.templates) })
	if err != nil && !isMethodNotFound(err) {
		return fmt.Errorf("list resource templates: %w", err)
	}
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
