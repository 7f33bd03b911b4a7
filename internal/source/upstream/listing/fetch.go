package listing

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

// The bounds of a list.
const (
	maxPages   = 200
	maxTools   = 2000
	maxEntries = 20000 // of resources, templates, prompts
	listLimit  = 60 * time.Second
	pageLimit  = 15 * time.Second
)

// Kind is one of the lists that a server tells.
type Kind int

// The lists. Whoever calls a tool needs the first one alone.
const (
	Tools Kind = iota
	Resources
	Templates
	Prompts
)

const kinds = 4 // of lists

// change is what changes when a list does.
func (k Kind) change() tool.ChangeKind {
	return [kinds]tool.ChangeKind{tool.ToolsChanged, tool.ResourcesChanged, tool.ResourcesChanged, tool.PromptsChanged}[k]
}

const (
	// streamGrace is how long a start waits for the server to confirm that it tells of changed lists, and
	// streamWait how long the lists wait that no start waits for.
	streamGrace = 20 * time.Millisecond
	streamWait  = 2 * time.Second
)

// Learn fetches the tools over a new connection and publishes them: nothing else has to be known
// before a call (see LearnRest). Where another connection stands whose lists are on offer, they are
// taken only if always is set. A list that fails is an [*Error].
func (l *Listing) Learn(ctx context.Context, f *Feed, always bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, listLimit, fmt.Errorf("the lists took longer than %v", listLimit))
	defer cancel()
	l.Hear(ctx, f)
	next := &Lists{}
	if err := l.Fetch(ctx, f, Tools, next); err != nil {
		return err
	}
	if err := f.client.Ready(ctx); err != nil {
		return err
	}
	taken := l.propose(f, always)
	seen := l.Lists() != nil
	l.publishTools(f, next)
	if taken && seen { // else an entry would say that there is nothing beside the tools
		l.Keep(f)
	}
	return nil
}

// Hear sees to it that the server tells of changed lists, and waits a moment for that: where the
// stream that it does so on stands before the lists are fetched, no change of them is missed. Where
// it stands only later, the tools are fetched again; the other lists wait for it. It is called once.
func (l *Listing) Hear(ctx context.Context, f *Feed) {
	if f.stream == nil {
		close(f.hears)
		return
	}
	var asked atomic.Bool
	l.opts.Go(func() {
		opening, cancel := context.WithTimeout(l.opts.Life, streamWait)
		defer cancel()
		if f.stream(opening) && asked.Load() && f.client.Can("tools", "listChanged") {
			l.Ask(tool.ToolsChanged)
		}
		close(f.hears)
	})
	grace := time.NewTimer(streamGrace)
	defer grace.Stop()
	select {
	case <-grace.C:
	case <-f.hears:
	case <-ctx.Done():
	}
	asked.Store(true) // what changes from now on, and before the stream stands, is missed
}

// LearnRest fetches what no call of a tool waits for, side by side, and keeps in the cache what came.
// Each list is published when it is there; of one that fails or hangs, what was known stays. It reports
// false where nothing is asked of the connection. It is called once.
func (l *Listing) LearnRest(ctx context.Context, f *Feed) bool {
	defer close(f.listed)
	l.mu.Lock()
	asked := f.asked
	l.mu.Unlock()
	if !asked {
		return false
	}
	ctx, cancel := context.WithTimeoutCause(ctx, listLimit, fmt.Errorf("the lists took longer than %v", listLimit))
	defer cancel()
	<-f.hears // streamWait bounds it
	var wg sync.WaitGroup
	for which := Resources; which < kinds; which++ {
		wg.Go(func() {
			if err := l.fetch(ctx, f, which); err != nil && f.Alive() && ctx.Err() == nil {
				l.opts.Log.Warn("list not fetched, what was known of it stays", "error", err)
			}
		})
	}
	wg.Wait()
	if l.opts.Life.Err() == nil {
		l.Keep(f)
	}
	return true
}

