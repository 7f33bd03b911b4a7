// Package block is the tool for single blocks, which it reads, writes and moves by id. Whole documents are the business
// of the document tool, human paths of the fs tool.
//
// The kernel reports success for many writes that did nothing. So every write is verified by reading it back, and no
// action returns the id of a block that does not exist. The entry point is [Tool].
package block

import "collie/internal/source/siyuan/action"

// name is the name of the tool.
const name = "block"

// Tool returns the tool with its actions in the order that clients see.
func Tool() action.Tool {
	return action.Tool{
		Name:  name,
		About: "Single blocks by id. Ids and attributes stay; get_kramdown gives stateHash for ifMatch.",
		Actions: []*action.Action{
			insert(), prepend(), appendTo(), update(), replace(), remove(), move(), setFoldState(),
			getKramdown(), batchKramdown(), getChildren(), transferReferences(), setAttrs(), getAttrs(),
			info(), breadcrumb(), dom(), recentUpdated(), wordCount(), addToDailyNote(), docsInfo(),
		},
	}
}
