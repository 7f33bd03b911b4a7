package document

import (
	"context"
	"strings"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
)

type getChildDocsArgs struct {
	ID kernel.ID `json:"id" about:"document id" req:"true"`
}

// summary is a document in a list.
type summary struct {
	place
	Name         string `json:"name"`
	Icon         string `json:"icon"`
	SubFileCount int    `json:"subFileCount"`
}

func getChildDocs() *action.Action {
	return action.New(action.Spec{
		Tool: "document", Name: "get_child_docs", Purpose: "List the documents right below a document",
		Guide:      `Those at the top of a notebook: notebook(action="get_child_docs").`,
		Class:      action.Reads,
		Needs:      []action.Need{action.OnDocument(access.Read, "id")},
		Endpoints:  []string{"filetree/listDocsByPath", "filetree/getHPathByID"},
		Positional: []string{"id"},
		Returns: []action.Field{
			{Name: "[].id", About: "document id"},
			{Name: "[].name", About: "title"},
			{Name: "[].hPath", About: "human path in the notebook"},
			{Name: "[].path", About: "storage path"},
			{Name: "[].subFileCount", About: "documents right below it"},
			{Name: "[].notebook", About: "notebook id", Verbose: true},
			{Name: "[].icon", About: "icon", Verbose: true},
		},
		Example: `{"id":"20240101120000-abcdefg"}`,
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
		out := make([]summary, 0, len(docs))
		for _, d := range docs {
			hpath := strings.TrimSuffix(above, "/") + "/" + d.Name
			out = append(out, summary{place{d.ID, t.Notebook, d.Path, hpath}, d.Name, d.Icon, d.SubFileCount})
		}
		return out, nil
	})
}
