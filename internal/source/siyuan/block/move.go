package block

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the action block.move, which moves blocks to another place.

type moveArgs struct {
	ID         kernel.ID   `json:"id" about:"one block"`
	IDs        []kernel.ID `json:"ids" about:"several, in the order they shall have" min:"1" max:"200" unique:"true"`
	PreviousID kernel.ID   `json:"previousID" about:"block to put them after; counts before parentID"`
	ParentID   kernel.ID   `json:"parentID" about:"document or container to put them first into"`
}

type moveResult struct {
	Success      bool        `json:"success" about:"true"`
	ID           kernel.ID   `json:"id,omitempty" about:"the block"`
	IDs          []kernel.ID `json:"ids,omitempty" about:"the blocks" verbose:"yes"`
	FinalOrder   []kernel.ID `json:"finalOrder" about:"their order now"`
	APICallOrder []kernel.ID `json:"apiCallOrder" about:"the order they were moved in" verbose:"yes"`
	Count        int         `json:"count" about:"blocks moved"`
	Warning      string      `json:"warning,omitempty" about:"blocks that stand in another place than asked for"`
}

// move returns the action move of the tool block.
func move() *action.Action {
	blocks := action.On(access.Write, "the blocks", "", func(ctx context.Context, r *action.Request) ([]action.Target, error) {
		return resolveBlocks(ctx, r, "id", "ids")
	})
	place := action.On(access.Write, "where they go", "", func(ctx context.Context, r *action.Request) ([]action.Target, error) {
		if len(r.Strings("previousID")) > 0 { // it takes precedence over parentID
			return resolveBlocks(ctx, r, "previousID")
		}
		return resolveBlocks(ctx, r, "parentID")
	})
	return action.New(action.Spec{
		Tool: name, Name: "move",
		Purpose:   "Move blocks behind a block, or first into a document or container",
		Guide:     "Into another notebook it needs rwd where the blocks come from. Documents are moved with document move.",
		Dangerous: true,
		Class:     action.Structure, Risk: tool.RiskHigh, Effects: tool.EffectWrite,
		Needs: []action.Need{
			action.Leaving("blocks", blocks, place),
			action.OnBlock(access.Write, "id"), action.OnBlock(access.Write, "ids"),
			action.OnBlock(access.Write, "previousID"), action.OnBlock(access.Write, "parentID"),
		},
		Endpoints: []string{
			"block/moveBlock", "block/getBlockTreeInfos", "block/getBlockKramdowns", "transactions", "sqlite/flushTransaction",
			"attr/getBlockAttrs", "block/getChildBlocks",
		},
		Result:  moveResult{},
		Example: `{"id":"20260102030405-abcdefg","previousID":"20260102030405-bcdefgh"}`,
		Effect: func(r *action.Request) string {
			n := len(r.Targets("id")) + len(r.Targets("ids"))
			if after := r.Targets("previousID"); len(after) > 0 {
				return fmt.Sprintf("moves %d blocks behind %s", n, after[0].ID)
			}
			if parent := r.Targets("parentID"); len(parent) > 0 {
				return fmt.Sprintf("moves %d blocks into %s", n, parent[0].ID)
			}
			return fmt.Sprintf("moves %d blocks", n)
		},
	}, runMove)
}

// resolveBlocks returns the blocks that the given arguments name.
func resolveBlocks(ctx context.Context, r *action.Request, params ...string) ([]action.Target, error) {
	var out []action.Target
	for _, param := range params {
		for _, id := range r.Strings(param) {
			t, err := r.Place(ctx, access.Block, id)
			if err != nil {
				return nil, err
			}
			out = append(out, t)
		}
	}
	return out, nil
}

