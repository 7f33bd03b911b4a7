package admin

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file lets a person see and set the levels of notebooks.

// ErrLevelHeld is in the error chain of [Notes.SetLevel] if the new level was written but a lower one in the plugin's
// file takes precedence.
var ErrLevelHeld = access.ErrHeld

// NotebookLevel is a notebook with its level.
type NotebookLevel struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Level  string `json:"level"` // none, r, rw or rwd
	Closed bool   `json:"closed,omitempty"`
}

// OnRecord returns what to record of a change that ended with err, and whether to record it. A change that may have been
// made is recorded too, with "outcome":"unknown" added to detail.
func OnRecord(detail map[string]any, err error) (map[string]any, bool) {
	if err == nil || errors.Is(err, ErrLevelHeld) {
		return detail, true
	}
	if e, ok := errors.AsType[*tool.Error](err); !ok || !e.OutcomeUnknown {
		return nil, false
	}
	detail = maps.Clone(detail)
	detail["outcome"] = "unknown"
	return detail, true
}

// LevelNames returns the levels, lowest first; each allows everything that lower ones allow.
func LevelNames() []string { return []string{"none", "r", "rw", "rwd"} }

// Levels returns the levels of all notebooks, hidden ones included, so it is only for the person whose notes they
// are.
func (n *Notes) Levels(ctx context.Context) ([]NotebookLevel, error) {
	source, err := n.verifiedSource(ctx)
	if err != nil {
		return nil, err
	}
	levels, err := source.Levels().Snapshot(ctx, true)
	if err != nil {
		return nil, err
	}
	all, err := levels.All(ctx)
	out := make([]NotebookLevel, len(all))
	for i, b := range all {
		out[i] = NotebookLevel{string(b.ID), b.Name, levels.Of(b.ID).String(), b.Closed}
	}
	return out, err
}

// Level returns the notebook with that id or name, and its level. For a name of several notebooks the error has kind
// Ambiguous and lists their ids.
func (n *Notes) Level(ctx context.Context, notebook string) (NotebookLevel, error) {
	all, err := n.Levels(ctx)
	if err != nil {
		return NotebookLevel{}, err
	}
	return FindNotebook(all, notebook)
}

// FindNotebook returns the notebook with that id or name. It fails if there is none, or if several have the name.
func FindNotebook(all []NotebookLevel, notebook string) (NotebookLevel, error) {
	var named, like []NotebookLevel
	for _, b := range all {
		switch {
		case b.ID == notebook:
			return b, nil
		case b.Name == notebook:
			named = append(named, b)
		case strings.EqualFold(b.Name, strings.TrimSpace(notebook)):
			like = append(like, b)
		}
	}
	if len(named) == 0 {
		named = like
	}
	switch len(named) {
	case 1:
		return named[0], nil
	case 0:
		return NotebookLevel{}, unknownNotebookError(all, notebook)
	}
	ids := make([]string, len(named))
	for i, b := range named {
		ids[i] = b.ID
	}
	return NotebookLevel{}, &tool.Error{
		Op: "find notebook", Kind: tool.Ambiguous, Subject: notebook,
		Message: fmt.Sprintf("%d notebooks have that name", len(named)), Hint: "name it by its id: " + strings.Join(ids, ", "),
	}
}

func unknownNotebookError(all []NotebookLevel, notebook string) error {
	names := make([]string, len(all))
	for i, b := range all {
		names[i] = b.Name
	}
	e := &tool.Error{
		Op: "find notebook", Kind: tool.NotFound, Code: kernel.CodeNotebookNotFound, Subject: notebook,
		Message: "no notebook has that id or name", Hint: "collie siyuan permission list shows them",
	}
	if near, ok := tool.Nearest(notebook, names); ok {
		e.Hint = fmt.Sprintf("did you mean %s?", near)
	}
	return e
}

// SetLevel sets the level of a notebook, named as for [Notes.Level], and returns the notebook with its old level. An
// error that matches [ErrLevelHeld] means that the level was written.
func (n *Notes) SetLevel(ctx context.Context, notebook, level string) (before NotebookLevel, err error) {
	to, err := access.ParseLevel(level)
	if err != nil {
		e := &tool.Error{Op: "set level", Kind: tool.Invalid, Subject: level, Message: "there is no such level, expected none, r, rw or rwd"}
		if near, ok := tool.Nearest(level, LevelNames()); ok {
			e.Hint = "did you mean " + near + "?"
		}
		return NotebookLevel{}, e
	}
	if before, err = n.Level(ctx, notebook); err != nil {
		return before, err
	}
	source, err := n.verifiedSource(ctx)
	if err != nil {
		return before, err
	}
	old, err := source.Levels().Set(ctx, kernel.ID(before.ID), to)
	if err == nil || slices.Contains(LevelNames(), old.String()) && old != access.None {
		before.Level = old.String() // the level at the moment of the write
	}
	return before, err
}
