package document

import (
	"context"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
)

type duplicateArgs struct {
	ID kernel.ID `json:"id" about:"document id" req:"true"`
}

type duplicateResult struct {
	Success  bool      `json:"success" about:"true"`
	SourceID kernel.ID `json:"sourceID" about:"the document that was copied"`
	place
}

func duplicate() *action.Action {
	return action.New(action.Spec{
		Tool: "document", Name: "duplicate", Purpose: "Copy a document beside itself",
		Guide:      "Documents below it are not copied. The copy has the time in its title: rename it.",
		Class:      action.Creates,
		Needs:      []action.Need{document(access.Write, "id")},
		Endpoints:  []string{"filetree/duplicateDoc", "filetree/getHPathByID", "block/getBlockInfo"},
		Positional: []string{"id"},
		Result:     duplicateResult{},
		Example:    `{"id":"20240101120000-abcdefg"}`,
	}, func(ctx context.Context, r *action.Request, _ duplicateArgs) (any, error) {
		t := r.Target("id")
		d, err := r.Kernel.DuplicateDocument(ctx, t.Root)
		if err != nil {
			return nil, err
		}
		to := destination{notebook: t.Notebook}
		at, err := to.settle(ctx, r, d.ID)
		if err != nil {
			return nil, err
		}
		r.RefreshDocument(d.ID)
		r.RefreshTree()
		return duplicateResult{true, t.Root, at}, nil
	})
}
