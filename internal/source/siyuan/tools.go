package siyuan

import (
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/mascot"
	"collie/internal/source/siyuan/system"
	"collie/internal/source/siyuan/tag"
)

// Tools are the tools in the order they are listed, each with its actions in theirs.
func Tools() []action.Tool {
	return []action.Tool{
		tag.Tool(), system.Tool(), mascot.Tool(),
	}
}