// Fetch asks a connection for one list and puts what came into its place; nothing is published.
func (l *Listing) Fetch(ctx context.Context, f *Feed, which Kind, into *Lists) error {
	switch which {
	case Tools:
		if err := l.fetchTools(ctx, f, into); err != nil {
			return &Error{err}
		}
	case Resources:
		return l.fetchResources(ctx, f, into)
	case Templates:
		return l.fetchTemplates(ctx, f, into)
	case Prompts:
		return l.fetchPrompts(ctx, f, into)
	}
	return nil
}

// fetch asks for one list and publishes it.
func (l *Listing) fetch(ctx context.Context, f *Feed, which Kind) error {
	f.asking[which].Lock()
	defer f.asking[which].Unlock()
	next := &Lists{}
	if err := l.Fetch(ctx, f, which, next); err != nil {
		return err
	}
	switch which {
	case Tools:
		l.publishTools(f, next)
	case Resources:
		l.amend(f, false, func(k *Lists) { k.Resources = next.Resources })
	case Templates:
		l.amend(f, false, func(k *Lists) { k.Templates = next.Templates })
	case Prompts:
		l.amend(f, false, func(k *Lists) { k.Prompts = next.Prompts })
	}
	return nil
}

// publishTools publishes tools that f has told, unless another connection's lists are on offer.
func (l *Listing) publishTools(f *Feed, next *Lists) {
	if l.Feed() != f {
		return
	}
	l.staleAt.Store(time.Now().Add(next.lifetime()).UnixNano())
	l.checkPins(next, true)
	l.amend(f, true, func(k *Lists) {
		k.Tools, k.Dropped, k.truncated, k.ttl, k.scope = next.Tools, next.Dropped, next.truncated, next.ttl, next.scope
	})
}

// amend publishes what is known after a change that f has told of. What comes late, after another
// connection has taken its place, is dropped. confirmed says that f has told the tools.
func (l *Listing) amend(f *Feed, confirmed bool, change func(*Lists)) {
	l.publishing.Lock()
	defer l.publishing.Unlock()
	l.mu.Lock()
	if l.feed != f {
		l.mu.Unlock()
		return
	}
	if confirmed {
		l.meta.validated = time.Now()
	}
	l.mu.Unlock()
	k := l.fresh(f)
	change(k)
	l.publish(k, tool.FreshLive, "")
}

// Error says that a server is there and does not tell its tools.
type Error struct{ err error }

// Error gives the cause.
func (e *Error) Error() string { return "list tools: " + e.err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.err }

// fresh is what was known, with what the handshake of f says.
func (l *Listing) fresh(f *Feed) *Lists {
	k := &Lists{}
	if old := l.Lists(); old != nil {
		*k = *old
	}
	k.Instructions, k.info, k.capabilities = f.client.Instructions, f.client.Info, f.client.Capabilities
	k.version, k.modern, k.remote = f.client.Version, f.client.Era == mcp.Modern, f.remote
	return k
}

// lifetime is how long live lists are taken as they are, without asking again.
func (k *Lists) lifetime() time.Duration {
	if k.ttl > 0 {
		return k.ttl
	}
	return 5 * time.Minute
}

