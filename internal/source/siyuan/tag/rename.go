package tag

import (
	"context"
	"slices"
	"strings"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/tool"
)

// This file has the actions tag.rename and tag.remove.

type renameArgs struct {
	Old string `json:"oldLabel" about:"tag as it is" req:"true" min:"1"`
	New string `json:"newLabel" about:"tag as it shall be" req:"true" min:"1"`
}

// forbiddenMarks are characters that the kernel does not allow in new tags, because they have a meaning in Markdown.
const forbiddenMarks = "!#$&()*<=>[\\]^_`{}~"

type renameResult struct {
	Success bool   `json:"success" about:"true"`
	Old     string `json:"oldLabel" about:"tag as it was"`
	New     string `json:"newLabel" about:"tag as it is"`
}

// rename returns the action rename of the tool tag.
func rename() *action.Action {
	return action.New(action.Spec{
		Tool: "tag", Name: "rename", Purpose: "Rename a tag, and those below it, in all notes",
		Guide: "Needs rw in every notebook that has the tag; those with level none keep it. What only looks like it, in code, templates " +
			"and cells of databases, stays.",
		Dangerous: true, Class: action.Manifest, Risk: tool.RiskHigh, Effects: tool.EffectWrite,
		Needs:     []action.Need{needsEverywhere(access.Write, "oldLabel")},
		Endpoints: append([]string{"tag/renameTag"}, rewriteEndpoints...),
		Aliases:   map[string]string{"old": "oldLabel", "new": "newLabel"},
		Result:    renameResult{},
		Example:   `{"oldLabel":"travel/china","newLabel":"travel/中国"}`,
	}, func(ctx context.Context, r *action.Request, a renameArgs) (any, error) {
		old, label := cleanLabel(a.Old), strings.Trim(cleanLabel(a.New), "/ ") // the kernel would trim these
		if label == "" || strings.Contains(label, "//") || strings.ContainsAny(label, forbiddenMarks+"\n") {
			return nil, r.Invalid("newLabel", "must be a tag with a name on each level and without line breaks and these: "+forbiddenMarks)
		}
		if old == label {
			return nil, r.Conflicting("the tag has that name already", "oldLabel", "newLabel")
		}
		if err := replaceTag(ctx, r, old, label); err != nil {
			return nil, err
		}
		r.RefreshTags()
		return renameResult{true, old, label}, nil
	})
}

// replaceTag renames a tag in all readable notebooks. The kernel's own request renames it in every notebook, so it is
// used only if all are readable. It misses tags that contain & < or >, so the remaining blocks are rewritten here.
func replaceTag(ctx context.Context, r *action.Request, old, label string) error {
	restricted, err := r.Levels.Restricted(ctx)
	if err != nil {
		return err
	}
	below := strings.HasPrefix(label, old+"/") // the new tag is below the old one, so blocks still match old afterwards
	if !restricted {
		if err := r.Kernel.RenameTag(ctx, old, label); err != nil || below {
			return err
		}
	}
	list, err := blocksWithTagOrBelow(ctx, r, old)
	if err != nil || len(list) == 0 {
		return err
	}
	if err := rewriteTags(ctx, r, list, renameLabel(old, label)); err != nil || below {
		return err
	}
	remaining, err := blocksWithTagOrBelow(ctx, r, old)
	if err != nil {
		return err
	}
	return leftOverError(old, len(remaining))
}

type removeArgs struct {
	Label string `json:"label" about:"tag" req:"true" min:"1"`
}

type removeResult struct {
	Success bool   `json:"success" about:"true"`
	Label   string `json:"label" about:"the tag"`
}

// remove returns the action remove of the tool tag.
func remove() *action.Action {
	return action.New(action.Spec{
		Tool: "tag", Name: "remove", Purpose: "Take a tag away from all notes; the text stays",
		Guide:     "Needs rwd in every notebook that has the tag or one below it, which stays; notebooks with level none keep the tag.",
		Dangerous: true, Class: action.Manifest, Risk: tool.RiskHigh, Effects: tool.EffectWrite,
		Needs:     []action.Need{needsEverywhere(access.Delete, "label")},
		Endpoints: rewriteEndpoints,
		Result:    removeResult{},
		Example:   `{"label":"travel"}`,
	}, func(ctx context.Context, r *action.Request, a removeArgs) (any, error) {
		label := cleanLabel(a.Label)
		// The kernel's own request would also remove the text of the tag, and affect hidden notebooks.
		list, err := blocksWithTag(ctx, r, label)
		if err != nil {
			return nil, err
		}
		if err := rewriteTags(ctx, r, list, removeLabel(label)); err != nil {
			return nil, err
		}
		remaining, err := blocksWithTag(ctx, r, label)
		if err != nil {
			return nil, err
		}
		if err := leftOverError(label, len(remaining)); err != nil {
			return nil, err
		}
		r.RefreshTags()
		return removeResult{true, label}, nil
	})
}

// blocksWithTag returns the readable blocks that have exactly this tag.
func blocksWithTag(ctx context.Context, r *action.Request, label string) ([]taggedBlock, error) {
	list, err := blocksWithTagOrBelow(ctx, r, label)
	return slices.DeleteFunc(list, func(u taggedBlock) bool { return !slices.Contains(u.labels(), label) }), err
}
