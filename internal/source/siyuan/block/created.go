package block

import (
	"context"

	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// created returns the blocks that insertions made, one list for each transaction, in order. The
// kernel names the first of each only, and names blocks that never came to be: one without an
// anchor, or a list whose items went into another list (README 15, 21, 22). So each id is held
// against what is there; in place of a list that is gone stand its items. Nothing at all for a
// transaction is an error whose reason is empty_transaction_result.
func created(ctx context.Context, r *action.Request, done []kernel.Transaction) ([][]kernel.ID, error) {
	forests := make([][]kernel.DOMBlock, len(done))
	var ask []kernel.ID
	for i, t := range done {
		forests[i] = kernel.Inserted(t)
		for _, b := range forests[i] {
			ask = append(ask, b.ID)
			for _, child := range b.Blocks {
				ask = append(ask, child.ID)
			}
		}
	}
	there, err := r.Kernel.Nodes(ctx, distinct(ask))
	if err != nil {
		return nil, err
	}
	out := make([][]kernel.ID, len(done))
	for i, forest := range forests {
		for _, b := range forest {
			if _, ok := there[b.ID]; ok {
				out[i] = append(out[i], b.ID)
				continue
			}
			for _, child := range b.Blocks {
				if _, ok := there[child.ID]; ok {
					out[i] = append(out[i], child.ID)
				}
			}
		}
		out[i] = distinct(out[i])
		if len(out[i]) == 0 {
			return nil, nothingCreated(r)
		}
	}
	if len(done) == 0 {
		return nil, nothingCreated(r)
	}
	return out, nil
}

func nothingCreated(r *action.Request) error {
	const reason = "empty_transaction_result"
	return &tool.Error{
		Op: "call", Kind: tool.API, Code: reason, Subject: r.Action.Tool + "." + r.Action.Name,
		Message: "the kernel accepted the content and made no block of it",
		Hint:    `block(action="get_children", id=…) shows whether the place for it exists`,
		Facts:   map[string]any{"reason": reason},
	}
}
