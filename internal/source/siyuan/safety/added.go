package safety

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file undoes writes that added something, by removing that.

// addedDocument returns the document that a write has made, by its result; "" if it made none.
func (w *guardedWrite) addedDocument(result json.RawMessage) kernel.ID {
	if !w.r.Action.AddsDocument || len(w.entry.Before) > 0 { // texts were saved: the undo puts those back
		return ""
	}
	id := gjson.GetBytes(result, "id").String()
	if slices.Contains(w.entry.Targets, id) { // it was there before, and its former text is not kept
		return ""
	}
	return kernel.ID(id)
}

// addedBlocks returns the blocks that a write has made, by its result.
func (w *guardedWrite) addedBlocks(result json.RawMessage) (ids []kernel.ID) {
	if !w.r.Action.AddsBlocks {
		return nil
	}
	for _, path := range []string{"createdBlockIDs", "items.#.createdBlockIDs|@flatten"} {
		for _, id := range gjson.GetBytes(result, path).Array() {
			ids = append(ids, kernel.ID(id.String()))
		}
	}
	return ids
}

// undoError returns the error for a write whose undo is refused or fails. id is the document or a block that the write added.
func undoError(id kernel.ID, kind tool.ErrorKind, message, hint string) error {
	return &tool.Error{Op: "undo", Kind: kind, Subject: string(id), Message: message, Hint: hint}
}

// removeAdded removes the document that a write has made. The removal is a write of its own, which can be undone: what
// was put into the document since is not lost. Documents below it are not part of what the write made, so it is refused
// while there are any.
func (c *Coordinator) removeAdded(ctx context.Context, k *kernel.Client, e *Entry) error {
	notebook, path, err := k.PathByID(ctx, e.Added)
	if tool.KindOf(err) == tool.NotFound {
		return undoError(e.Added, tool.NotFound, "the document that it added is gone already", "")
	}
	if err != nil {
		return err
	}
	below, err := k.Documents(ctx, notebook, path)
	if err != nil {
		return err
	}
	if len(below) > 0 {
		return undoError(e.Added, tool.Conflicting, "there are documents below the one that it added, and they would be removed with it", "move them, or remove them first")
	}
	_, saved, err := content.State(ctx, k, []kernel.ID{e.Added})
	if err != nil {
		return err
	}
	hpath, err := k.HPathByID(ctx, e.Added)
	if err != nil {
		return err
	}
	if len(saved[0].Kramdown) > c.opts.MaxSaved {
		return undoError(e.Added, tool.Conflicting, "the document is larger than what is kept of one write, so its removal could not be taken back", "remove it in SiYuan, or with collie fs rm")
	}
	removal := removalOf(e, "document", "remove", []Before{{Saved: saved[0], Document: true, Notebook: notebook, Root: e.Added, Path: path, HPath: hpath}})
	if err := c.ledger.put(removal); err != nil {
		return err
	}
	err = k.RemoveDocument(ctx, e.Added)
	if err == nil {
		if _, _, lookErr := k.PathByID(ctx, e.Added); lookErr == nil {
			err = undoError(e.Added, kernel.Mismatch, "the kernel accepted the removal, and the document is still there", "try again, or remove it in SiYuan")
		}
	}
	c.recordRemoval(removal, err)
	return err
}

// removeAddedBlocks removes the blocks that a write has made, as far as they are still there, wherever they are by now. As
// with removeAdded, the removal is a write of its own.
func (c *Coordinator) removeAddedBlocks(ctx context.Context, k *kernel.Client, e *Entry) error {
	nodes, err := addedNodes(ctx, k, e.AddedBlocks)
	if err != nil {
		return err
	}
	if len(nodes) == 0 {
		return undoError(e.AddedBlocks[0], tool.NotFound, "the blocks that it added are gone already", "")
	}
	before, err := beforeRemoval(ctx, k, nodes)
	if err != nil {
		return err
	}
	size := 0
	ids, blocks := make([]kernel.ID, len(nodes)), make([]kernel.Block, len(nodes))
	for i, n := range nodes {
		ids[i], blocks[i].ID = n.ID, n.ID
		size += len(before[i].Kramdown)
	}
	if size > c.opts.MaxSaved {
		return undoError(ids[0], tool.Conflicting, "the blocks are larger than what is kept of one write, so their removal could not be taken back", "remove them in SiYuan, or with collie block delete")
	}
	removal := removalOf(e, "block", "delete", before)
	if err := c.ledger.put(removal); err != nil {
		return err
	}
	if err = deleteBlocks(ctx, k, blocks); err == nil {
		var left map[kernel.ID]kernel.Node
		if left, err = k.Nodes(ctx, ids); err == nil && len(left) > 0 {
			err = undoError(ids[0], kernel.Mismatch, "the kernel accepted the removal, and blocks are still there", "try again, or remove them in SiYuan")
		}
	}
	c.recordRemoval(removal, err)
	return err
}

