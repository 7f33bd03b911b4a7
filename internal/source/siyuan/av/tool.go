// Package av is the tool for databases, which SiYuan calls attribute views: it finds, shows and changes them. The levels
// of the notebooks whose blocks show a database determine access to it (owner.go). A row may be bound to a block of
// another notebook; the level of that notebook then determines access to the row (mask.go).
//
// The entry point is [Tool].
package av

import (
	"time"

	"collie/internal/source/siyuan/action"
)

// Tool returns the tool with all its actions.
func Tool() action.Tool {
	ms := time.Millisecond
	return tools(retryWaits{100 * ms, 200 * ms, 400 * ms, 800 * ms, 1500 * ms})
}

// tools returns the tool with the given wait times for verifying writes.
func tools(p retryWaits) action.Tool {
	return action.Tool{
		Name:  "av",
		About: "Databases: columns, rows, cells, views. search finds them, render shows one with its rowIDs (no block ids).",
		Actions: []*action.Action{
			get(), render(p), keys(), filterSort(), search(), rename(p), addRows(p), removeRows(p),
			addColumn(p), removeColumn(p), setCells(p), duplicate(p), primaryKeyValues(),
		},
	}
}
