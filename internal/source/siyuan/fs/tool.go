// Package fs is the tool for notes by human paths, /notebook/document/child, without ids. It covers all common tasks, so
// that most callers need no other tool.
//
// Package action resolves the paths, and package content reads and writes documents. The entry point is [Tool].
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

// guidePaths explains paths in the guides of several actions.
const guidePaths = "A / in a name is written %2F. Where two notebooks or documents have one name, add #id to it, as the error shows."
