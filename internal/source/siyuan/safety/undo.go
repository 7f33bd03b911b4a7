package safety

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// List returns the writes that are on record, newest first.
func (c *Coordinator) List() ([]Entry, error) { return c.ledger.list() }

// Get returns a write by its request id; an error of kind not_found if nobody made it, or too
// long ago.
func (c *Coordinator) Get(id string) (*Entry, error) {
	var e *Entry
	var err error
	if idPattern.MatchString(id) {
		e, err = c.ledger.get(id)
	}
	if errors.Is(err, ErrSealed) {
		return nil, &tool.Error{
			Op: "undo", Kind: tool.Conflicting, Subject: id, Message: err.Error(),
			Hint: "give the settings the key that they had when it was written",
		}
	}
	if err == nil && e == nil {
		return nil, &tool.Error{
			Op: "undo", Kind: tool.Unknown, Subject: id, Message: "no such write is on record",
			Hint: fmt.Sprintf("collie siyuan undo lists those of the last %d days", int(c.opts.Keep.Hours()/24)),
		}
	}
	return e, err
}

// ChangedSince are the targets of an entry that somebody has changed after it, as far as their
// times tell; for the question that a person is asked.
func (c *Coordinator) ChangedSince(ctx context.Context, k *kernel.Client, e *Entry) ([]kernel.ID, error) {
	ids := make([]kernel.ID, 0, len(e.Before))
	for _, b := range e.Before {
		ids = append(ids, b.ID)
	}
	attrs, err := k.BatchAttrs(ctx, ids)
	if err != nil {
		return nil, err
	}
	// The kernel writes local time of its own machine, to the second.
	const layout, slack = "20060102150405", 2 * time.Second
	var out []kernel.ID
	for _, id := range ids {
		at, err := time.ParseInLocation(layout, attrs[id]["updated"], time.Local)
		if err == nil && at.After(e.Updated.Add(slack)) {
			out = append(out, id)
		}
	}
	return out, nil
}

// Restore puts back the blocks and documents of an entry as they were, and notes that. An entry
// with an Inverse is the caller's to run, followed by [Coordinator.Undone]. What was restored
// before an error stays.
func (c *Coordinator) Restore(ctx context.Context, k *kernel.Client, e *Entry) error {
	if !e.CanUndo() || len(e.Before) == 0 {
		return notUndoable(e)
	}
	for i := range e.Before {
		if err := restore(ctx, k, &e.Before[i]); err != nil {
			return fmt.Errorf("restore %s: %w", e.Before[i].ID, err)
		}
	}
	return c.Undone(e)
}

func notUndoable(e *Entry) error {
	why := e.NoUndo
	switch {
	case e.State == Undone:
		why = "it was taken back already"
	case e.State == Failed:
		why = "nothing was written"
	case why == "":
		why = "it keeps nothing that could be put back"
	}
	return &tool.Error{Op: "undo", Kind: tool.Conflicting, Subject: e.ID, Message: fmt.Sprintf("%s.%s cannot be undone: %s", e.Tool, e.Action, why)}
}

// Undone notes that a write was taken back.
func (c *Coordinator) Undone(e *Entry) error {
	e.State, e.Updated = Undone, time.Now().UTC()
	return c.ledger.put(e)
}

// restore puts back one block or document.
func restore(ctx context.Context, k *kernel.Client, b *Before) error {
	if b.Document {
		return restoreDocument(ctx, k, b)
	}
	_, err := k.Place(ctx, b.ID)
	if err == nil {
		_, err = k.Update(ctx, b.ID, "markdown", b.Kramdown)
		return err
	}
	if tool.KindOf(err) != tool.Unknown {
		return err
	}
	for _, at := range []kernel.Anchor{{PreviousID: b.Previous}, {NextID: b.Next}, {ParentID: b.Parent}, {ParentID: b.Root}} {
		id := at.PreviousID + at.NextID + at.ParentID
		if id == "" {
			continue
		}
		if _, err := k.Place(ctx, id); err != nil {
			if tool.KindOf(err) == tool.Unknown {
				continue
			}
			return err
		}
		_, err := k.Insert(ctx, kernel.Insertion{BlockContent: kernel.BlockContent{DataType: "markdown", Data: b.Kramdown}, Anchor: at})
		return err
	}
	return &tool.Error{Op: "undo", Kind: tool.Unknown, Subject: string(b.ID), Message: "the document it was in is gone"}
}

// documentIAL is the line of attributes of the document itself, at the end of its kramdown.
var documentIAL = regexp.MustCompile(`\n?\{: [^\n]*type="doc"[^\n]*\}\s*$`)

// restoreDocument makes the body what it was: a document that is gone is made again with its id
// where it was.
func restoreDocument(ctx context.Context, k *kernel.Client, b *Before) error {
	body := strings.TrimSpace(documentIAL.ReplaceAllString(b.Kramdown, ""))
	if _, _, err := k.PathByID(ctx, b.ID); err != nil {
		if b.HPath == "" || tool.KindOf(err) != tool.Unknown { // only one that is gone is made again
			return err
		}
		if _, err := k.CreateDocument(ctx, b.Notebook, b.HPath, body, b.ID); err != nil {
			return err
		}
		return k.SetAttrs(ctx, b.ID, ownAttrs(b.Attrs))
	}
	children, err := k.ChildBlocks(ctx, b.ID)
	if err != nil {
		return err
	}
	if err := remove(ctx, k, children); err != nil { // first, since the old blocks come back with their ids
		return err
	}
	if body != "" {
		empty, err := k.ChildBlocks(ctx, b.ID) // a document never stays empty
		if err != nil {
			return err
		}
		if _, err := k.Append(ctx, b.ID, "markdown", body); err != nil {
			return err
		}
		if err := remove(ctx, k, empty); err != nil {
			return err
		}
	}
	return k.SetAttrs(ctx, b.ID, ownAttrs(b.Attrs))
}

// remove deletes blocks and waits until that shows.
func remove(ctx context.Context, k *kernel.Client, blocks []kernel.Block) error {
	for _, b := range blocks {
		if err := k.Delete(ctx, b.ID); err != nil {
			return err
		}
	}
	return k.Flush(ctx)
}

// ownAttrs are the attributes that somebody has given a document; the rest is the kernel's.
func ownAttrs(attrs map[string]string) map[string]string {
	out := map[string]string{}
	for name, value := range attrs {
		switch name {
		case "id", "updated", "type", "title", "created":
		default:
			out[name] = value
		}
	}
	return out
}
