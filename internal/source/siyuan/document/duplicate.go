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

func duplicate() *action.Action {
	return action.New(action.Spec{
		Tool: "document", Name: "duplicate", Purpose: "Copy a document beside itself",
		Guide:      "Documents below it are not copied. The copy has the time in its title: rename it.",
		Class:      action.Creates,
		Needs:      []action.Need{document(access.Write, "id")},
		Endpoints:  []string{"filetree/duplicateDoc", "filetree/getHPathByID", "block/getBlockInfo"},
		Positional: []string{"id"},
		Returns: []action.Field{
			{Name: "success", About: "true"},
			{Name: "sourceID", About: "the document that was copied"},
			{Name: "id", About: "id of the copy"},
			{Name: "notebook", About: "notebook id"},
			{Name: "path", About: "storage path of the copy"},
			{Name: "hPath", About: "human path of the copy"},
		},
		Example: `{"id":"20240101120000-abcdefg"}`,
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
		return struct {
			Success  bool      `json:"success"`
			SourceID kernel.ID `json:"sourceID"`
			place
		}{true, t.Root, at}, nil
	})
}
