package block

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file finds the ids of blocks that were just inserted, and inserts those again that the kernel lost.

// completeInsertions returns the ids of the blocks that insertions created, one list per transaction, in order, and inserts
// the blocks that the kernel dropped. The kernel's answer cannot be relied on: it names only the first block of each
// insertion, and it also names blocks that do not exist, such as one inserted next to a block that is not there, or a list
// whose items went into a neighbouring list. So every id is looked up. For a list that was merged into another, its items are
// returned. If the kernel kept only the first of several blocks, the others are inserted here. A transaction that created
// nothing is an error with the reason empty_transaction_result.
func completeInsertions(ctx context.Context, r *action.Request, done []kernel.Transaction) ([][]kernel.ID, error) {
	inserted := make([][]insertedPart, len(done))
	for i, t := range done {
		inserted[i] = insertedParts(t)
	}
	present, err := presentBlocks(ctx, r, done, inserted)
	if err != nil {
		return nil, err
	}
	out := make([][]kernel.ID, len(done))
	for i, parts := range inserted {
		have, missing := splitPresent(parts, present)
		if len(have) == 0 {
			return nil, nothingCreatedError(r)
		}
		if out[i], err = addMissing(ctx, r, have, missing); err != nil {
			return nil, err
		}
	}
	if len(done) == 0 {
		return nil, nothingCreatedError(r)
	}
	return out, nil
}

// maxSingleLookups is the number of new blocks up to which each is looked up separately. In a long document that takes
// some milliseconds per block, while listing all blocks takes hundreds.
const maxSingleLookups = 8

// presentBlocks returns the ids of the new blocks that exist, and perhaps those of other children of the same parents.
func presentBlocks(ctx context.Context, r *action.Request, done []kernel.Transaction, inserted [][]insertedPart) (map[kernel.ID]bool, error) {
	present := map[kernel.ID]bool{}
	if ids := partIDs(slices.Concat(inserted...)); len(ids) <= maxSingleLookups {
		nodes, err := r.Kernel.Nodes(ctx, ids)
		for id := range nodes {
			present[id] = true
		}
		return present, err
	}
	var parents, unplaced []kernel.ID
	for i, t := range done {
		named := false
		for _, op := range t.DoOperations {
			if op.ParentID != "" {
				parents, named = append(parents, op.ParentID), true
			}
		}
		if named {
			continue
		}
		const sampled = 2 // new blocks that are asked for their parent, which the answer does not tell; one may be missing
		for _, p := range inserted[i][:min(sampled, len(inserted[i]))] {
			unplaced = append(unplaced, p.id)
			if len(p.items) > 0 {
				unplaced = append(unplaced, p.items[0].id)
			}
		}
	}
	nodes, err := r.Kernel.Nodes(ctx, action.Distinct(unplaced))
	if err != nil {
		return nil, err
	}
	for _, node := range nodes {
		parents = append(parents, node.ParentID)
	}
	for _, parent := range action.Distinct(parents) {
		children, err := r.Kernel.ChildBlocks(ctx, parent)
		if err != nil {
			return nil, err
		}
		for _, b := range children {
			present[b.ID] = true
		}
	}
	return present, nil
}

// insertedPart is a block that an insertion should create.
type insertedPart struct {
	id    kernel.ID
	dom   string
	items []insertedPart // items, if it is a list
	after kernel.ID      // for a missing block, the existing one that it belongs behind
}

// partIDs returns the ids of parts and of their items.
func partIDs(parts []insertedPart) []kernel.ID {
	var ids []kernel.ID
	for _, p := range parts {
		ids = append(append(ids, p.id), partIDs(p.items)...)
	}
	return action.Distinct(ids)
}

