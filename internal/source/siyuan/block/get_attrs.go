package block

import (
	"context"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
)

type idArgs struct {
	ID kernel.ID `json:"id" about:"block or document" req:"true"`
}

// getAttrsResult describes a map.
type getAttrsResult struct {
	Any string `json:"*" about:"each attribute by its name: name, alias, memo, bookmark, custom-…"`
}

func getAttrs() *action.Action {
	return action.New(action.Spec{
		Tool: name, Name: "get_attrs",
		Purpose: "Read the attributes of a block or document",
		Guide:   "Databases that the block is a row of are left out where some notebook may not be read.",
		Class:   action.Reads,
		Needs:   []action.Need{action.OnBlock(access.Read, "id")},

		Endpoints:  []string{"attr/getBlockAttrs"},
		Positional: []string{"id"},
		Result:     getAttrsResult{},
		Example:    `{"id":"20260102030405-abcdefg"}`,
	}, func(ctx context.Context, r *action.Request, a idArgs) (any, error) {
		attrs, err := r.Kernel.Attrs(ctx, a.ID)
		if err != nil {
			return nil, err
		}
		if len(attrs) == 0 { // each block has at least an id: it went away meanwhile
			return nil, access.NotFound(access.Block, string(a.ID))
		}
		return attrs, content.UnboundAttrs(ctx, r, attrs)
	})
}