func (l *Listing) fetchTools(ctx context.Context, f *Feed, k *Lists) error {
	k.Tools, k.Dropped, k.truncated, k.ttl, k.scope = nil, nil, false, 0, ""
	seen := map[string]bool{}
	drop := func(def json.RawMessage, err error) {
		name := mcp.GetString(def, "name")
		if runes := []rune(name); len(runes) > 128 {
			name = string(runes[:128])
		}
		k.Dropped = append(k.Dropped, toolcache.Dropped{Name: name, Reason: err.Error()})
		l.drop("tool", err)
	}
	each := func(def json.RawMessage) bool {
		a, err := l.action(def)
		if err == nil && seen[a.Name] {
			err = fmt.Errorf("tool %q is listed twice, the first counts", a.Name)
		}
		if err == nil && f.remote && f.client.Era == mcp.Modern {
			if _, bad := mcp.CompileParamHeaders(a.InputSchema); bad != nil {
				err = fmt.Errorf("tool %q: %w", a.Name, bad)
			}
		}
		if err != nil {
			drop(def, err)
			return true
		}
		if missing(mcp.Get(def, "inputSchema")) {
			l.opts.Said.Add("collie", fmt.Sprintf("tool %q has no inputSchema, taken as an object", a.Name))
		}
		seen[a.Name] = true
		k.Tools = append(k.Tools, def)
		return len(k.Tools) < maxTools
	}
	err := l.pages(ctx, f, k, "tools", "tools/list", "tools", each, func() int { return len(k.Tools) })
	if early := elements(f.client.Tools); len(early) > 0 && (isMethodNotFound(err) || !f.client.Can("tools")) {
		l.drop("the method tools/list", errors.New("the server lists its tools in its initialize result, which is not MCP; they are taken from there"))
		err = nil
		for _, def := range early {
			each(def)
		}
	}
	return err
}

// drop says that an entry of a list was left out, in the server's log and ours.
func (l *Listing) drop(what string, err error) {
	l.opts.Said.Add("collie", what+" left out: "+err.Error())
	l.opts.Log.Warn("list entry left out", "what", what, "error", err)
}

// fit reports whether an entry of a list can be kept; what is kept has each name once.
func (l *Listing) fit(seen map[string]bool, def json.RawMessage, key, what string) bool {
	id := mcp.GetString(def, key)
	switch {
	case id == "" || len(def) > toolcache.MaxDefinition:
		l.drop(what, fmt.Errorf("an entry without a %s: %.80s", key, def))
	case seen[id]:
		l.drop(what, fmt.Errorf("%s %q is listed twice, the first counts", key, id))
	default:
		seen[id] = true
		return true
	}
	return false
}

func (l *Listing) fetchResources(ctx context.Context, f *Feed, k *Lists) error {
	seen := map[string]bool{}
	err := l.pages(ctx, f, nil, "resources", "resources/list", "resources", func(def json.RawMessage) bool {
		if l.fit(seen, def, "uri", "resource") {
			k.Resources = append(k.Resources, def)
		}
		return len(k.Resources) < maxEntries
	}, func() int { return len(k.Resources) })
	if err != nil {
		return fmt.Errorf("list resources: %w", err)
	}
	return nil
}

// fetchTemplates is for servers that have resources; templates are optional there.
func (l *Listing) fetchTemplates(ctx context.Context, f *Feed, k *Lists) error {
	seen := map[string]bool{}
	err := l.pages(ctx, f, nil, "resources", "resources/templates/list", "resourceTemplates", func(def json.RawMessage) bool {
		if l.fit(seen, def, "uriTemplate", "resource template") {
			k.Templates = append(k.Templates, def)
		}
		return len(k.Templates) < maxEntries
	}, func() int { return len(k.Templates) })
	if err != nil && !isMethodNotFound(err) {
		return fmt.Errorf("list resource templates: %w", err)
	}
	return nil
}

func (l *Listing) fetchPrompts(ctx context.Context, f *Feed, k *Lists) error {
	var prompts []json.RawMessage
	seen := map[string]bool{}
	err := l.pages(ctx, f, nil, "prompts", "prompts/list", "prompts", func(def json.RawMessage) bool {
		name, err := entryName(def)
		if err == nil && seen[name] {
			err = fmt.Errorf("prompt %q is listed twice, the first counts", name)
		}
		if err != nil {
			l.drop("prompt", err)
			return true
		}
		seen[name] = true
		prompts = append(prompts, def)
		return len(prompts) < maxEntries
	}, func() int { return len(prompts) })
	if err != nil {
		return fmt.Errorf("list prompts: %w", err)
	}
	k.Prompts = prompts
	return nil
}
