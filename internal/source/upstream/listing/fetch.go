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
	"collie/internal/units"
)

// This file fetches the lists of a server.

// Bounds of a list.
const (
	maxPages   = 200
	maxTools   = 2000
	maxEntries = 20000 // for resources, templates and prompts
	listLimit  = 60 * time.Second
	pageLimit  = 15 * time.Second
)

// Kind is one of a server's lists.
type Kind int

// The lists. A call of a tool needs only the first.
const (
	Tools Kind = iota
	Resources
	Templates
	Prompts
)

const kinds = 4 // number of lists

// change returns the kind of change to report when the list changes.
func (k Kind) change() tool.ChangeKind {
	return [kinds]tool.ChangeKind{tool.ToolsChanged, tool.ResourcesChanged, tool.ResourcesChanged, tool.PromptsChanged}[k]
}

const (
	// streamGrace bounds how long a start waits for the server to confirm that it will report list changes;
	// streamWait bounds the same wait for the lists that no start waits for.
	streamGrace = 20 * time.Millisecond
	streamWait  = 2 * time.Second
)

// Learn fetches the tools over a new connection and publishes them: a call needs no other list (LearnRest fetches
// those). If another live connection's lists are published, f's replace them only if always is set. A failed list is
// an [*Error].
func (l *Listing) Learn(ctx context.Context, f *Feed, always bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, listLimit, fmt.Errorf("the lists took longer than %s", units.DurationWords(listLimit)))
	defer cancel()
	l.Hear(ctx, f)
	next := &Lists{}
	if err := l.Fetch(ctx, f, Tools, next); err != nil {
		return err
	}
	if err := f.client.Ready(ctx); err != nil {
		return err
	}
	accepted := l.propose(f, always)
	seen := l.Lists() != nil
	l.publishTools(f, next)
	if accepted && seen { // else the cache entry would say that the server has tools only
		l.keep(f)
	}
	return nil
}

// Hear opens the stream on which the server reports list changes, and waits briefly for it: if the stream is open
// before the lists are fetched, no change is missed. If it opens later, the tools are fetched again then; the other
// lists wait for it. Only the first call does anything.
func (l *Listing) Hear(ctx context.Context, f *Feed) {
	if f.heard.Swap(true) {
		return
	}
	if f.stream == nil {
		close(f.streamReady)
		return
	}
	var asked atomic.Bool
	l.opts.Go(func() {
		opening, cancel := context.WithTimeout(l.opts.Life, streamWait)
		defer cancel()
		open := f.stream(opening)
		if open && asked.Load() && f.client.Can("tools", "listChanged") {
			l.Ask(tool.ToolsChanged)
		}
		close(f.streamReady)
		if !open && f.awaitLateStream != nil && f.awaitLateStream(l.opts.Life) { // all lists were fetched without it
			for capability, kind := range map[string]tool.ChangeKind{
				"tools": tool.ToolsChanged, "resources": tool.ResourcesChanged, "prompts": tool.PromptsChanged,
			} {
				if f.client.Can(capability, "listChanged") {
					l.Ask(kind)
				}
			}
		}
	})
	grace := time.NewTimer(streamGrace)
	defer grace.Stop()
	select {
	case <-grace.C:
	case <-f.streamReady:
	case <-ctx.Done():
	}
	asked.Store(true) // changes between this fetch and the opening of the stream would be missed
}

// LearnAnew fetches all lists over a connection that has taken the place of the one they came from.
func (l *Listing) LearnAnew(ctx context.Context, f *Feed) {
	l.Hear(ctx, f)
	for _, kind := range []tool.ChangeKind{tool.ToolsChanged, tool.ResourcesChanged, tool.PromptsChanged} {
		l.Ask(kind)
	}
}

// LearnRest fetches the lists that no call waits for, in parallel, and stores them in the cache. Each is published as
// it arrives. If one fails or hangs, what was known of it stays. It returns false if the connection's lists are not
// wanted. LearnRest is called once.
func (l *Listing) LearnRest(ctx context.Context, f *Feed) bool {
	defer close(f.listed)
	l.mu.Lock()
	asked := f.wanted
	l.mu.Unlock()
	if !asked {
		return false
	}
	ctx, cancel := context.WithTimeoutCause(ctx, listLimit, fmt.Errorf("the lists took longer than %s", units.DurationWords(listLimit)))
	defer cancel()
	<-f.streamReady // bounded by streamWait
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
		l.keep(f)
	}
	return true
}

// Fetch requests one list over a connection and stores it in into, without publishing it.
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

// fetch requests one list and publishes it.
func (l *Listing) fetch(ctx context.Context, f *Feed, which Kind) error {
	f.fetchMu[which].Lock()
	defer f.fetchMu[which].Unlock()
	next := &Lists{}
	if err := l.Fetch(ctx, f, which, next); err != nil {
		return err
	}
	switch which {
	case Tools:
		l.publishTools(f, next)
	case Resources:
		l.update(f, false, func(k *Lists) { k.Resources = next.Resources })
	case Templates:
		l.update(f, false, func(k *Lists) { k.Templates = next.Templates })
	case Prompts:
		l.update(f, false, func(k *Lists) { k.Prompts = next.Prompts })
	}
	return nil
}

