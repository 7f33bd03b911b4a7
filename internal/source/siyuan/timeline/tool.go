// Package timeline is the tool of earlier states: named nodes on SiYuan's snapshots of the whole workspace, the
// changes of a document since the last copies in its history, and the way back to such a copy. It is off by default.
//
// A node is a snapshot with our own tag. The tag's name says what the node covers and when it was made, so nothing is
// written into notes.
package timeline

import "collie/internal/source/siyuan/action"

// Tool returns the tool.
func Tool() action.Tool {
	return action.Tool{
		Name: "timeline", Title: "Timeline", Off: true,
		About:   "Earlier states: name one before larger edits, see what changed since, bring a document back.",
		Actions: []*action.Action{listNodes(), createNode(), compareRecent(), rollbackDocument()},
	}
}
