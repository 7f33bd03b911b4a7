package document

import (
	"context"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
)

type reorderArgs struct {
	ParentID   kernel.ID   `json:"parentID" about:"document or notebook" req:"true"`
	OrderedIDs []kernel.ID `json:"orderedIDs" about:"every document right below it, once, in order" req:"true" min:"1"`
}

type reorderResult struct {
	Success bool `json:"success" about:"true"`
	content.Reordered
}

func reorder() *action.Action {
	return action.New(action.Spec{
		Tool: "document", Name: "reorder", Purpose: "Put the documents below a document or notebook in order",
		Guide: "orderedIDs must have every document right below the parent. A kernel before 3.8.1 has no order for a " +
			"single document: then all of the notebook is shown in its custom order (sortModeScope).",
		Class:     action.Structure,
		Needs:     []action.Need{action.On(access.Write, "the parent", "parentID", ordered)},
		Endpoints: []string{"notebook/getNotebookConf", "filetree/listDocsByPath", "filetree/changeSort", "filetree/setDocSortMode", "notebook/setNotebookConf", "attr/getBlockAttrs"},
		Result:    reorderResult{},
		Example:   `{"parentID":"20240101120000-abcdefg","orderedIDs":["20240102120000-hijklmn","20240103120000-opqrstu"]}`,
	}, func(ctx context.Context, r *action.Request, a reorderArgs) (any, error) {
		t := r.Target("parentID")
		done, err := content.Reorder(ctx, r, t.Notebook, t, a.OrderedIDs)
		if err != nil {
			return nil, err
		}
		return reorderResult{true, done}, nil
	})
}

// ordered is the parent whose documents are put in order.
func ordered(ctx context.Context, r *action.Request) ([]action.Target, error) {
	id := r.Strings("parentID")
	if len(id) == 0 {
		return nil, r.Invalid("parentID", "must not be empty")
	}
	t, err := parent(ctx, r, "parentID", id[0])
	return []action.Target{t}, err
}
