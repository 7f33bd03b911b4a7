package access

import "collie/internal/source/siyuan/kernel"

// Ceiling is how much some caller is allowed at most, whatever the levels of the workspace say. The zero value
// allows nothing.
type Ceiling struct {
	Listed map[kernel.ID]Level
	Others Level // of notebooks that are not listed
}

// of is the most that is allowed in a notebook.
func (c Ceiling) of(notebook kernel.ID) Level {
	if l, ok := c.Listed[notebook]; ok {
		return l
	}
	return c.Others
}

// Most is the most that the ceiling of the snapshot allows in a notebook, whatever its level will be.
func (s *Snapshot) Most(notebook kernel.ID) Level {
	if s.ceiling == nil {
		return Delete
	}
	return s.ceiling.of(notebook)
}

// Under returns the same levels with none above the ceiling. The list of notebooks is read once for both.
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