func runMove(ctx context.Context, r *action.Request, a moveArgs) (any, error) {
	ids, err := a.checkedIDs(r)
	if err != nil {
		return nil, err
	}
	before, err := r.Kernel.Nodes(ctx, append(slices.Clone(ids), a.anchor()))
	if err != nil {
		return nil, err
	}
	if err := a.checkOutside(ctx, r, ids, before); err != nil {
		return nil, err
	}
	bare, err := a.needsNewList(r, ids, before)
	if err != nil {
		return nil, err
	}
	calls := ids
	if bare {
		err = moveAsList(ctx, r, &a, ids)
	} else {
		calls, err = moveEach(ctx, r, &a, ids)
	}
	if err != nil {
		return nil, err
	}
	astray, err := a.findAstray(ctx, r, ids, before)
	if err != nil {
		return nil, err
	}
	for _, t := range r.AllTargets() {
		r.RefreshDocument(t.Root)
	}
	out := moveResult{Success: true, ID: a.ID, IDs: a.IDs, FinalOrder: ids, APICallOrder: calls, Count: len(ids)}
	if len(astray) > 0 {
		out.Warning = fmt.Sprintf(`the kernel put %v in another place than was asked for; block(action="breadcrumb", id=…) shows where`, astray)
	}
	return out, nil
}

// moveEach moves blocks one by one and returns the order in which it did. All move to the same anchor, so the last one
// moves first.
func moveEach(ctx context.Context, r *action.Request, a *moveArgs, ids []kernel.ID) ([]kernel.ID, error) {
	calls := slices.Clone(ids)
	slices.Reverse(calls)
	for n, id := range calls {
		if err := r.Kernel.Move(ctx, id, a.PreviousID, a.ParentID); err != nil {
			return nil, partlyMovedError(explainLeafParent(r, a.ParentID, err), calls[:n])
		}
	}
	return calls, nil
}

// anchor returns the anchor of the move.
func (a *moveArgs) anchor() kernel.ID {
	if a.PreviousID != "" {
		return a.PreviousID
	}
	return a.ParentID
}

// anchorParam returns the name of the argument with the anchor.
func (a *moveArgs) anchorParam() string {
	if a.PreviousID != "" {
		return "previousID"
	}
	return "parentID"
}

// checkedIDs returns the blocks to move, in the requested order, or an error for arguments that contradict each other.
func (a *moveArgs) checkedIDs(r *action.Request) ([]kernel.ID, error) {
	ids := a.IDs
	switch {
	case a.ID != "" && len(ids) > 0:
		return nil, r.Conflicting("give id or ids, not both", "id", "ids")
	case a.ID != "":
		ids = []kernel.ID{a.ID}
	case len(ids) == 0:
		return nil, r.Conflicting("give id or ids", "id", "ids")
	}
	if a.PreviousID == "" && a.ParentID == "" {
		return nil, r.Conflicting("give previousID or parentID: where to", "previousID", "parentID")
	}
	if len(action.Distinct(ids)) != len(ids) {
		return nil, r.Invalid("ids", "names a block twice")
	}
	if to := a.anchor(); slices.Contains(ids, to) {
		return nil, r.Invalid(a.anchorParam(), fmt.Sprintf("is %s, which is itself to be moved", to))
	}
	for _, param := range []string{"id", "ids"} {
		for _, t := range r.Targets(param) {
			hint := fmt.Sprintf(`document(action="move", fromIDs=["%s"], toID=…) moves documents`, t.ID)
			if err := refuseDocument(r, param, t, hint); err != nil {
				return nil, err
			}
		}
	}
	if a.PreviousID != "" {
		t := r.Target("previousID")
		return ids, refuseDocument(r, "previousID", t, fmt.Sprintf(`block(action="move", parentID="%s", …) moves into it`, t.ID))
	}
	return ids, refuseNotebookPage(r, "parentID", r.Target("parentID"))
}

