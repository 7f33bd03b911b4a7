package listing

import (
	"context"
	"maps"
	"slices"
	"strings"

	"collie/internal/source/upstream/entry"
	"collie/internal/source/upstream/pins"
	"collie/internal/tool"
)

// This file compares definitions of tools with those that were seen first, and hides changed ones until a person
// agrees.

// pinChanges are the tools of a server whose definitions differ from their pins.
type pinChanges map[string]pins.Change

// checkPins compares tool definitions with their pins. It returns false for a list from the cache that no server has
// given: somebody has edited the file.
func (l *Listing) checkPins(k *Lists, live bool) (ok bool) {
	if l.opts.Pins == nil {
		return true
	}
	found := pinChanges{}
	for _, ch := range l.opts.Pins.Check(l.opts.Name, k.Tools, live) {
		if ch.Kind == pins.Tampered {
			l.opts.Log.Warn("a tool in the cache is not what the server gave, the list is not used", "tool", ch.Tool)
			return false
		}
		found[ch.Tool] = ch
	}
	l.showChanges(found)
	return true
}

// showChanges stores found as the changes to show, and reports new ones.
func (l *Listing) showChanges(found pinChanges) {
	before := l.pinned.Load()
	if before != nil && maps.EqualFunc(*before, found, func(a, b pins.Change) bool { return a.Hash == b.Hash }) ||
		before == nil && len(found) == 0 {
		return
	}
	conf := l.opts.Settings()
	for name, ch := range found {
		if before != nil && (*before)[name].Hash == ch.Hash || conf.Trust == entry.Trusted {
			continue
		}
		l.opts.Log.Warn("the definition of a tool has changed since it was first seen; collie mcp approve accepts it",
			"tool", name, "changed", strings.Join(ch.Fields, ", "))
	}
	l.pinned.Store(&found)
	l.mu.Lock()
	l.meta.changed = slices.Sorted(maps.Keys(found))
	l.mu.Unlock()
}

// changed reports whether the definition of a tool differs from its pin.
func (l *Listing) changed(name string) bool {
	found := l.pinned.Load()
	if found == nil {
		return false
	}
	_, ok := (*found)[name]
	return ok
}

// withheldReason returns why a tool is hidden because its definition changed; empty if it is not.
func (l *Listing) withheldReason(name string) string {
	found := l.pinned.Load()
	if found == nil || l.opts.Settings().Trust != entry.Pin {
		return ""
	}
	if ch, ok := (*found)[name]; ok {
		return "its definition has changed (" + strings.Join(ch.Fields, ", ") + "); collie mcp approve " + l.opts.Name + " " + name + " accepts it"
	}
	return ""
}

// Changes returns the tools whose definitions wait for approval.
func (l *Listing) Changes() map[string]pins.Change { return l.opts.Pins.Pending(l.opts.Name) }

// Approve accepts the changed definitions in shown, which has their hashes by tool, and returns how many it accepted.
func (l *Listing) Approve(ctx context.Context, shown map[string]string) (int, error) {
	n, err := l.opts.Pins.Approve(ctx, l.opts.Name, shown)
	if err != nil {
		return n, err
	}
	l.Recheck()
	return n, nil
}

// Recheck compares with the pins again, after a person or another gateway has changed them.
func (l *Listing) Recheck() {
	if l.Lists() == nil {
		return
	}
	l.showChanges(pinChanges(l.Changes()))
	l.Republish()
}

// CheckLate compares lists from the cache with the pins if that was put off; see [Listing.Recall].
func (l *Listing) CheckLate() {
	if !l.unchecked.Swap(false) {
		return
	}
	l.showChanges(pinChanges(l.Changes()))
	if l.opts.Settings().Trust == entry.Pin { // the setting changed meanwhile, so pins now hide tools
		l.Republish()
	}
}

// Succeed publishes what another listing offers, unless the pins forbid it, until the server tells its own lists.
func (l *Listing) Succeed(old *Listing) {
	if k := old.Lists(); k != nil && l.checkPins(k, false) {
		l.Publish(k, tool.FreshStale, "config_changed")
	}
}
