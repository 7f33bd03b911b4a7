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

// added returns the document that a write has made, by its result; "" if it made none.
func (w *guardedWrite) added(result json.RawMessage) kernel.ID {
	if !w.r.Action.AddsDocument || len(w.entry.Before) > 0 {
		return ""
	}
	id := gjson.GetBytes(result, "id").String()
	if slices.Contains(w.entry.Targets, id) { // it was there before, and its former text is not kept
		return ""
	}
	return kernel.ID(id)
}

// removeAdded removes the document that a write has made. The removal is a write of its own, which can be undone: what
// was put into the document since is not lost. Documents below it are not part of what the write made, so it is refused
// while there are any.
func (c *Coordinator) removeAdded(ctx context.Context, k *kernel.Client, e *Entry) error {
	refuse := func(kind tool.ErrorKind, message, hint string) error {
		return &tool.Error{Op: "undo", Kind: kind, Subject: string(e.Added), Message: message, Hint: hint}
	}
	notebook, path, err := k.PathByID(ctx, e.Added)
	if tool.KindOf(err) == tool.NotFound {
		return refuse(tool.NotFound, "the document that it added is gone already", "")
	}
	if err != nil {
		return err
	}
	below, err := k.Documents(ctx, notebook, path)
	if err != nil {
		return err
	}
	if len(below) > 0 {
		return refuse(tool.Conflicting, "there are documents below the one that it added, and they would be removed with it", "move them, or remove them first")
	}
	_, saved, err := content.State(ctx, k, []kernel.ID{e.Added})
	if err != nil {
		return err
	}
	hpath, err := k.HPathByID(ctx, e.Added)
	if err != nil {
		return err
	}
	removal := Entry{
		ID: newID(), Tool: "document", Action: "remove", ArgsHash: argsHash(json.RawMessage(`{}`)),
		Targets: []string{string(e.Added)}, Names: e.Names, State: Executing, Created: time.Now().UTC(), Updated: time.Now().UTC(),
		Before: []Before{{Saved: saved[0], Document: true, Notebook: notebook, Root: e.Added, Path: path, HPath: hpath}},
	}
	if len(saved[0].Kramdown) > c.opts.MaxSaved {
		return refuse(tool.Conflicting, "the document is larger than what is kept of one write, so its removal could not be taken back", "remove it in SiYuan, or with collie fs rm")
	}
	if err := c.ledger.put(&removal); err != nil {
		return err
	}
	err = k.RemoveDocument(ctx, e.Added)
	if err == nil {
		if _, _, lookErr := k.PathByID(ctx, e.Added); lookErr == nil {
			err = refuse(kernel.Mismatch, "the kernel accepted the removal, and the document is still there", "try again, or remove it in SiYuan")
		}
	}
	removal.State, removal.Updated = Committed, time.Now().UTC()
	if err != nil {
		removal.State = Unknown
	}
	_ = c.ledger.put(&removal) // what happened to the document is what counts
	return err
}
