package access

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// Snapshot is the levels of all notebooks at one moment; one serves a whole call. It is safe
// for concurrent use.
type Snapshot struct {
	listed   map[kernel.ID]Level // what the files say
	fallback Level               // of a notebook that no file lists
	list     func(context.Context) ([]kernel.Notebook, error)
	ceiling  *Ceiling // that the levels are under; nil for none

	notebooks  *latest[[]kernel.Notebook]
	staleSince time.Time
}

// NewSnapshot returns a snapshot of listed levels; a notebook that is not listed has the
// fallback level. list returns all notebooks of the workspace and is called at most once with
// success.
func NewSnapshot(listed map[kernel.ID]Level, fallback Level, list func(context.Context) ([]kernel.Notebook, error)) *Snapshot {
	return &Snapshot{listed: listed, fallback: fallback, list: list, notebooks: newLatest[[]kernel.Notebook]()}
}

// Stale returns when the levels were read, if they could not be read since; the zero time means
// that they are current.
func (s *Snapshot) Stale() time.Time { return s.staleSince }

// Of returns the level of a notebook.
func (s *Snapshot) Of(notebook kernel.ID) Level {
	if l, ok := s.listed[notebook]; ok {
		return l
	}
	return s.fallback
}

// Readable reports whether a notebook may be read. What belongs to no notebook may not.
func (s *Snapshot) Readable(notebook kernel.ID) bool { return notebook != "" && s.Of(notebook) >= Read }

// Check returns nil if a notebook has the level that is needed. Where it has none the error is
// [NotFound] of what the caller named, the same as if it did not exist; else it is of
// kind Denied. what and subject are as for [NotFound].
func (s *Snapshot) Check(notebook kernel.ID, need Level, what What, subject string) error {
	have := s.Of(notebook)
	switch {
	case have >= need:
		return nil
	case have == None:
		return NotFound(what, subject)
	}
	e := denied(notebook, s.known(notebook), have, need)
	if s.Most(notebook) < need {
		e.Hint = heldByProfile
	}
	return e
}

// known is the name of a notebook, if the notebooks have been read; a refusal asks for nothing.
func (s *Snapshot) known(notebook kernel.ID) string {
	o, _, ok := s.notebooks.remembered(forever, false)
	if !ok || o.err != nil {
		return ""
	}
	for i := range o.value {
		if o.value[i].ID == notebook {
			return o.value[i].Name
		}
	}
	return ""
}

// All returns all notebooks of the workspace, those of level none included: never for a
// caller's eyes. The slice belongs to the snapshot.
func (s *Snapshot) All(ctx context.Context) ([]kernel.Notebook, error) {
	return s.notebooks.get(ctx, forever, false, s.list)
}

const forever = time.Duration(math.MaxInt64)

// Visible returns the notebooks that may be read.
func (s *Snapshot) Visible(ctx context.Context) ([]kernel.Notebook, error) {
	all, err := s.All(ctx)
	if err != nil {
		return nil, err
	}
	var out []kernel.Notebook
	for _, n := range all {
		if s.Readable(n.ID) {
			out = append(out, n)
		}
	}
	return out, nil
}

// Restricted reports whether anything has to be filtered: some notebook that is listed has level none, or
// those that are not listed have.
func (s *Snapshot) Restricted(ctx context.Context) (bool, error) {
	for _, l := range s.listed {
		if l == None {
			return true, nil
		}
	}
	return s.fallback == None, nil
}

// Everywhere returns nil if every notebook has the level, for what touches the whole
// workspace. A hidden notebook is never named.
func (s *Snapshot) Everywhere(ctx context.Context, need Level) error {
	all, err := s.All(ctx)
	if err != nil {
		return err
	}
	low := []string{}
	hidden := s.fallback == None // of notebooks that lsNotebooks leaves out
	for _, l := range s.listed { // a hidden one that lsNotebooks leaves out counts too; others are gone
		hidden = hidden || l == None
	}
	for _, n := range all {
		if have := s.Of(n.ID); have == None {
			hidden = true
		} else if have < need {
			low = append(low, string(n.ID))
		}
	}
	if len(low) == 0 && !hidden {
		return nil
	}
	slices.Sort(low)
	e := &tool.Error{
		Op: "check", Kind: tool.Denied,
		Message: fmt.Sprintf("this touches the whole workspace, so every notebook must allow to %s", need.Verb()),
		Hint:    "a person can allow it: collie siyuan permission set NOTEBOOK " + need.String(),
		Facts:   map[string]any{"notebooks": low, "required_permission": need.Verb()},
	}
	if s.ceiling != nil {
		e.Hint = heldByProfile
	}
	return e
}