// addedNodes returns which of these blocks to remove, in order: those that are there and not inside another one. A container
// that holds nothing else is returned in their place, because the kernel removes it with them. The next of each is a block
// that stays.
func addedNodes(ctx context.Context, k *kernel.Client, ids []kernel.ID) ([]kernel.Node, error) {
	nodes, err := k.Nodes(ctx, ids)
	if err != nil {
		return nil, err
	}
	order := slices.Clone(ids)
	for i := 0; i < len(order); i++ { // containers are appended
		up := nodes[order[i]].ParentID
		if _, known := nodes[up]; known || up == "" {
			continue
		}
		above, err := k.Nodes(ctx, []kernel.ID{up})
		if err != nil {
			return nil, err
		}
		container, exists := above[up]
		if !exists || container.ParentID == "" || container.ParentID == up { // it is the document
			continue
		}
		children, err := k.ChildBlocks(ctx, up)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(children, func(b kernel.Block) bool { _, goes := nodes[b.ID]; return !goes }) {
			nodes[up] = container
			order = append(order, up)
		}
	}
	var out []kernel.Node
	for _, id := range order {
		n, exists := nodes[id]
		if _, inside := nodes[n.ParentID]; !exists || inside {
			continue
		}
		for next, goes := nodes[n.NextID]; goes; next, goes = nodes[n.NextID] {
			n.NextID = next.NextID
		}
		out = append(out, n)
	}
	return out, nil
}

// beforeRemoval returns the content and place of blocks, to put them back.
func beforeRemoval(ctx context.Context, k *kernel.Client, nodes []kernel.Node) ([]Before, error) {
	ids := make([]kernel.ID, len(nodes))
	for i, n := range nodes {
		ids[i] = n.ID
	}
	_, saved, err := content.State(ctx, k, ids)
	if err != nil {
		return nil, err
	}
	out := make([]Before, len(nodes))
	places := map[kernel.ID]kernel.Place{} // by parent, since blocks are seldom added to many
	for i, n := range nodes {
		place, known := places[n.ParentID]
		if !known {
			if place, err = k.Place(ctx, n.ID); err != nil {
				return nil, err
			}
			places[n.ParentID] = place
		}
		out[i] = Before{
			Saved: saved[i], Notebook: place.Notebook, Root: place.Root, Path: place.Path, Parent: n.ParentID, Previous: n.PreviousID, Next: n.NextID,
		}
	}
	return out, nil
}

// removalOf returns the record of a removal that undoes a write.
func removalOf(e *Entry, toolName, action string, before []Before) *Entry {
	now := time.Now().UTC()
	removal := &Entry{
		ID: newID(), Tool: toolName, Action: action, ArgsHash: argsHash(json.RawMessage(`{}`)),
		Names: e.Names, State: Executing, Created: now, Updated: now, Before: before,
	}
	for _, b := range before {
		removal.Targets = append(removal.Targets, string(b.ID))
		if !slices.Contains(removal.Documents, string(b.Root)) {
			removal.Documents = append(removal.Documents, string(b.Root))
		}
	}
	return removal
}

// recordRemoval records how a removal ended.
func (c *Coordinator) recordRemoval(removal *Entry, err error) {
	removal.State, removal.Updated = Committed, time.Now().UTC()
	if err != nil {
		removal.State = Unknown
	}
	_ = c.ledger.put(removal) // what happened to the notes is what counts
}
