package pins

import (
	"context"
	"maps"
	"slices"

	"collie/internal/tool"
)

// This file changes pins at a person's request: approving definitions, and renaming a server.

// Approve pins the pending definitions of the named tools, or of all tools of a server, and returns how many. It
// returns once they are on disk. If a named tool has nothing pending, nothing is approved and the error has kind
// NotFound. Any other error says why the file could not be written: the approval then holds in this process, and the
// write is retried in the background.
func (s *Store) Approve(ctx context.Context, server string, tools ...string) (n int, err error) {
	if s == nil {
		return 0, nil
	}
	b := s.lock()
	b.refresh()
	agreed, err := b.pendingDefinitions(server, tools)
	if err != nil || len(agreed) == 0 {
		s.mu.Unlock()
		return 0, err
	}
	now := s.opts.Now()
	b.apply(func(st state) {
		for name, p := range agreed {
			st.put(server, name, st[server][name].approve(p, now))
		}
	})
	for name := range agreed {
		delete(b.dirty[server], name) // replaced by the edit
	}
	s.mu.Unlock()
	return len(agreed), s.flush(ctx)
}

// pendingDefinitions returns the pending definitions of the named tools, or of all.
func (b *pinBook) pendingDefinitions(server string, tools []string) (map[string]sighting, error) {
	pending := map[string]sighting{}
	for name, r := range b.pins[server] {
		if r.pending != nil {
			pending[name] = *r.pending
		}
	}
	if len(tools) == 0 {
		return pending, nil
	}
	wanted := map[string]sighting{}
	for _, name := range tools {
		p, ok := pending[name]
		if !ok {
			e := &tool.Error{
				Op: "approve", Kind: tool.NotFound, Subject: server + "/" + name,
				Message: "no change of this tool waits for approval",
			}
			if near, ok := tool.Nearest(name, slices.Sorted(maps.Keys(pending))); ok {
				e.Hint = "did you mean " + near + "?"
			}
			return nil, e
		}
		wanted[name] = p
	}
	return wanted, nil
}

// Rename moves the pins of a server to its new name. Tools that are already pinned under the new name keep those
// pins.
func (s *Store) Rename(from, to string) {
	if s == nil || from == to {
		return
	}
	b := s.lock()
	defer s.mu.Unlock()
	b.refresh()
	move := func(st state) {
		for name, r := range st[from] {
			if st[to][name] == nil {
				st.put(to, name, r)
			}
		}
		delete(st, from)
	}
	move(b.dirty)
	b.apply(move)
	b.writeSoon()
}

// apply makes an edit in memory at once, and in the file with the next write.
func (b *pinBook) apply(e edit) {
	e(b.pins)
	if b.store.file.Path != "" {
		b.edits = append(b.edits, e)
	}
	b.wakeWatchers()
}
