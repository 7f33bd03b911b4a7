// Package system is the tool about SiYuan itself: its version and clock, its configuration
// with secrets hidden, a message to the person in front of it, and all that an agent should
// know before it begins.
package system

import "collie/internal/source/siyuan/action"

// Tool returns the tool.
func Tool() action.Tool {
	return action.Tool{
		Name:    "system",
		About:   "The SiYuan kernel. Begin with bootstrap: notebooks, levels (r, rw, rwd), what is off, first calls.",
		Actions: []*action.Action{workspaceInfo(), network(), conf(), notify(), getVersion(), getCurrentTime(), bootstrap()},
	}
}

// noNotes is why these actions need no level.
const noNotes = "it tells nothing of any note"
