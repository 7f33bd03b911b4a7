package tag

import (
	"context"
	"slices"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
)

type removeArgs struct {
	Label string `json:"label" about:"tag" req:"true" min:"1"`
}

type removeResult struct {
	Success bool   `json:"success" about:"true"`
	Label   string `json:"label" about:"the tag"`
}

func remove() *action.Action {
	return action.New(action.Spec{
		Tool: "tag", Name: "remove", Purpose: "Take a tag away from all notes; the text stays",
		Guide:     "Needs rwd in every notebook that has the tag or one below it, which stays; notebooks with level none keep the tag.",
		Dangerous: true, Class: action.Manifest,
		Needs:     []action.Need{needsEverywhere(access.Delete, "label")},
		Endpoints: rewriting,
		Result:    removeResult{},
		Example:   `{"label":"travel"}`,
	}, func(ctx context.Context, r *action.Request, a removeArgs) (any, error) {
		label := clean(a.Label)
		// The kernel has a call for it, which takes the text away with the tag, in hidden notebooks too.
		list, err := tagged(ctx, r, label)
		if err != nil {
			return nil, err
		}
		if err := rewrite(ctx, r, list, removal(label)); err != nil {
			return nil, err
		}
		left, err := tagged(ctx, r, label)
		if err != nil {
			return nil, err
		}
		if err := leftOver(label, len(left)); err != nil {
			return nil, err
		}
		r.RefreshTags()
		return removeResult{true, label}, nil
	})
}

// tagged are the blocks that may be read and have the tag itself.
func tagged(ctx context.Context, r *action.Request, label string) ([]use, error) {
	list, err := having(ctx, r, label)
	return slices.DeleteFunc(list, func(u use) bool { return !slices.Contains(u.labels(), label) }), err
}
