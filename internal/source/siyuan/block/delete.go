package block

import (
	"context"
	"fmt"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the action block.delete.

type deleteResult struct {
	Success bool      `json:"success" about:"true"`
	ID      kernel.ID `json:"id" about:"the block that is gone"`
}

// remove returns the action delete of the tool block.
func remove() *action.Action {
	return action.New(action.Spec{
		Tool: name, Name: "delete",
		Purpose: "Delete a block with all that is in it",
		Guide:   "The blocks below a heading stay. Documents are deleted with document remove.",
		Off:     true, Dangerous: true,
		Class: action.State, Risk: tool.RiskHigh, Effects: tool.EffectWrite | tool.EffectDelete, Saves: action.SavesRemoved,
		Needs:      []action.Need{action.OnBlock(access.Delete, "id")},
		Endpoints:  []string{"block/deleteBlock", "sqlite/flushTransaction", "block/getBlockTreeInfos"},
		Positional: []string{"id"},
		Result:     deleteResult{},
		Example:    `{"id":"20260102030405-abcdefg"}`,
		Effect: func(r *action.Request) string {
			t := r.Target("id")
			return fmt.Sprintf("deletes block %s with all that is in it; references to it break", t.ID)
		},
	}, func(ctx context.Context, r *action.Request, a idArgs) (any, error) {
		t := r.Target("id")
		// For a document the kernel reports success but does nothing.
		if err := refuseDocument(r, "id", t, fmt.Sprintf(`document(action="remove", id="%s") deletes it`, t.ID)); err != nil {
			return nil, err
		}
		if err := r.Kernel.Delete(ctx, a.ID); err != nil {
			return nil, err
		}
		// The kernel responds before it writes; flushing waits for that.
		if err := r.Kernel.Flush(ctx); err != nil {
			return nil, err
		}
		remaining, err := r.Kernel.Nodes(ctx, []kernel.ID{a.ID})
		if err != nil {
			return nil, err
		}
		if _, exists := remaining[a.ID]; exists {
			return nil, mismatchError(r, a.ID, "the kernel accepted the deletion, and the block is still there")
		}
		r.RefreshDocument(t.Root)
		return deleteResult{true, a.ID}, nil
	})
}
