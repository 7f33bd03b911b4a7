// Package search is the tool for searching: blocks by text, rows by SQL, references to a block, and assets. It also
// replaces text in blocks. Results never contain or count anything from a hidden notebook: where possible the kernel is
// not even asked for it, and its answers are always filtered. Package [collie/internal/sqlguard] restricts SQL.
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