// insertedParts returns the blocks that the insertions of a transaction should create.
func insertedParts(t kernel.Transaction) []insertedPart {
	var out []insertedPart
	for _, op := range t.DoOperations {
		if op.Action != "insert" {
			continue
		}
		dom := kernel.DOMOf(op.Data)
		blocks := kernel.ParseDOM(dom)
		if op.ID != "" && (len(blocks) == 0 || blocks[0].ID != op.ID) {
			out = append(out, insertedPart{id: op.ID}) // the DOM had no id, so the kernel gave it one
		}
		for _, b := range blocks {
			p := insertedPart{id: b.ID, dom: dom[b.Start:b.End]}
			for _, inner := range b.Blocks {
				if b.Type == listNode {
					p.items = append(p.items, insertedPart{id: inner.ID, dom: dom[inner.Start:inner.End]})
				}
			}
			out = append(out, p)
		}
	}
	return out
}

// splitPresent separates parts into blocks that exist and blocks to insert again. A missing block without an existing one
// before it is dropped.
func splitPresent(parts []insertedPart, present map[kernel.ID]bool) (have []kernel.ID, missing []insertedPart) {
	for _, p := range parts {
		if present[p.id] {
			have = append(have, p.id)
			continue
		}
		merged := slices.ContainsFunc(p.items, func(item insertedPart) bool { return present[item.id] })
		if merged { // the list went into another, so its items stand for it
			inner, innerMissing := splitPresent(p.items, present)
			have, missing = append(have, inner...), append(missing, innerMissing...)
			continue
		}
		if p.dom != "" && len(have) > 0 {
			p.after = have[len(have)-1]
			missing = append(missing, p)
		}
	}
	return action.Distinct(have), missing
}

// addMissing inserts missing parts and returns all blocks in order.
func addMissing(ctx context.Context, r *action.Request, have []kernel.ID, missing []insertedPart) ([]kernel.ID, error) {
	last := map[kernel.ID]kernel.ID{} // last block inserted after a block
	for n, p := range missing {
		after, ok := last[p.after]
		if !ok {
			after = p.after
		}
		_, err := r.Kernel.Insert(ctx, kernel.Insertion{
			BlockContent: kernel.BlockContent{DataType: dataDOM, Data: p.dom}, Anchor: kernel.Anchor{PreviousID: after},
		})
		var nodes map[kernel.ID]kernel.Node
		if err == nil {
			nodes, err = r.Kernel.Nodes(ctx, []kernel.ID{p.id})
		}
		if _, ok := nodes[p.id]; !ok {
			return nil, partlyCreatedError(r, have, missing[n:], err)
		}
		have = slices.Insert(have, slices.Index(have, after)+1, p.id)
		last[p.after] = p.id
	}
	return have, nil
}

// partlyCreatedError returns the error for content that was only partly written. It contains the rest.
func partlyCreatedError(r *action.Request, have []kernel.ID, missing []insertedPart, err error) error {
	var rest strings.Builder
	for _, p := range missing {
		rest.WriteString(p.dom)
	}
	kind := kernel.Mismatch
	if err != nil {
		kind = tool.KindOf(err)
	}
	return &tool.Error{
		Op: "call", Kind: kind, Subject: r.Action.Tool + "." + r.Action.Name, Err: err, OutcomeUnknown: kind == kernel.OutcomeUnknown,
		Message: fmt.Sprintf("the kernel wrote a part of the content: the last %d blocks of it are not there", len(missing)),
		Hint:    fmt.Sprintf(`block(action="insert", previousID="%s", dataType="dom", data=…) adds what notWritten holds`, missing[0].after),
		Facts:   map[string]any{"partial": true, "createdBlockIDs": have, "notWritten": cutDOM(rest.String(), maxDOM)},
	}
}

// nothingCreatedError returns the error for content of which the kernel made no block.
func nothingCreatedError(r *action.Request) error {
	const reason = "empty_transaction_result"
	return &tool.Error{
		Op: "call", Kind: kernel.API, Code: reason, Subject: r.Action.Tool + "." + r.Action.Name,
		Message: "the kernel accepted the content but created no block",
		Hint:    `block(action="get_children", id=…) shows whether the place for it exists`,
		Facts:   map[string]any{"reason": reason},
	}
}
