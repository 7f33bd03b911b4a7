// Package av is the tool of that name: databases ("attribute views"). It finds, shows and
// writes them; what it may do to one, the notebooks say whose blocks show it (owner.go), and
// what rows bound to blocks of other notebooks hold, theirs (mask.go).
//
// The entry point is [Tool].
package av

import (
	"time"

	"collie/internal/source/siyuan/action"
)

// Tool is the tool with all its actions.
func Tool() action.Tool {
	ms := time.Millisecond
	return tools(patience{100 * ms, 200 * ms, 400 * ms, 800 * ms, 1500 * ms})
}

// tools is the tool that waits for what it has written as p says.
func tools(p patience) action.Tool {
	return action.Tool{
		Name:  "av",
		About: "Databases: columns, rows, cells, views. search finds them, render shows one with its rowIDs (no block ids).",
		Actions: []*action.Action{
			get(), render(p), keys(), filterSort(), search(), rename(p), addRows(p), removeRows(p),
			addColumn(p), removeColumn(p), setCells(p), duplicate(p), primaryKeyValues(),
		},
	}
}
