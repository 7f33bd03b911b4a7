// Package search is the tool that finds: blocks by their text, rows by SQL, what refers to a
// block, assets; and that replaces text in blocks. What comes from a notebook that may not be
// read is never shown and never counted: the kernel is asked for less where it can be, and what
// it answers is filtered all the same. What SQL may do is
// [collie/internal/sqlguard]'s to say.
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
