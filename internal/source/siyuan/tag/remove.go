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

func remove() *action.Action {
	return action.New(action.Spec{
		Tool: "tag", Name: "remove", Purpose: "Take a tag away from all notes; the text stays",
		Guide:     "Needs rwd in every notebook that has the tag or one below it.",
		Dangerous: true, Class: action.Manifest,
		Needs:     []action.Need{needsEverywhere(access.Delete, "label")},
		Endpoints: []string{"query/sql", "tag/removeTag", "notebook/lsNotebooks"},
		Returns:   []action.Field{{Name: "success", About: "true"}, {Name: "label", About: "the tag"}},
		Example:   `{"label":"travel"}`,
	}, func(ctx context.Context, r *action.Request, a removeArgs) (any, error) {
		label := clean(a.Label)
		if err := r.Kernel.RemoveTag(ctx, label); err != nil {
			return nil, err
		}
		if err := removed(ctx, r, label); err != nil {
			return nil, err
		}
		r.RefreshTags()
		return struct {
			Success bool   `json:"success"`
			Label   string `json:"label"`
		}{true, label}, nil
	})
}

// removed makes sure that no block has the tag itself any more.
func removed(ctx context.Context, r *action.Request, label string) error {
	left, err := uses(ctx, r, having(label))
	if err != nil {
		return err
	}
	n := 0
	for i := range left {
		if slices.Contains(left[i].labels(), label) {
			n++
		}
	}
	return leftOver(label, n)
}
