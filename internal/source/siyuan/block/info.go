package block

import (
	"context"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
)

func info() *action.Action {
	return action.New(action.Spec{
		Tool: name, Name: "info",
		Purpose:    "Say in which notebook and document a block is",
		Class:      action.Reads,
		Needs:      []action.Need{action.OnBlock(access.Read, "id")},
		Endpoints:  []string{"block/getBlockInfo"},
		Positional: []string{"id"},
		Returns: []action.Field{
			{Name: "box", About: "notebook"},
			{Name: "path", About: "storage path of the document"},
			{Name: "rootID", About: "document"},
			{Name: "rootTitle", About: "title of the document"},
			{Name: "rootIcon", About: "its icon", Verbose: true},
			{Name: "rootTitleEmpty", About: "whether the title is empty", Verbose: true},
			{Name: "rootChildID", About: "the block right below the document", Verbose: true},
		},
		Example: `{"id":"20260102030405-abcdefg"}`,
	}, func(ctx context.Context, r *action.Request, a idArgs) (any, error) {
		return r.Kernel.BlockInfo(ctx, a.ID)
	})
}
