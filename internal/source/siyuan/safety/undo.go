package safety

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"collie/internal/lazyregexp"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file restores what a recorded write changed.

// List returns the recorded writes, newest first.
func (c *Coordinator) List() ([]Entry, error) { return c.ledger.list() }

// Get returns a write by its request id. The error has kind not_found if there was no such write, or it is too old.
func (c *Coordinator) Get(id string) (*Entry, error) {
	var e *Entry
	var err error
	if idPattern.MatchString(id) {
		e, err = c.ledger.get(id)
	}
	if errors.Is(err, errSealed) {
		return nil, &tool.Error{
			Op: "undo", Kind: tool.Conflicting, Subject: id, Message: err.Error(),
			Hint: "give the settings the key that they had when it was written",
		}
	}
	if err == nil && e == nil {
		return nil, &tool.Error{
			Op: "undo", Kind: tool.NotFound, Subject: id, Message: "no such write is on record",
			Hint: fmt.Sprintf("collie siyuan undo lists those of the last %d days", int(c.opts.Keep.Hours()/24)),
		}
	}
	return e, err
}

// ChangedSince returns the targets of an entry that were changed after it, by their time of change. It is for the
// question to the person.
func (c *Coordinator) ChangedSince(ctx context.Context, k *kernel.Client, e *Entry) ([]kernel.ID, error) {
	ids := make([]kernel.ID, 0, len(e.Before)+1)
	for _, b := range e.Before {
		ids = append(ids, b.ID)
	}
	if e.Added != "" {
		ids = append(ids, e.Added)
	}
	ids = append(ids, e.AddedBlocks...)
	attrs, err := k.BatchAttrs(ctx, ids)
	if err != nil {
		return nil, err
	}
	// The kernel writes the local time of its own machine, to the second.
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

// Restore restores the blocks and documents of an entry, or removes what it added, and records that. For an
// entry with an Inverse, the caller runs that call instead, followed by [Coordinator.Undone]. What was restored before an
// error stays restored.
func (c *Coordinator) Restore(ctx context.Context, k *kernel.Client, e *Entry) error {
	switch {
	case !e.CanUndo() || !e.HasText():
		return notUndoable(e)
	case e.Added != "":
		if err := c.removeAdded(ctx, k, e); err != nil {
			return err
		}
		return c.Undone(e)
	case len(e.AddedBlocks) > 0:
		if err := c.removeAddedBlocks(ctx, k, e); err != nil && (len(e.Before) == 0 || tool.KindOf(err) != tool.NotFound) {
			return err
		}
	}
	var recreated []*Before
	for i := range e.Before {
		b := &e.Before[i]
		gone, err := restoreTarget(ctx, k, b)
		if err != nil {
			return fmt.Errorf("restore %s: %w", b.ID, err)
		}
		if gone && b.Document {
			recreated = append(recreated, b)
		}
	}
	for _, b := range recreated {
		if err := finishDocument(ctx, k, b); err != nil {
			return fmt.Errorf("restore %s: %w", b.ID, err)
		}
	}
	if err := verifyListed(ctx, k, recreated); err != nil {
		return err
	}
	return c.Undone(e)
}

// nothingWrittenReason is why a write that failed cannot be undone.
const nothingWrittenReason = "nothing was written"

func notUndoable(e *Entry) error {
	why := e.NoUndo
	switch {
	case e.State == Undone:
		why = "it was taken back already"
	case e.State == Failed:
		why = nothingWrittenReason
	case why == "":
		why = "nothing is kept of what was there; SiYuan's own history may have it"
	}
	return &tool.Error{Op: "undo", Kind: tool.Conflicting, Subject: e.ID, Message: fmt.Sprintf("%s.%s cannot be undone: %s", e.Tool, e.Action, why)}
}

// Undone records that a write was undone.
func (c *Coordinator) Undone(e *Entry) error {
	e.State, e.Updated = Undone, time.Now().UTC()
	return c.ledger.put(e)
}

// restoreTarget restores one block or document; gone reports that it had been deleted.
func restoreTarget(ctx context.Context, k *kernel.Client, b *Before) (gone bool, err error) {
	if b.Document {
		return restoreDocument(ctx, k, b)
	}
	_, err = k.Place(ctx, b.ID)
	if err == nil {
		_, err = k.Update(ctx, b.ID, "markdown", content.ProtectCode(b.Kramdown))
		return false, err
	}
	if tool.KindOf(err) != tool.NotFound {
		return false, err
	}
	return true, reinsertBlock(ctx, k, b)
}

// reinsertBlock inserts a deleted block again, as close to its former place as possible.
func reinsertBlock(ctx context.Context, k *kernel.Client, b *Before) error {
	for _, at := range []kernel.Anchor{{PreviousID: b.Previous}, {NextID: b.Next}, {ParentID: b.Parent}, {ParentID: b.Root}} {
		id := at.PreviousID + at.NextID + at.ParentID
		if id == "" {
			continue
		}
		if id == b.Root && b.Holder != nil {
			_, err := restoreTarget(ctx, k, b.Holder)
			return err
		}
		if _, err := k.Place(ctx, id); err != nil {
			if tool.KindOf(err) == tool.NotFound {
				continue
			}
			return err
		}
		_, err := k.Insert(ctx, kernel.Insertion{BlockContent: kernel.BlockContent{DataType: "markdown", Data: content.ProtectCode(b.Kramdown)}, Anchor: at})
		if err == nil && b.isOnlyChild() && id == b.Root {
			err = dropFiller(ctx, k, b)
		}
		return err
	}
	return &tool.Error{Op: "undo", Kind: tool.NotFound, Subject: string(b.ID), Message: "the document it was in is gone"}
}

// dropFiller removes the empty paragraph that the kernel had put into a document when its only block was deleted, unless
// there are other blocks by now.
func dropFiller(ctx context.Context, k *kernel.Client, b *Before) error {
	children, err := k.ChildBlocks(ctx, b.Root)
	if err != nil {
		return err
	}
	siblings := slices.DeleteFunc(children, func(c kernel.Block) bool { return c.ID == b.ID })
	if len(siblings) != 1 || siblings[0].Type != "p" || siblings[0].Markdown != "" {
		return nil
	}
	return deleteBlocks(ctx, k, siblings)
}

// documentIAL matches the attributes of the document itself, the last line of its kramdown.
var documentIAL = lazyregexp.New(`\n?\{: [^\n]*type="doc"[^\n]*\}\s*$`)

// restoreDocument restores the body of a document. A deleted document is created again with its id, at its former place.
func restoreDocument(ctx context.Context, k *kernel.Client, b *Before) (gone bool, err error) {
	body := content.ProtectCode(strings.TrimSpace(documentIAL.ReplaceAllString(b.Kramdown, "")))
	_, _, err = k.PathByID(ctx, b.ID)
	switch {
	case err == nil:
		return false, restoreBody(ctx, k, b, body)
	case b.HPath == "" || tool.KindOf(err) != tool.NotFound: // only a deleted document is created again
		return false, err
	}
	path, err := recreationPath(ctx, k, b)
	if err != nil {
		return true, err
	}
	// A kernel may remember a document that was deleted with its parent, and would then write no file for identical
	// content. So different content is written first.
	if path == "" {
		_, err = k.CreateDocument(ctx, b.Notebook, b.HPath+unfinishedSuffix, body, b.ID)
	} else {
		err = k.CreateDocumentAt(ctx, b.Notebook, path, b.title()+unfinishedSuffix, body)
	}
	if err != nil {
		return true, err
	}
	return true, k.RenameDocument(ctx, b.ID, b.title())
}

// unfinishedSuffix marks the title of a document until it is restored.
const unfinishedSuffix = " …"

// title returns the title of a document.
func (b *Before) title() string { return b.HPath[strings.LastIndex(b.HPath, "/")+1:] }

// recreationPath returns the storage path for a document that is created again: below its former parent, wherever that is now.
// It is empty if the parent is gone or in another notebook.
func recreationPath(ctx context.Context, k *kernel.Client, b *Before) (string, error) {
	file := "/" + string(b.ID) + ".sy"
	above, isFile := strings.CutSuffix(b.Path, file)
	if !isFile || above == "" {
		return b.Path, nil
	}
	notebook, path, err := k.PathByID(ctx, kernel.ID(above[strings.LastIndex(above, "/")+1:]))
	if err != nil && tool.KindOf(err) != tool.NotFound {
		return "", err
	}
	if err != nil || notebook != b.Notebook {
		return "", nil //nolint:nilerr // the parent was deleted
	}
	return strings.TrimSuffix(path, ".sy") + file, nil
}

// finishDocument restores the attributes of a document that was created again. It runs after all documents are created:
// right after creating a document, the kernel may still base a write on the state from before.
func finishDocument(ctx context.Context, k *kernel.Client, b *Before) error {
	if err := k.FlushNow(ctx); err != nil {
		return err
	}
	if attrs := ownAttrs(b.Attrs); len(attrs) > 0 {
		if err := k.SetAttrs(ctx, b.ID, attrs); err != nil {
			return err
		}
	}
	return nil
}

// verifyListed checks that documents that were created again are really in the folders of their notebooks, and not only
// in the kernel's memory.
func verifyListed(ctx context.Context, k *kernel.Client, recreated []*Before) error {
	folders := map[string][]kernel.Document{}
	for _, b := range recreated {
		notebook, path, err := k.PathByID(ctx, b.ID)
		if err != nil {
			return err
		}
		folder := strings.TrimSuffix(path, "/"+string(b.ID)+".sy")
		at := string(notebook) + folder
		if _, known := folders[at]; !known {
			above := "/"
			if folder != "" {
				above = folder + ".sy"
			}
			if folders[at], err = k.Documents(ctx, notebook, above); err != nil {
				return err
			}
		}
		if !slices.ContainsFunc(folders[at], func(d kernel.Document) bool { return d.ID == b.ID }) {
			return &tool.Error{
				Op: "undo", Kind: kernel.Mismatch, Subject: string(b.ID), OutcomeUnknown: true,
				Message: "the kernel accepted " + b.HPath + ", and no list shows it", Hint: "SiYuan's own history has the document",
			}
		}
	}
	return nil
}

// restoreBody restores the former body of an existing document.
func restoreBody(ctx context.Context, k *kernel.Client, b *Before, body string) error {
	children, err := k.ChildBlocks(ctx, b.ID)
	if err != nil {
		return err
	}
	if err := deleteBlocks(ctx, k, children); err != nil { // first, since the old blocks come back with their ids
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
		if err := deleteBlocks(ctx, k, empty); err != nil {
			return err
		}
	}
	return k.SetAttrs(ctx, b.ID, ownAttrs(b.Attrs))
}

// deleteBlocks deletes blocks and waits until that is visible. It deletes all in one request, because each request is slow.
func deleteBlocks(ctx context.Context, k *kernel.Client, blocks []kernel.Block) error {
	if len(blocks) == 0 {
		return nil
	}
	steps := make([]kernel.Operation, len(blocks))
	for i, b := range blocks {
		steps[i] = kernel.Operation{"action": "delete", "id": b.ID}
	}
	if _, err := k.Transact(ctx, time.Now().UnixMilli(), steps...); err != nil {
		return err
	}
	return k.Flush(ctx)
}

// ownAttrs returns the attributes that the user has set on a document, without those of the kernel.
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
