// Package search is the tool that finds blocks by text, rows by SQL, references to a block, and assets, and that
// replaces text in blocks. Nothing from a hidden notebook is shown or counted: where possible the kernel is not asked
// for it, and its answers are filtered anyway. Package [collie/internal/sqlguard] decides what SQL may do.
package search

import "collie/internal/source/siyuan/action"

const name = "search"

// Tool returns the tool.
func Tool() action.Tool {
	return action.Tool{
		Name:  name,
		About: "Find blocks, also by SQL, backlinks, assets; replace text.",
		Actions: []*action.Action{
			fulltext(), querySQL(), getBacklinks(), searchRefs(), findReplace(), searchAssets(), fulltextAssetContent(), listInvalidRefs(),
		},
	}
}
