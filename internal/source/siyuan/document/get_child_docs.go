package document

import (
	"context"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
)

type getChildDocsArgs struct {
	ID kernel.ID `json:"id" about:"document id" req:"true"`
}

func getChildDocs() *action.Action {
	return action.New(action.Spec{
		Tool: "document", Name: "get_child_docs", Purpose: "List the documents right below a document",
		Guide:      `Those at the top of a notebook: notebook(action="get_child_docs").`,
		Class:      action.Reads,
		Needs:      []action.Need{action.OnDocument(access.Read, "id")},
		Endpoints:  []string{"filetree/listDocsByPath", "filetree/getHPathByID"},
		Positional: []string{"id"},
		Result:     []content.ListedDocument{},
		Example:    `{"id":"20240101120000-abcdefg"}`,
	}, func(ctx context.Context, r *action.Request, _ getChildDocsArgs) (any, error) {
		t := r.Target("id")
		path := t.Path
		if t.Root == t.Notebook { // the page of a notebook: what is below is at its top
			path = "/"
		}
		docs, err := r.Kernel.Documents(ctx, t.Notebook, path)
		if err != nil {
			return nil, err
		}
		above, err := hpathOf(ctx, r, t)
		if err != nil {
			return nil, err
		}
		return content.ListDocuments(t.Notebook, above, docs), nil
	})
}
