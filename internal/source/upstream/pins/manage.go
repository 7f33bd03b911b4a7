package pins

import (
	"context"
	"maps"
	"slices"

	"collie/internal/tool"
)

// Approve pins what is pending of a server, as a person has seen it, and returns how many
// tools that were: of the tools named, or of all. It returns when that is on disk. An error
// of kind Unknown names a tool for which nothing is pending, and nothing is approved then;
// any other one is why the file could not be written: the approval holds for this process,
// and the file is tried again in the background.
func (s *Store) Approve(ctx context.Context, server string, tools ...string) (n int, err error) {
	if s == nil {
		return 0, nil
	}
	b := s.lock()
	b.refresh()
	agreed, err := b.agreed(server, tools)
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
		delete(b.dirty[server], name) // the edit says it all
	}
	s.mu.Unlock()
	return len(agreed), s.flush(ctx)
}

// agreed is what is pending of the tools named, or of all.
func (b *book) agreed(server string, tools []string) (map[string]sighting, error) {
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
				Op: "approve", Kind: tool.Unknown, Subject: server + "/" + name,
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

// Rename moves the pins of a server to its new name. Tools that are pinned under the new one
// already stay as they are there.
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

// apply makes an edit in memory, and in the file with the next write.
func (b *book) apply(e edit) {
	e(b.pins)
	if b.store.file.Path != "" {
		b.edits = append(b.edits, e)
	}
	b.note()
}
