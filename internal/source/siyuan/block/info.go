package block

import (
	"context"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
)

// infoResult describes what the kernel answers.
type infoResult struct {
	Box            kernel.ID `json:"box" about:"notebook"`
	Path           string    `json:"path" about:"storage path of the document"`
	RootID         kernel.ID `json:"rootID" about:"document"`
	RootTitle      string    `json:"rootTitle" about:"title of the document"`
	RootIcon       string    `json:"rootIcon" about:"its icon" verbose:"yes"`
	RootTitleEmpty bool      `json:"rootTitleEmpty" about:"whether the title is empty" verbose:"yes"`
	RootChildID    kernel.ID `json:"rootChildID" about:"the block right below the document" verbose:"yes"`
}

func info() *action.Action {
	return action.New(action.Spec{
		Tool: name, Name: "info",
		Purpose:    "Say in which notebook and document a block is",
		Class:      action.Reads,
		Needs:      []action.Need{action.OnBlock(access.Read, "id")},
		Endpoints:  []string{"block/getBlockInfo"},
		Positional: []string{"id"},
		Result:     infoResult{},
		Example:    `{"id":"20260102030405-abcdefg"}`,
	}, func(ctx context.Context, r *action.Request, a idArgs) (any, error) {
		return r.Kernel.BlockInfo(ctx, a.ID)
	})
}
