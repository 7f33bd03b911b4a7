package pins

import (
	"context"
	"maps"
	"slices"

	"collie/internal/tool"
)

// This file changes pins at a person's request: approving definitions, and renaming a server.

// Approve pins the pending definitions of a server that a person was shown, and returns how many. shown has the [Change.Hash] of
// each by its tool. Approve returns once they are on disk. If a tool has nothing pending, nothing is approved and the error
// has kind NotFound; if another definition is pending than was shown, it has kind StateChanged. Any other error says why the file could not be written: the approval then holds in this process, and the
// write is retried in the background.
func (s *Store) Approve(ctx context.Context, server string, shown map[string]string) (n int, err error) {
	if s == nil {
		return 0, nil
	}
	b := s.lock()
	b.refresh()
	agreed, err := b.pendingDefinitions(server, shown)
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

// pendingDefinitions returns the pending definitions of the tools in shown, which has their hashes.
func (b *pinBook) pendingDefinitions(server string, shown map[string]string) (map[string]sighting, error) {
	wanted := map[string]sighting{}
	for _, name := range slices.Sorted(maps.Keys(shown)) {
		r := b.pins[server][name]
		if r == nil || r.pending == nil {
			return nil, b.notPendingError(server, name)
		}
		if r.pending.hash != shown[name] { // the server has sent another one while the person was reading
			return nil, &tool.Error{
				Op: "approve", Kind: tool.StateChanged, Subject: server + "/" + name,
				Message: "its definition is not the one that was shown; nothing was accepted", Hint: "look at the new one, and decide again",
			}
		}
		wanted[name] = *r.pending
	}
	return wanted, nil
}

func (b *pinBook) notPendingError(server, name string) error {
	e := &tool.Error{
		Op: "approve", Kind: tool.NotFound, Subject: server + "/" + name,
		Message: "no change of this tool waits for approval",
	}
	var pending []string
	for other, r := range b.pins[server] {
		if r.pending != nil {
			pending = append(pending, other)
		}
	}
	slices.Sort(pending)
	if near, ok := tool.Nearest(name, pending); ok {
		e.Hint = "did you mean " + near + "?"
	}
	return e
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