// checkOutside returns an error if the anchor is inside one of the blocks to move. The kernel would leave that block in
// place, without an error and after moving the others. An anchor right below its document costs no request, any other one a request a
// level.
func (a *moveArgs) checkOutside(ctx context.Context, r *action.Request, ids []kernel.ID, nodes map[kernel.ID]kernel.Node) error {
	root, passed := r.Target(a.anchorParam()).Root, map[kernel.ID]bool{}
	for up := nodes[a.anchor()].ParentID; up != "" && up != root && !passed[up]; {
		if slices.Contains(ids, up) {
			return r.Invalid(a.anchorParam(), fmt.Sprintf("is inside %s, which is itself to be moved", up))
		}
		passed[up] = true
		at, err := r.Kernel.Nodes(ctx, []kernel.ID{up})
		if err != nil {
			return err
		}
		up = at[up].ParentID
	}
	return nil
}

// findAstray checks where the moved blocks are now. The kernel answers code 0 even if it leaves a block in place.
// It returns the blocks that ended up elsewhere, for example because the kernel put a list
// around an item.
func (a *moveArgs) findAstray(ctx context.Context, r *action.Request, ids []kernel.ID, before map[kernel.ID]kernel.Node) (astray []kernel.ID, err error) {
	ask := slices.Clone(ids)
	if a.PreviousID != "" {
		ask = append(ask, a.PreviousID)
	}
	at, err := r.Kernel.Nodes(ctx, ask)
	if err != nil {
		return nil, err
	}
	parent := a.ParentID
	if a.PreviousID != "" {
		parent = at[a.PreviousID].ParentID
	}
	previous := a.PreviousID
	for _, id := range ids {
		moved := at[id].ParentID == parent
		if moved && at[id].PreviousID != previous {
			if moved, err = sectionBetween(ctx, r, parent, previous, id); err != nil {
				return nil, err
			}
		}
		now, exists := at[id]
		switch {
		case moved:
		case exists && now != before[id]:
			astray = append(astray, id)
		default:
			return nil, mismatchError(r, id, fmt.Sprintf("the kernel accepted the move, and block %s is not where it should be", id))
		}
		previous = id
	}
	return astray, nil
}

// sectionBetween reports whether only the section of a folded heading is between that heading and a block. The kernel
// keeps folded sections together.
func sectionBetween(ctx context.Context, r *action.Request, parent, heading, id kernel.ID) (bool, error) {
	if heading == "" {
		return false, nil
	}
	attrs, err := r.Kernel.Attrs(ctx, heading)
	if err != nil || attrs["fold"] != "1" {
		return false, err
	}
	section, err := r.Kernel.ChildBlocks(ctx, heading)
	if err != nil {
		return false, err
	}
	siblings, err := r.Kernel.ChildBlocks(ctx, parent)
	if err != nil {
		return false, err
	}
	indexIn := func(list []kernel.Block, id kernel.ID) int {
		return slices.IndexFunc(list, func(b kernel.Block) bool { return b.ID == id })
	}
	from, to := indexIn(siblings, heading), indexIn(siblings, id)
	if from < 0 || to < from {
		return false, nil
	}
	for _, b := range siblings[from+1 : to] {
		if indexIn(section, b.ID) < 0 {
			return false, nil
		}
	}
	return true, nil
}

// partlyMovedError adds to the error of a move which blocks were moved before.
func partlyMovedError(err error, done []kernel.ID) error {
	if len(done) == 0 {
		return err
	}
	kind := tool.KindOf(err)
	e := &tool.Error{
		Op: "call", Kind: kind, Subject: name + ".move", Err: err, OutcomeUnknown: kind == kernel.OutcomeUnknown,
		Message: fmt.Sprintf("%d blocks were moved before this one failed", len(done)),
		Facts:   map[string]any{"partial": true, "moved": done},
	}
	if e.OutcomeUnknown {
		e.Message = fmt.Sprintf("%d blocks were moved before this one, which may have been moved too", len(done))
	}
	if cause, ok := errors.AsType[*tool.Error](err); ok {
		e.Hint = cause.Hint
	}
	return e
}
