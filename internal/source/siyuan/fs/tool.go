// Package fs is the tool fs: notes by human paths, /notebook/document/child, without ids.
// It is made to be enough by itself.
//
// How paths are resolved is package action's, what documents hold is package content's. The
// entry point is [Tool].
package fs

import "collie/internal/source/siyuan/action"

// Tool returns the tool with its nine actions.
func Tool() action.Tool {
	return action.Tool{
		Name:    "fs",
		About:   "SiYuan notes by human path: /Notebook/Document/Child; / lists the notebooks. /AGENTS.md is your memory, /USER_RULES.md the user's rules.",
		Actions: []*action.Action{ls(), tree(), read(), write(), replace(), remove(), move(), reorder(), search()},
	}
}

// guidePaths is what several actions say of paths.
const guidePaths = "A / in a name is written %2F. Where two notebooks or documents have one name, add #id to it, as the error shows."
