package content

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file replaces the whole text of a document without losing it in between.

// Overwrite replaces the text of a document, which keeps its id. It refuses what [overwritableBlocks] refuses. markdown
// has passed [Normalize], and the caller has checked the level.
//
// It writes the new blocks and reads them back before it removes the old ones. If that fails it removes the new ones
// again. If any of the old text may be lost, the error has all of it as "recovery", provided it is shorter than 64 KiB.
func Overwrite(ctx context.Context, r *action.Request, doc action.Target, markdown string) error {
	top, err := overwritableBlocks(ctx, r, doc)
	if err != nil {
		return err
	}
	body, err := r.Kernel.Kramdown(ctx, doc.ID)
	if err != nil {
		return err
	}
	o := overwriteRun{r: r, doc: doc, old: blockIDs(top), body: Visible(body)}
	if strings.TrimSpace(markdown) != "" {
		if err := o.addNewBlocks(ctx, markdown); err != nil {
			return err
		}
	}
	return o.removeOld(ctx)
}

// overwriteRun is one run of Overwrite.
type overwriteRun struct {
	r              *action.Request
	doc            action.Target
	old, newBlocks []kernel.ID // top-level blocks
	body           string      // the old text
}

// addNewBlocks writes the new blocks after the old ones and finds their ids.
func (o *overwriteRun) addNewBlocks(ctx context.Context, markdown string) error {
	done, err := o.r.Kernel.Append(ctx, o.doc.ID, "markdown", markdown)
	if err != nil && tool.KindOf(err) != kernel.OutcomeUnknown {
		return err
	}
	now, readErr := o.r.Kernel.ChildBlocks(context.WithoutCancel(ctx), o.doc.ID)
	if readErr != nil {
		return firstOf(err, readErr)
	}
	mine := map[kernel.ID]bool{}
	for _, t := range done {
		for _, b := range kernel.InsertedBlocks(t) {
			mine[b.ID] = true
		}
	}
	var added []kernel.ID
	for _, b := range now {
		if mine[b.ID] {
			o.newBlocks = append(o.newBlocks, b.ID)
		} else if !slices.Contains(o.old, b.ID) {
			added = append(added, b.ID)
		}
	}
	if len(o.newBlocks) == 0 { // otherwise another program added them
		o.newBlocks = added
	}
	switch {
	case len(o.newBlocks) > 0 && err == nil:
		return nil
	case err != nil: // it may be incomplete
		return o.removeNew(ctx, err)
	}
	return &tool.Error{
		Op: "overwrite", Kind: kernel.Mismatch, Subject: o.doc.Subject,
		Message: "the kernel accepted the new text, but it is not there; the old text is as it was",
		Hint:    `read the document again: fs(action="read", path=…)`,
	}
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// maxSingleDeletions is the largest number of blocks that are removed one by one, at some 50 ms each; more are removed in one
// transaction.
const maxSingleDeletions = 32

// removeOld removes the old blocks.
func (o *overwriteRun) removeOld(ctx context.Context) error {
	if len(o.old) > maxSingleDeletions {
		return o.removeOldAtOnce(ctx)
	}
	for i, id := range o.old {
		err := o.r.Kernel.Delete(ctx, id)
		if err == nil {
			continue
		}
		remaining, look := o.remainingOld(context.WithoutCancel(ctx))
		switch {
		case look == nil && len(remaining) == len(o.old):
			return o.removeNew(ctx, err)
		case look == nil && !slices.Contains(remaining, id) && ctx.Err() == nil:
			continue // it was removed despite the error
		}
		return o.partlyDoneError(err, i)
	}
	return o.waitForRemoval(ctx)
}

// removeOldAtOnce removes the old blocks in one transaction, all or none.
func (o *overwriteRun) removeOldAtOnce(ctx context.Context) error {
	steps := make([]kernel.Operation, len(o.old))
	for i, id := range o.old {
		steps[i] = kernel.Operation{"action": "delete", "id": id}
	}
	_, err := o.r.Kernel.Transact(ctx, time.Now().UnixMilli(), steps...)
	if err == nil {
		return o.waitForRemoval(ctx)
	}
	remaining, look := o.remainingOld(context.WithoutCancel(ctx))
	switch {
	case look == nil && len(remaining) == len(o.old):
		return o.removeNew(ctx, err)
	case look == nil && len(remaining) == 0:
		return nil
	}
	return o.partlyDoneError(err, len(o.old)-len(remaining))
}

// remainingOld returns the old blocks that still exist.
func (o *overwriteRun) remainingOld(ctx context.Context) ([]kernel.ID, error) {
	if err := o.r.Kernel.Flush(ctx); err != nil { // the kernel answers a deletion before it writes
		return nil, err
	}
	now, err := o.r.Kernel.ChildBlocks(ctx, o.doc.ID)
	if err != nil {
		return nil, err
	}
	var out []kernel.ID
	for _, b := range now {
		if slices.Contains(o.old, b.ID) {
			out = append(out, b.ID)
		}
	}
	return out, nil
}

// waitForRemoval waits until the old blocks are gone. That usually takes some tens of milliseconds; after 1.6 seconds it fails.
func (o *overwriteRun) waitForRemoval(ctx context.Context) error {
	for wait := 50 * time.Millisecond; ; wait *= 2 {
		remaining, err := o.remainingOld(ctx)
		if err != nil {
			return o.partlyDoneError(err, len(o.old))
		}
		if len(remaining) == 0 {
			return nil
		}
		if wait > 800*time.Millisecond {
			return o.partlyDoneError(&tool.Error{
				Op: "overwrite", Kind: kernel.Mismatch, Subject: o.doc.Subject,
				Message: fmt.Sprintf("%d old blocks are still there", len(remaining)),
			}, len(o.old)-len(remaining))
		}
		select {
		case <-ctx.Done():
			return o.partlyDoneError(context.Cause(ctx), len(o.old))
		case <-time.After(wait):
		}
	}
}

// removeNew removes the new blocks, while all old ones still exist, and returns err.
func (o *overwriteRun) removeNew(ctx context.Context, err error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	for _, id := range o.newBlocks {
		if undo := o.r.Kernel.Delete(ctx, id); undo != nil {
			return o.stateError(err, "the old text is as it was, but new blocks are still behind it", map[string]any{"newBlocks": o.newBlocks})
		}
	}
	_ = o.r.Kernel.Flush(ctx) // on failure the deletion is still written soon
	return o.stateError(err, "the document is as it was", map[string]any{})
}

// partlyDoneError returns the error for a state in which some old blocks are gone and others may remain.
func (o *overwriteRun) partlyDoneError(err error, removed int) error {
	facts := map[string]any{"newBlocks": o.newBlocks, "removedBlocks": removed}
	if len(o.body) < 64<<10 {
		facts["recovery"] = o.body
	}
	return o.stateError(err, "the new text is there, and a part of the old one may be before it", facts)
}

func (o *overwriteRun) stateError(err error, state string, facts map[string]any) error {
	facts["path"], facts["id"] = o.doc.Subject, o.doc.ID
	kind := tool.KindOf(err)
	return &tool.Error{
		Op: "overwrite", Kind: kind, Subject: o.doc.Subject, Message: state, Err: err, Facts: facts,
		OutcomeUnknown: kind == kernel.OutcomeUnknown, Hint: `read the document again: fs(action="read", path=…)`,
	}
}
