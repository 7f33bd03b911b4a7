package block

import (
	"context"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
)

type kramdownResult struct {
	ID        kernel.ID `json:"id" about:"the block"`
	Kramdown  string    `json:"kramdown" about:"its text; {: id=\"…\"} lines hold ids and attributes"`
	StateHash string    `json:"stateHash" about:"for ifMatch of a later write"`
}

func getKramdown() *action.Action {
	return action.New(action.Spec{
		Tool: name, Name: "get_kramdown",
		Purpose:    "Read a block or document as Markdown with ids and attributes",
		Guide:      "Give stateHash back as ifMatch to be refused if somebody changed the block meanwhile.",
		Common:     true,
		Class:      action.Reads,
		Needs:      []action.Need{action.OnBlock(access.Read, "id")},
		Endpoints:  []string{"block/getBlockKramdown", "query/sql"},
		Positional: []string{"id"},
		Result:     kramdownResult{},
		Example:    `{"id":"20260102030405-abcdefg"}`,
	}, func(ctx context.Context, r *action.Request, a idArgs) (any, error) {
		text, err := r.Kernel.Kramdown(ctx, a.ID)
		if err != nil {
			return nil, err
		}
		if text == "" { // also what the kernel answers for an id that is gone
			return nil, access.NotFound(access.Block, string(a.ID))
		}
		hash := content.StateHash(content.Saved{ID: a.ID, Kramdown: text})
		text, err = content.Unbound(ctx, r, content.Clean(text))
		return kramdownResult{a.ID, text, hash}, err
	})
}
