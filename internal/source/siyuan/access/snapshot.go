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

// This file has the levels of all notebooks as one call sees them.

// Snapshot has the levels of all notebooks at one moment. One snapshot serves a whole call. It is safe for concurrent
// use.
type Snapshot struct {
	listed   map[kernel.ID]Level // from the files
	fallback Level               // of notebooks that no file lists
	list     func(context.Context) ([]kernel.Notebook, error)
	ceiling  *Ceiling // the ceiling applied to the levels; nil for none

	notebooks  *sharedReading[[]kernel.Notebook]
	staleSince time.Time
}

// NewSnapshot returns a snapshot of listed levels; other notebooks have the level fallback. list returns all
// notebooks of the workspace, and is not called again once it has succeeded.
func NewSnapshot(listed map[kernel.ID]Level, fallback Level, list func(context.Context) ([]kernel.Notebook, error)) *Snapshot {
	return &Snapshot{listed: listed, fallback: fallback, list: list, notebooks: newSharedReading[[]kernel.Notebook]()}
}

// Stale returns the time of the levels if they could not be read since; the zero time means that they are current.
func (s *Snapshot) Stale() time.Time { return s.staleSince }

// Of returns the level of a notebook.
func (s *Snapshot) Of(notebook kernel.ID) Level {
	if l, ok := s.listed[notebook]; ok {
		return l
	}
	return s.fallback
}

// Readable reports whether a notebook may be read; false for the empty id.
func (s *Snapshot) Readable(notebook kernel.ID) bool { return notebook != "" && s.Of(notebook) >= Read }

// Check returns nil if a notebook has at least the level need. For a hidden notebook the error is [NotFound], as if
// it did not exist; otherwise it has kind Denied. what and subject are as for [NotFound].
func (s *Snapshot) Check(notebook kernel.ID, need Level, what What, subject string) error {
	have := s.Of(notebook)
	switch {
	case have >= need:
		return nil
	case have == None:
		return NotFound(what, subject)
	}
	return levelTooLowError(notebook, s.knownName(notebook), have, need, s.Hint(notebook, need))
}

// knownName returns the name of a notebook if the notebooks have been read already, since a refusal must not make a request.
func (s *Snapshot) knownName(notebook kernel.ID) string {
	o, _, ok := s.notebooks.freshOutcome(forever, false)
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

// All returns all notebooks of the workspace, including those of level none, so it must not be shown to callers. The
// slice belongs to the snapshot.
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

// Restricted reports whether results have to be filtered: some listed notebook, or all that are not listed, have
// level none.
func (s *Snapshot) Restricted(ctx context.Context) (bool, error) {
	for _, l := range s.listed {
		if l == None {
			return true, nil
		}
	}
	return s.fallback == None, nil
}

// Everywhere returns nil if every notebook has the level need, for actions on the whole workspace. The error never
// names a hidden notebook.
func (s *Snapshot) Everywhere(ctx context.Context, need Level) error {
	all, err := s.All(ctx)
	if err != nil {
		return err
	}
	low := []string{}
	hidden := s.fallback == None // for notebooks that lsNotebooks leaves out
	for _, l := range s.listed { // also counts hidden notebooks that lsNotebooks leaves out
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
