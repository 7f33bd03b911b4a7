package block

import (
	"context"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the action block.replace, which replaces exact texts in a block.

type replaceArgs struct {
	ID   kernel.ID     `json:"id" about:"block or document" req:"true"`
	Edit content.Edits `json:"edit" about:"{old, new, replace_all}, or several; old is the text as it is read, without attributes" req:"true"`
}

type replaceResult struct {
	Success bool      `json:"success" about:"true"`
	ID      kernel.ID `json:"id" about:"as given"`
	content.Replaced
}

// replace returns the action replace of the tool block.
func replace() *action.Action {
	return action.New(action.Spec{
		Tool: name, Name: "replace",
		Purpose: "Replace an exact text in a block; everything else stays",
		Guide: "All edits are found before anything is written. old must be there once, unless replace_all is true. In a document " +
			"each edit is within one block.",
		Class: action.State, Risk: tool.RiskLow, Effects: tool.EffectWrite, Saves: action.SavesBlocks, AddsBlocks: true,
		Needs: []action.Need{action.OnBlock(access.Write, "id")},
		Endpoints: []string{
			"block/getBlockTreeInfos", "block/getChildBlocks", "block/getBlockKramdowns", "block/updateBlock", "block/batchUpdateBlock",
			"block/insertBlock", "attr/setBlockAttrs", "attr/getBlockAttrs", "query/sql",
		},
		Positional: []string{"id"},
		Adapt:      content.AdaptEdits,
		Result:     replaceResult{},
		Example:    `{"id":"20260102030405-abcdefg","edit":{"old":"teh","new":"the"}}`,
	}, runReplace)
}

func runReplace(ctx context.Context, r *action.Request, a replaceArgs) (any, error) {
	t := r.Target("id")
	if err := refuseNotebookPage(r, "id", t); err != nil {
		return nil, err
	}
	blocks, err := editableBlocks(ctx, r, t)
	if err != nil {
		return nil, err
	}
	done, err := content.Replace(ctx, r, string(a.ID), blocks, a.Edit)
	if err != nil {
		return nil, err
	}
	if done.Changed {
		r.RefreshDocument(t.Root)
	}
	return replaceResult{true, a.ID, done}, nil
}

// editableBlocks returns the blocks that a write to a target replaces: the target itself, or all top-level blocks of a
// document.
func editableBlocks(ctx context.Context, r *action.Request, t action.Target) ([]kernel.Block, error) {
	if isDocument(t) {
		return r.Kernel.ChildBlocks(ctx, t.ID)
	}
	nodes, err := r.Kernel.Nodes(ctx, []kernel.ID{t.ID})
	if err != nil {
		return nil, err
	}
	node, exists := nodes[t.ID]
	if !exists {
		return nil, access.NotFound(access.Block, string(t.ID))
	}
	return []kernel.Block{{ID: t.ID, Type: shortType(node.Type)}}, nil
}

// shortType returns a type of node as getChildBlocks names it, "p" for all that are plain text.
func shortType(node string) string {
	short, ok := map[string]string{
		"NodeList": "l", "NodeListItem": "i", "NodeBlockquote": "b", "NodeCallout": "callout", "NodeSuperBlock": "s",
		"NodeAttributeView": "av", "NodeBlockQueryEmbed": "query_embed", "NodeHTMLBlock": "html", "NodeIFrame": "iframe",
		"NodeWidget": "widget", "NodeVideo": "video", "NodeAudio": "audio",
	}[node]
	if !ok {
		return "p"
	}
	return short
}
