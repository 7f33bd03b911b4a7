package access

import (
	"fmt"

	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

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

// Unlisted returns nil if a ceiling shows notebooks that it does not list, as a new one will be; else the error that
// refuses to make one.
func (s *Snapshot) Unlisted() error {
	if s.Most("") != None {
		return nil
	}
	return &tool.Error{
		Op: "check", Kind: tool.Denied,
		Message: "the profile of this client shows only the notebooks that it lists, so a new one would be hidden from it",
		Hint:    "a person can make the notebook and list it in the notebooks of the profile, in the settings",
	}
}

// Hint returns what to try where the level of a notebook is too low: raise the level, unless the ceiling holds it down.
func (s *Snapshot) Hint(notebook kernel.ID, need Level) string {
	if s.Most(notebook) < need {
		return heldByProfile
	}
	return fmt.Sprintf("a person can allow it: collie siyuan permission set %s %s", notebook, need)
}

// Capped reports whether a ceiling applies.
func (s *Snapshot) Capped() bool { return s.ceiling != nil }

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
