package siyuan

import (
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/av"
	"collie/internal/source/siyuan/block"
	"collie/internal/source/siyuan/document"
	"collie/internal/source/siyuan/file"
	"collie/internal/source/siyuan/flashcard"
	"collie/internal/source/siyuan/fs"
	"collie/internal/source/siyuan/mascot"
	"collie/internal/source/siyuan/notebook"
	"collie/internal/source/siyuan/search"
	"collie/internal/source/siyuan/system"
	"collie/internal/source/siyuan/tag"
	"collie/internal/source/siyuan/timeline"
)

// Tools returns the tools in the order of the list, each with its actions in order.
func Tools() []action.Tool {
	return []action.Tool{
		fs.Tool(), notebook.Tool(), document.Tool(), block.Tool(), av.Tool(),
		file.Tool(), search.Tool(), tag.Tool(), system.Tool(), flashcard.Tool(), mascot.Tool(), timeline.Tool(),
	}
}
