package fs

import (
	"context"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/content"
	"collie/internal/tool"
)

// This file has the action fs.replace, which replaces exact texts in a document.

type replaceArgs struct {
	Path string        `json:"path" about:"document" req:"true"`
	Edit content.Edits `json:"edit" about:"{old, new, replace_all} or a list of them" req:"true"`
}

type replaceResult struct {
	Success bool   `json:"success" about:"always true"`
	Path    string `json:"path" about:"path of the document"`
	content.Replaced
}

// replace returns the action replace of the tool fs.
func replace() *action.Action {
	return action.New(action.Spec{
		Tool: "fs", Name: "replace", Purpose: "Replace exact texts in a document", Common: true, Class: action.Manifest, Risk: tool.RiskLow, Effects: tool.EffectWrite, Saves: action.SavesBlocks,
		Guide: "old is text as read shows it, unique in the document unless replace_all is true, and within one block: paragraphs are one block each, " +
			"a whole list is one. Edits are made in order, all or none. Blocks keep their ids and attributes. " +
			"An old text repeated in new with a paragraph behind it inserts that paragraph.",
		Needs: []action.Need{action.OnPath(access.Write, "path", action.PathVirtual)},
		Endpoints: []string{
			"block/getChildBlocks", "block/getBlockKramdowns", "block/getBlockKramdown", "block/updateBlock", "block/batchUpdateBlock", "block/insertBlock",
			"block/getBlockTreeInfos", "attr/getBlockAttrs", "attr/setBlockAttrs", "query/sql", "block/getBlockInfo", "block/getBlockDOM",
		},
		Positional: []string{"path"},
		Result:     replaceResult{},
		Example:    `{"path":"/Work notes/Plan","edit":{"old":"draft","new":"final"}}`,
		Adapt:      content.AdaptEdits,
	}, func(ctx context.Context, r *action.Request, a replaceArgs) (any, error) {
		targets := r.Targets("path")
		if len(targets) == 0 {
			return replaceVirtual(ctx, r, a)
		}
		t := targets[0]
		done, err := content.ReplaceDocument(ctx, r, t, a.Edit)
		if len(done.ChangedBlocks) > 0 {
			r.RefreshDocument(t.ID)
			r.RefreshTree()
		}
		if err != nil {
			return nil, err
		}
		return replaceResult{true, callerPath(ctx, r, t), done}, nil
	})
}

func replaceVirtual(ctx context.Context, r *action.Request, a replaceArgs) (any, error) {
	path, _ := virtualFile(r, a.Path)
	if err := checkWritable(path); err != nil {
		return nil, err
	}
	var done content.Replaced
	err := changeMemory(ctx, r, func(old string) (text string, err error) {
		text, done, err = content.ReplaceText(path, old, a.Edit)
		return text, err
	})
	if err != nil {
		return nil, err
	}
	return replaceResult{true, path, done}, nil
}