// publishTools publishes tools that came from f, unless another connection's lists are published.
func (l *Listing) publishTools(f *Feed, next *Lists) {
	if l.Feed() != f {
		return
	}
	l.staleAt.Store(time.Now().Add(next.lifetime()).UnixNano())
	l.checkPins(next, true)
	l.update(f, true, func(k *Lists) {
		k.Tools, k.Dropped, k.truncated, k.ttl, k.scope = next.Tools, next.Dropped, next.truncated, next.ttl, next.scope
	})
}

// update changes the published lists by something that f reported. It does nothing if another connection has replaced
// f meanwhile. confirmed says that f has just listed the tools.
func (l *Listing) update(f *Feed, confirmed bool, change func(*Lists)) {
	l.publishMu.Lock()
	defer l.publishMu.Unlock()
	l.mu.Lock()
	if l.feed != f {
		l.mu.Unlock()
		return
	}
	if confirmed {
		l.meta.validated = time.Now()
	}
	l.mu.Unlock()
	k := l.copyWithHandshake(f)
	change(k)
	l.publish(k, tool.FreshLive, "")
}

// Error says that a server runs but does not list its tools.
type Error struct{ err error }

// Error returns the message with its cause.
func (e *Error) Error() string { return "list tools: " + e.err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.err }

// copyWithHandshake returns a copy of the known lists, with what the handshake of f says.
func (l *Listing) copyWithHandshake(f *Feed) *Lists {
	k := &Lists{}
	if old := l.Lists(); old != nil {
		*k = *old
	}
	k.Instructions, k.info, k.capabilities = f.client.Instructions, f.client.Info, f.client.Capabilities
	k.version, k.modern, k.remote = f.client.Version, f.client.Era == mcp.Modern, f.remote
	return k
}

// lifetime returns how long live lists are used before they are fetched again.
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
		l.logDropped("tool", err)
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
		if isMissing(mcp.Get(def, "inputSchema")) {
			l.opts.ServerLog.Add("collie", fmt.Sprintf("tool %q has no inputSchema, taken as an object", a.Name))
		}
		seen[a.Name] = true
		k.Tools = append(k.Tools, def)
		return len(k.Tools) < maxTools
	}
	err := l.pages(ctx, f, k, "tools", "tools/list", "tools", each, func() int { return len(k.Tools) })
	if early := elements(f.client.Tools); len(early) > 0 && (isMethodNotFound(err) || !f.client.Can("tools")) {
		l.logDropped("the method tools/list", errors.New("the server lists its tools in its initialize result, which is not MCP; they are taken from there"))
		err = nil
		for _, def := range early {
			each(def)
		}
	}
	return err
}

// logDropped logs, in the server's log and ours, that a list entry was left out.
func (l *Listing) logDropped(noun string, err error) {
	l.opts.ServerLog.Add("collie", noun+" left out: "+err.Error())
	l.opts.Log.Warn("list entry left out", "what", noun, "error", err)
}

// checkEntry reports whether an entry is small enough and its name new; if not, it is dropped.
func (l *Listing) checkEntry(seen map[string]bool, def json.RawMessage, key, noun string) bool {
	id := mcp.GetString(def, key)
	switch {
	case id == "" || len(def) > toolcache.MaxDefinition:
		l.logDropped(noun, fmt.Errorf("an entry without a %s: %.80s", key, def))
	case seen[id]:
		l.logDropped(noun, fmt.Errorf("%s %q is listed twice, the first counts", key, id))
	default:
		seen[id] = true
		return true
	}
	return false
}

func (l *Listing) fetchResources(ctx context.Context, f *Feed, k *Lists) error {
	seen := map[string]bool{}
	err := l.pages(ctx, f, nil, "resources", "resources/list", "resources", func(def json.RawMessage) bool {
		if l.checkEntry(seen, def, "uri", "resource") {
			k.Resources = append(k.Resources, def)
		}
		return len(k.Resources) < maxEntries
	}, func() int { return len(k.Resources) })
	if err != nil {
		return fmt.Errorf("list resources: %w", err)
	}
	return nil
}

// fetchTemplates fetches resource templates, which are optional for servers with resources.
func (l *Listing) fetchTemplates(ctx context.Context, f *Feed, k *Lists) error {
	seen := map[string]bool{}
	err := l.pages(ctx, f, nil, "resources", "resources/templates/list", "resourceTemplates", func(def json.RawMessage) bool {
		if l.checkEntry(seen, def, "uriTemplate", "resource template") {
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
			l.logDropped("prompt", err)
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
