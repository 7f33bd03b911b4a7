package safety

import (
	"context"
	"time"

	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
)

// Keep records a write to a document that no action makes, so that it can be undone like an action: it saves the state
// that the document has now. tool and action name the write in the record. The caller then makes the write, and calls
// done with its outcome.
func (c *Coordinator) Keep(ctx context.Context, k *kernel.Client, tool, action string, doc kernel.ID) (done func(error), err error) {
	_, saved, err := content.State(ctx, k, []kernel.ID{doc})
	if err != nil {
		return nil, err
	}
	notebook, path, err := k.PathByID(ctx, doc)
	if err != nil {
		return nil, err
	}
	hpath, err := k.HPathByID(ctx, doc)
	if err != nil {
		return nil, err
	}
	now := time.Now().UTC()
	e := &Entry{
		ID: newID(), Tool: tool, Action: action, Targets: []string{string(doc)}, Names: []string{hpath}, Created: now,
		Before: []Before{{Saved: saved[0], Document: true, Notebook: notebook, Root: doc, Path: path, HPath: hpath}},
	}
	note := func(state State) error {
		e.State, e.Updated = state, time.Now().UTC()
		return c.ledger.put(e)
	}
	if err := note(Executing); err != nil {
		return nil, err
	}
	return func(err error) {
		state := Committed
		if err != nil {
			state = Failed
		}
		if err := note(state); err != nil {
			c.log.Warn("write not on record", "request", e.ID, "error", err)
		}
	}, nil
}
