// Package document is the tool of documents as wholes: making, finding, moving and removing them,
// and reading what is in them. Their blocks are the block tool's, human paths across notebooks
// the fs tool's.
//
// A document has an id, a storage path made of ids ("/<id>/<id>.sy") and a human path made of
// titles ("/Projects/Alpha", here always without the notebook's name). Ids and storage paths
// name one document, a human path may name several. Whatever a caller names a document by, the
// kernel is asked by id, so that what is done is done to what was checked. The entry point is
// [Tool].
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
