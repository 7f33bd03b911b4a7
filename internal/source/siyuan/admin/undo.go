package admin

import (
	"context"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/safety"
	"collie/internal/tool"
)

// Write is one write of the last days, as it is kept to be taken back.
type Write = safety.Entry

// What has become of a [Write].
const (
	writeCommitted = safety.Committed
	WriteUndone    = safety.Undone
)

// Writes are the writes to this kernel that are on record, newest first.
func (n *Notes) Writes() ([]Write, error) {
	return n.writes.List()
}

// Write is one of them by its request id.
func (n *Notes) Write(id string) (*Write, error) {
	return n.writes.Get(id)
}

// ChangedSince are the ids of what somebody has changed after a write.
func (n *Notes) ChangedSince(ctx context.Context, w *Write) ([]string, error) {
	source, err := n.managed(ctx)
	if err != nil || len(w.Before) == 0 {
		return nil, err
	}
	ids, err := n.writes.ChangedSince(ctx, source.Kernel(), w)
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = string(id)
	}
	return out, err
}

// Restore puts back what a write has changed. The notebooks must allow it as they must allow any
// write. A write with an Inverse is taken back by calling that, and [Notes.Undone].
func (n *Notes) Restore(ctx context.Context, w *Write) error {
	source, err := n.managed(ctx)
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
	return n.writes.Restore(ctx, source.Kernel(), w)
}

// Undone notes that a write was taken back.
func (n *Notes) Undone(w *Write) error {
	return n.writes.Undone(w)
}

// UndoCall is the call that takes a write back; nil for one whose targets are restored.
func UndoCall(w *Write, principal, client string, caller tool.Caller) *tool.Request {
	if w.Inverse == nil {
		return nil
	}
	return &tool.Request{
		Kind: tool.KindCall, Name: w.Inverse.Tool + "/" + w.Inverse.Action, Args: w.Inverse.Args,
		Origin: tool.Direct, Principal: principal, Client: client, Caller: caller,
	}
}
