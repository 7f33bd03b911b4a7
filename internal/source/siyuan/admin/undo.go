package admin

import (
	"context"

	"collie/internal/source/siyuan/access"
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
		case tool.KindOf(err) != tool.NotFound: // of one that is gone, Restore says so
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
