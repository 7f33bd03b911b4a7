package av

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file creates a database, which av.render does for the argument createIfNotExist.

// createDatabase creates a database, and a block that shows it unless one exists.
func createDatabase(ctx context.Context, r *action.Request, p retryWaits, a *renderArgs, out *renderResult) error {
	if r.Config.ReadOnly || r.Config.Unreadable { // the action is classified as reading, so this is not checked elsewhere
		return &tool.Error{
			Op: "create", Kind: tool.Disabled, Code: "action_disabled", Subject: string(a.ID),
			Message: "there is no such database, and none is made: only actions that read are switched on",
		}
	}
	at := r.Target("blockID")
	dom, err := r.Kernel.DOM(ctx, at.ID)
	if err != nil {
		return err
	}
	through, exists := at.ID, action.ShowsDatabase(dom, a.ID)
	if !exists {
		through = kernel.NewID()
		if err := insertDatabaseBlock(ctx, r, a.ID, through, at); err != nil {
			return err
		}
	}
	if _, err := r.Kernel.RenderDatabase(ctx, kernel.Rendering{ID: a.ID, Block: through, Create: true}); err != nil {
		return err
	}
	r.RefreshDocument(at.Root)
	out.Materialized, out.BlockID, a.BlockID = true, through, through
	if !p.pollMirror(ctx, r.Kernel, a.ID, through) {
		out.Warning = "the kernel does not list the new block yet; the database may show a moment later"
	}
	return nil
}

// pollMirror waits until the kernel knows the block that shows a database.
func (p retryWaits) pollMirror(ctx context.Context, k *kernel.Client, id, block kernel.ID) bool {
	return p.pollUntil(ctx, func() (bool, error) {
		ids, err := k.DatabaseBlocks(ctx, id)
		return slices.Contains(ids, block), err
	})
}

// insertDatabaseBlock inserts a block that shows a database after another block. Into a document or a list item it is appended,
// because a list may contain only items.
func insertDatabaseBlock(ctx context.Context, r *action.Request, id, block kernel.ID, at action.Target) error {
	dom, err := r.Kernel.SpinDOM(ctx, fmt.Sprintf(
		`<div class="av" data-node-id=%q data-av-id=%q data-type="NodeAttributeView" data-av-type="table"></div>`, block, id))
	if err != nil {
		return err
	}
	if !action.ShowsDatabase(dom, id) {
		return &tool.Error{
			Op: "insert database block", Kind: kernel.API, Subject: string(id),
			Message: "the kernel does not know the form of a block that shows a database", Facts: map[string]any{"dom": dom},
		}
	}
	into := at.ID == at.Root
	if !into {
		around, err := r.Kernel.DOM(ctx, at.ID)
		if err != nil {
			return err
		}
		into = strings.Contains(firstTag(around), `data-type="NodeListItem"`)
	}
	if into {
		_, err = r.Kernel.Append(ctx, at.ID, "dom", dom)
	} else {
		err = transact(ctx, r, "", kernel.Operation{"action": "insert", "id": block, "data": dom, "previousID": at.ID})
	}
	if err != nil {
		return err
	}
	if _, err := r.Place(ctx, access.Block, string(block)); err != nil { // the response does not tell
		return notYetStoredError("insert database block", id, "the kernel accepted the block, but it is not there",
			fmt.Sprintf(`block(action="get_children", id=%q) shows what is there`, at.Root), map[string]any{"blockID": block})
	}
	return nil
}
