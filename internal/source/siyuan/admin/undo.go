package admin

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/safety"
	"collie/internal/tool"
)

// Write is a recent write, recorded so that it can be undone.
type Write = safety.Entry

// The states of a [Write].
const (
	writeCommitted = safety.Committed
	WriteUndone    = safety.Undone
)

// Writes returns the recorded writes to this kernel, newest first.
func (n *Notes) Writes() ([]Write, error) {
	return n.undoLog.List()
}

// Write returns a recorded write by its request id.
func (n *Notes) Write(id string) (*Write, error) {
	return n.undoLog.Get(id)
}

// mostNamed bounds the documents that NameWrites asks for.
const mostNamed = 500

// NameWrites has writes name the documents that they wrote to by their paths as they are now, if the kernel knows them
// and tools may read them. A write itself records only what it knew without asking.
func (n *Notes) NameWrites(ctx context.Context, list []Write) error {
	var ids []string
	for i := range list {
		for _, id := range list[i].Documents {
			if !slices.Contains(ids, id) && len(ids) < mostNamed {
				ids = append(ids, id)
			}
		}
	}
	if len(ids) == 0 {
		return nil
	}
	source, err := n.verifiedSource(ctx)
	if err != nil {
		return err
	}
	levels, err := source.Levels().Snapshot(ctx, false)
	if err != nil {
		return err
	}
	visible, err := levels.Visible(ctx)
	if err != nil {
		return err
	}
	quoted := make([]string, len(ids))
	for i, id := range ids {
		quoted[i] = kernel.Quote(id)
	}
	type document struct {
		ID    string    `json:"id"`
		Box   kernel.ID `json:"box"`
		HPath string    `json:"hpath"`
	}
	rows, err := kernel.SQL[document](ctx, source.Kernel(), "SELECT id, box, hpath FROM blocks WHERE type = 'd' AND id IN ("+strings.Join(quoted, ",")+") LIMIT "+strconv.Itoa(mostNamed))
	if err != nil {
		return err
	}
	paths := map[string]string{}
	for _, d := range rows {
		paths[d.ID] = action.DocumentPath(visible, d.Box, d.HPath)
	}
	for i := range list {
		var names []string
		for _, id := range list[i].Documents {
			if paths[id] != "" {
				names = append(names, paths[id])
			}
		}
		if len(names) > 0 && len(names) == len(list[i].Documents) {
			list[i].Names = names
		}
	}
	return nil
}

// ChangedSince returns the ids of targets that somebody has changed since a write.
func (n *Notes) ChangedSince(ctx context.Context, w *Write) ([]string, error) {
	source, err := n.verifiedSource(ctx)
	if err != nil || !w.HasText() {
		return nil, err
	}
	ids, err := n.undoLog.ChangedSince(ctx, source.Kernel(), w)
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = string(id)
	}
	return out, err
}

// Restore restores what a write changed, or removes what it added. The levels of the notebooks must allow it like any write. A write with an
// Inverse is undone by that call instead, followed by [Notes.Undone].
func (n *Notes) Restore(ctx context.Context, w *Write) error {
	source, err := n.verifiedSource(ctx)
	if err != nil {
		return err
	}
	levels, err := source.Levels().Snapshot(ctx, true)
	if err != nil {
		return err
	}
	for _, b := range w.Before {
		if err := levels.Check(b.Notebook, access.Write, access.Block, string(b.ID)); err != nil {
			return err
		}
	}
	if w.Added != "" {
		// It takes away what this write has made and nothing else, so the level that allowed the write allows it.
		switch notebook, _, err := source.Kernel().PathByID(ctx, w.Added); {
		case err == nil:
			if err := levels.Check(notebook, access.Write, access.Document, string(w.Added)); err != nil {
				return err
			}
		case tool.KindOf(err) != tool.NotFound: // if the document is gone, Restore reports it below
			return err
		}
	}
	for _, id := range w.AddedBlocks {
		switch place, err := source.Kernel().Place(ctx, id); {
		case err == nil:
			if err := levels.Check(place.Notebook, access.Write, access.Block, string(id)); err != nil {
				return err
			}
		case tool.KindOf(err) != tool.NotFound:
			return err
		}
	}
	return n.undoLog.Restore(ctx, source.Kernel(), w)
}

// Undone records that a write was undone.
func (n *Notes) Undone(w *Write) error {
	return n.undoLog.Undone(w)
}

// UndoCall returns the call that undoes a write; nil for one that is undone by Restore.
func UndoCall(w *Write, principal, client string, caller tool.Caller) *tool.Request {
	if w.Inverse == nil {
		return nil
	}
	return &tool.Request{
		Kind: tool.KindCall, Name: w.Inverse.Tool + "/" + w.Inverse.Action, Args: w.Inverse.Args,
		Origin: tool.Direct, Principal: principal, Client: client, Caller: caller,
	}
}
