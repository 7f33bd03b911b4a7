package file

import (
	"context"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
)

type exportMDArgs struct {
	ID kernel.ID `json:"id" about:"document, or a block in it" req:"true"`
}

func exportMD() *action.Action {
	return action.New(action.Spec{
		Tool: "file", Name: "export_md", Purpose: "Export a document as standard Markdown",
		Guide: "The whole document of the block, with front matter. Where a notebook is hidden, references become links.",
		Class: action.Reads, Common: true,
		Needs:      []action.Need{action.OnDocument(access.Read, "id")},
		Endpoints:  []string{"export/exportMdContent", "query/sql", "notebook/lsNotebooks", "block/getBlockKramdown"},
		Positional: []string{"id"},
		Result:     kernel.Markdown{},
		Example:    `{"id":"20240101120000-abcdefg"}`,
	}, func(ctx context.Context, r *action.Request, _ exportMDArgs) (any, error) {
		return exported(ctx, r, r.Target("id"))
	})
}
