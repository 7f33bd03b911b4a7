package listing

import (
	"time"

	"collie/internal/mcp"
	"collie/internal/source/upstream/entry"
	"collie/internal/source/upstream/toolcache"
	"collie/internal/tool"
)

// This file keeps the lists of a server in the cache, and publishes what the cache has until the server tells its own.

// Want returns the description of the server for the cache, nil if the server has no identity.
func (l *Listing) Want() *toolcache.Want {
	if l.opts.Hash == "" {
		return nil
	}
	conf := l.opts.Settings()
	return &toolcache.Want{
		Name: l.opts.Name, Hash: l.opts.Hash, Fingerprint: l.opts.Fingerprint(), Principal: l.opts.Principal(),
		MaxAge: conf.Cache.MaxAge, MaxStale: conf.Cache.MaxStale,
	}
}

// Recall publishes what the cache has for the server and returns how valid that is; Hit where it publishes nothing because
// the server itself, or another reader of the cache, has told something newer. A list with this home's seal
// was compared with the pins when it was stored. With quick it is not compared again here, unless the trust level is pin,
// at which changed tools are hidden: CheckLate does that later, to find definitions that wait for approval.
func (l *Listing) Recall(quick bool) (v toolcache.Verdict, why string) {
	w := l.Want()
	if w == nil || !l.opts.Settings().Cache.Enabled {
		return toolcache.Miss, "off"
	}
	e, v, why := l.opts.Cache.Lookup(*w)
	if v != toolcache.Hit && v != toolcache.Stale {
		return v, why
	}
	k := &Lists{
		Tools: e.Tools, Resources: e.Resources, Templates: e.ResourceTemplates, Prompts: e.Prompts,
		Instructions: e.Instructions, info: e.ServerInfo, capabilities: e.Capabilities, version: e.ProtocolVersion,
		modern: e.Era == mcp.Modern.String(), remote: e.Transport != string(entry.Stdio),
		truncated: e.Truncated, Dropped: e.Dropped, ttl: e.TTL, scope: e.CacheScope,
	}
	if quick && e.Sealed && l.opts.Settings().Trust != entry.Pin {
		l.unchecked.Store(true)
	} else if live := false; !l.checkPins(k, live) {
		return toolcache.Miss, "tampered"
	}
	l.publishMu.Lock()
	defer l.publishMu.Unlock()
	if !l.isNews(e) || !l.opts.Recalled(e) || !l.accept(e) {
		return toolcache.Hit, ""
	}
	fresh := tool.FreshHit
	if v == toolcache.Stale {
		fresh = tool.FreshStale
	}
	l.publish(k, fresh, why)
	return v, why
}

// isNews reports whether a cache entry is worth publishing, because the server itself has not told anything newer.
func (l *Listing) isNews(e *toolcache.Entry) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.live.Load() && !e.ValidatedAt.Before(l.meta.validated)
}

// accept claims a cache entry for publication if it still is news.
func (l *Listing) accept(e *toolcache.Entry) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.live.Load() || e.ValidatedAt.Before(l.meta.validated) {
		return false
	}
	l.meta.validated = e.ValidatedAt
	l.meta.hello = handshakeInfo{e.Era, e.ProtocolVersion, NameOf(e.ServerInfo)}
	return true
}

// Forget withdraws lists that came from the cache, after somebody has cleared it. It returns false if there is
// nothing to withdraw: no lists are known, or running reports that the server runs, so that the lists are its own.
func (l *Listing) Forget(running func() bool) bool {
	if l.Lists() == nil {
		return false
	}
	l.publishMu.Lock()
	defer l.publishMu.Unlock()
	if running() {
		return false
	}
	l.publish(&Lists{}, tool.FreshNone, "no_entry")
	l.lists.Store(nil)
	l.mu.Lock()
	l.meta.validated = time.Time{}
	l.mu.Unlock()
	return true
}

// keep stores the lists of f in the cache, if they are the published ones. An empty list of tools from a server that
// announces tools never replaces a stored list.
func (l *Listing) keep(f *Feed) {
	k := l.Lists()
	conf := l.opts.Settings()
	if k == nil || l.opts.Hash == "" || !conf.Cache.Enabled || l.Feed() != f {
		return
	}
	if len(k.Tools) == 0 && k.can("tools") {
		if len(k.Dropped) == 0 {
			l.opts.Cache.Mark(l.opts.Name, toolcache.Empty, "empty_list")
		}
		return
	}
	era := mcp.Legacy
	if k.modern {
		era = mcp.Modern
	}
	eras, transport := l.opts.Eras(f.client)
	l.opts.Cache.Store(l.opts.Name, &toolcache.Entry{
		Tools: k.Tools, Prompts: k.Prompts, Resources: k.Resources, ResourceTemplates: k.Templates,
		ConfigHash: l.opts.Hash, Fingerprint: l.opts.Fingerprint(), Principal: l.opts.Principal(),
		ServerConfig: conf.Snapshot(l.opts.Home),
		Era:          era.String(), Eras: eras, ProtocolVersion: k.version, Transport: string(transport),
		ServerInfo: k.info, Capabilities: k.capabilities, Instructions: k.Instructions,
		TTL: k.ttl, CacheScope: k.scope, Truncated: k.truncated, Dropped: k.Dropped,
	})
}

// KeepCurrent stores the lists of the current feed in the cache, after all of them have arrived.
func (l *Listing) KeepCurrent() {
	if f := l.Feed(); f != nil && f.Await(l.opts.Life) == nil {
		l.keep(f)
	}
}

// Used is called after each call and each listing. If the live lists have reached their lifetime, it starts to fetch
// the tools again. See [Lists.lifetime].
func (l *Listing) Used(now time.Time) {
	if now.UnixNano() <= l.staleAt.Load() {
		return
	}
	l.staleAt.Store(now.Add(time.Hour).UnixNano()) // the refresh sets the real time
	if l.live.Load() {
		l.Ask(tool.ToolsChanged)
	}
}

// Aged reports whether the published lists are past their lifetime.
func (l *Listing) Aged(now time.Time) bool {
	k := l.Lists()
	if k == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return now.Sub(l.meta.validated) > k.lifetime()
}
