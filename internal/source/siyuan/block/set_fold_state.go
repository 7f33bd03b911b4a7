package block

import (
	"context"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
)

type foldArgs struct {
	ID     kernel.ID `json:"id" about:"block" req:"true"`
	Folded bool      `json:"folded" about:"true folds, false unfolds" req:"true"`
}

type foldResult struct {
	Success bool      `json:"success" about:"true"`
	ID      kernel.ID `json:"id" about:"the block"`
	Folded  bool      `json:"folded" about:"its state now"`
}

func setFoldState() *action.Action {
	return action.New(action.Spec{
		Tool: name, Name: "set_fold_state",
		Purpose:    "Fold or unfold a block",
		Class:      action.State,
		Inverse:    foldBack,
		Needs:      []action.Need{action.OnBlock(access.Write, "id")},
		Endpoints:  []string{"block/foldBlock", "block/unfoldBlock", "attr/getBlockAttrs"},
		Positional: []string{"id", "folded"},
		Result:     foldResult{},
		Example:    `{"id":"20260102030405-abcdefg","folded":true}`,
	}, func(ctx context.Context, r *action.Request, a foldArgs) (any, error) {
		t := r.Target("id")
		hint := `block(action="get_children", id="` + string(a.ID) + `") lists its blocks, which can be folded`
		if err := notDocument(r, "id", t, hint); err != nil {
			return nil, err
		}
		if err := r.Kernel.Fold(ctx, a.ID, a.Folded); err != nil {
			return nil, err
		}
		attrs, err := r.Kernel.Attrs(ctx, a.ID)
		if err != nil {
			return nil, err
		}
		if (attrs["fold"] == "1") != a.Folded {
			return nil, mismatch(r, a.ID, "the kernel accepted the change, and the block is folded as before")
		}
		r.RefreshDocument(t.Root)
		return foldResult{true, a.ID, a.Folded}, nil
	})
}

// foldBack folds or unfolds the block as it is now.
func foldBack(ctx context.Context, r *action.Request) (*action.Inverse, error) {
	id := r.Target("id").ID
	attrs, err := r.Kernel.Attrs(ctx, id)
	if err != nil {
		return nil, err
	}
	args, err := action.Encode(map[string]any{"id": id, "folded": attrs["fold"] == "1"})
	return &action.Inverse{Tool: "block", Action: "set_fold_state", Args: args}, err
}
