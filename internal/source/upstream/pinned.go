package upstream

import (
	"context"
	"maps"
	"slices"
	"strings"

	"collie/internal/source/upstream/entry"
	"collie/internal/source/upstream/pins"
)

// changes are the tools of a server whose definitions are not the pinned ones.
type changes map[string]pins.Change

// checkPins holds tool definitions against their pins (7.6). It reports false for a list from
// the cache that no server has ever given: somebody has edited the file.
func (s *Server) checkPins(k *known, live bool) (ok bool) {
	if s.set.opts.Pins == nil {
		return true
	}
	found := changes{}
	for _, ch := range s.set.opts.Pins.Check(s.name, k.tools, live) {
		if ch.Kind == pins.Tampered {
			s.log.Warn("a tool in the cache is not what the server gave, the list is not used", "tool", ch.Tool)
			return false
		}
		found[ch.Tool] = ch
	}
	s.takeChanges(found)
	return true
}

// takeChanges makes found the changes that are shown, and tells of new ones.
func (s *Server) takeChanges(found changes) {
	before := s.pinned.Load()
	if before != nil && maps.EqualFunc(*before, found, func(a, b pins.Change) bool { return a.Hash == b.Hash }) ||
		before == nil && len(found) == 0 {
		return
	}
	conf := s.settings()
	for name, ch := range found {
		if before != nil && (*before)[name].Hash == ch.Hash || conf.Trust == entry.Trusted {
			continue
		}
		s.log.Warn("the definition of a tool has changed since it was first seen; collie mcp approve accepts it",
			"tool", name, "changed", strings.Join(ch.Fields, ", "))
	}
	s.pinned.Store(&found)
	s.mu.Lock()
	s.changed = slices.Sorted(maps.Keys(found))
	s.mu.Unlock()
}

// withheld says why a tool is not offered for its changed definition; empty if it is.
func (s *Server) withheld(name string) string {
	found := s.pinned.Load()
	if found == nil || s.settings().Trust != entry.Pin {
		return ""
	}
	if ch, ok := (*found)[name]; ok {
		return "its definition has changed (" + strings.Join(ch.Fields, ", ") + "); collie mcp approve " + s.name + " " + name + " accepts it"
	}
	return ""
}

// Changes are the tools whose definitions wait for approval.
func (s *Server) Changes() map[string]pins.Change { return s.set.opts.Pins.Pending(s.name) }

// Approve accepts changed definitions, all of them if no tool is named, and returns how many.
func (s *Server) Approve(ctx context.Context, tools ...string) (int, error) {
	n, err := s.set.opts.Pins.Approve(ctx, s.name, tools...)
	if err != nil {
		return n, err
	}
	s.recheck()
	return n, nil
}

// recheck looks at the pins again, after a person or another gateway has changed them.
func (s *Server) recheck() {
	if s.known.Load() == nil {
		return
	}
	s.takeChanges(changes(s.Changes()))
	s.republish()
}
