// Package document is the tool for whole documents: creating, finding, reading, moving and removing them. Blocks in them
// are the business of the block tool, human paths across notebooks of the fs tool.
//
// A document has an id, a storage path made of ids ("/<id>/<id>.sy") and a human path made of titles ("/Projects/Alpha",
// here always without the notebook's name). An id or storage path identifies one document; several documents may share a
// human path. However the caller identifies a document, requests to the kernel use its id, so that an action affects
// exactly the document that was checked. The entry point is [Tool].
package document

import "collie/internal/source/siyuan/action"

// Tool returns the tool.
func Tool() action.Tool {
	return action.Tool{
		Name:  "document",
		About: "Documents by id: create, find, read, move, copy, split, merge.",
		Actions: []*action.Action{
			create(), lookup(), rename(), remove(), move(), reorder(), getChildBlocks(), getChildDocs(), setAttr(),
			listTree(), searchDocs(), getDoc(), getOutline(), createDailyNote(), duplicate(), headingToDoc(), docToHeading(),
		},
	}
}
