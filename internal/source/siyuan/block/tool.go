// Package block is the block tool: what reads, writes and moves single blocks by their ids.
// Whole documents are the document tool's, human paths the fs tool's.
//
// Kernels answer code 0 for many writes that did nothing, so each
// write here is read back, and no action returns the id of a block that is not there. The entry
// point is [Tool].
package block

import "collie/internal/source/siyuan/action"

// name is the tool's.
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
