package block

import (
	"context"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
)

type breadcrumbArgs struct {
	ID           kernel.ID `json:"id" about:"block or document" req:"true"`
	ExcludeTypes []string  `json:"excludeTypes" about:"node types to leave out, such as NodeTextMark-mark"`
}

func breadcrumb() *action.Action {
	return action.New(action.Spec{
		Tool: name, Name: "breadcrumb",
		Purpose:    "Show the way from its document down to a block",
		Class:      action.Reads,
		Needs:      []action.Need{action.OnBlock(access.Read, "id")},
		Endpoints:  []string{"block/getBlockBreadcrumb", "block/getBlockKramdowns", "query/sql"},
		Positional: []string{"id"},
		Result:     []kernel.Crumb{},
		Example:    `{"id":"20260102030405-abcdefg"}`,
	}, func(ctx context.Context, r *action.Request, a breadcrumbArgs) (any, error) {
		crumbs, err := r.Kernel.Breadcrumb(ctx, a.ID, a.ExcludeTypes)
		if err != nil {
			return nil, err
		}
		if len(crumbs) == 0 {
			return nil, access.NotFound(access.Block, string(a.ID))
		}
		if err := unboundCrumbs(ctx, r, crumbs); err != nil {
			return nil, err
		}
		for i := range crumbs {
			crumbs[i].Name = content.Clean(crumbs[i].Name)
		}
		return crumbs, nil
	})
}

// unboundCrumbs takes out of the names of steps what the kernel has put into their text of blocks that may not be read.
func unboundCrumbs(ctx context.Context, r *action.Request, crumbs []kernel.Crumb) error {
	ids := make([]kernel.ID, 0, len(crumbs))
	for _, c := range crumbs {
		if c.Type != "NodeDocument" { // its name is its title
			ids = append(ids, c.ID)
		}
	}
	texts, err := content.PlainTexts(ctx, r, ids)
	for i := range crumbs {
		if text, other := texts[crumbs[i].ID]; other {
			crumbs[i].Name = excerpt(text, 64)
		}
	}
	return err
}
