package access

import "collie/internal/source/siyuan/kernel"

// Ceiling bounds what a caller may do in each notebook, whatever the levels of the workspace allow. The zero value
// allows nothing.
type Ceiling struct {
	Listed map[kernel.ID]Level
	Others Level // for notebooks not in Listed
}

// of returns the highest level that the ceiling allows in a notebook.
func (c Ceiling) of(notebook kernel.ID) Level {
	if l, ok := c.Listed[notebook]; ok {
		return l
	}
	return c.Others
}

// Most returns the highest level that the snapshot's ceiling allows in a notebook, whatever its level is.
func (s *Snapshot) Most(notebook kernel.ID) Level {
	if s.ceiling == nil {
		return Delete
	}
	return s.ceiling.of(notebook)
}

// Under returns the same levels, each lowered to the ceiling. Both snapshots share one reading of the list of
// notebooks.
func (s *Snapshot) Under(c Ceiling) *Snapshot {
	if len(c.Listed) == 0 && c.Others == Delete {
		return s
	}
	out := *s
	out.ceiling = &c
	out.fallback = min(s.fallback, c.Others)
	out.listed = make(map[kernel.ID]Level, len(s.listed)+len(c.Listed))
	for id, l := range s.listed {
		out.listed[id] = min(l, c.of(id))
	}
	for id, l := range c.Listed {
		out.listed[id] = min(l, s.Of(id))
	}
	return &out
}
