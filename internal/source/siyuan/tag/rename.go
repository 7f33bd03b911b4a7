package tag

import (
	"context"
	"strings"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/tool"
)

type renameArgs struct {
	Old string `json:"oldLabel" about:"tag as it is" req:"true" min:"1"`
	New string `json:"newLabel" about:"tag as it shall be" req:"true" min:"1"`
}

// marks are the characters that the kernel lets no new tag have: Markdown has a use for them.
const marks = "!#$&()*<=>[\\]^_`{}~"

func rename() *action.Action {
	return action.New(action.Spec{
		Tool: "tag", Name: "rename", Purpose: "Rename a tag, and those below it, in all notes",
		Guide:     "Needs rw in every notebook that has the tag.",
		Dangerous: true, Class: action.Manifest,
		Needs:     []action.Need{needsEverywhere(access.Write, "oldLabel")},
		Endpoints: []string{"query/sql", "tag/renameTag", "notebook/lsNotebooks"},
		Aliases:   map[string]string{"old": "oldLabel", "new": "newLabel"},
		Returns: []action.Field{
			{Name: "success", About: "true"}, {Name: "oldLabel", About: "tag as it was"}, {Name: "newLabel", About: "tag as it is"},
		},
		Example: `{"oldLabel":"travel/china","newLabel":"travel/中国"}`,
	}, func(ctx context.Context, r *action.Request, a renameArgs) (any, error) {
		old, label := clean(a.Old), strings.Trim(clean(a.New), "/ ") // which the kernel would trim
		if label == "" || strings.Contains(label, "//") || strings.ContainsAny(label, marks+"\n") {
			return nil, r.Invalid("newLabel", "must be a tag with a name on each level and without line breaks and these: "+marks)
		}
		if old == label {
			return nil, r.Conflicting("the tag has that name already", "oldLabel", "newLabel")
		}
		if err := r.Kernel.RenameTag(ctx, old, label); err != nil {
			return nil, err
		}
		if !strings.HasPrefix(label, old+"/") {
			if err := gone(ctx, r, old); err != nil {
				return nil, err
			}
		}
		r.RefreshTags()
		return struct {
			Success bool   `json:"success"`
			Old     string `json:"oldLabel"`
			New     string `json:"newLabel"`
		}{true, old, label}, nil
	})
}

// gone makes sure that no block has a tag any more: the kernel says yes to anything.
func gone(ctx context.Context, r *action.Request, label string) error {
	left, err := uses(ctx, r, having(label))
	if err != nil {
		return err
	}
	n := 0
	for i := range left {
		if left[i].has(label) {
			n++
		}
	}
	return leftOver(label, n)
}

// leftOver is the error for n blocks that still have a tag after it was to go; nil for none.
func leftOver(label string, n int) error {
	if n == 0 {
		return nil
	}
	out := &tool.Error{
		Op: "write", Kind: tool.Mismatch, Subject: label, OutcomeUnknown: true,
		Message: "the kernel accepted the change, and blocks still have the tag", Facts: map[string]any{"blocks": n},
		Hint: `tag(action="list") shows the tags as they are`,
	}
	if strings.ContainsAny(label, "&<>") { // the kernel compares with the escaped text of a block
		out.Hint = `the kernel passes over & < > in tags of texts: search(action="fulltext", hasTags=true) finds the blocks, block(action="update") changes them`
	}
	return out
}
