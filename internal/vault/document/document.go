// Package document implements the endpoints for notebooks and whole documents: notebooks and their configuration, lists
// and trees of documents, paths, creating, renaming, moving and removing documents, converting sections to documents
// and back, daily notes and outlines.
//
// Package block handles the content of documents. Lists query the tables of the workspace instead of loading trees, so
// that they cost only what they show.
//
// Entry point: [Register].
package document

import (
	"collie/internal/vault/api"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// Register adds the endpoints below /api/notebook, /api/filetree and /api/outline, and those of daily notes.
func Register(mux *api.Mux) {
	registerNotebooks(mux)
	mux.Read("/api/filetree/listDocsByPath", listDocsByPath)
	mux.Read("/api/filetree/listDocTree", listDocTree)
	mux.Read("/api/filetree/getHPathByID", getHPathByID)
	mux.Read("/api/filetree/getPathByID", getPathByID)
	mux.Read("/api/filetree/getIDsByHPath", getIDsByHPath)
	mux.Read("/api/filetree/searchDocs", searchDocs)
	mux.Read("/api/filetree/getDoc", getDoc)
	mux.Write("/api/filetree/createDocWithMd", createDocWithMd)
	mux.Write("/api/filetree/createDoc", createDoc)
	mux.Write("/api/filetree/renameDocByID", renameDocByID)
	mux.Write("/api/filetree/removeDocByID", removeDocByID)
	mux.Write("/api/filetree/moveDocsByID", moveDocsByID)
	mux.Write("/api/filetree/duplicateDoc", duplicateDoc)
	mux.Write("/api/filetree/changeSort", changeSort)
	mux.Write("/api/filetree/heading2Doc", heading2Doc)
	mux.Write("/api/filetree/doc2Heading", doc2Heading)
	mux.Write("/api/filetree/createDailyNote", createDailyNote)
	mux.Write("/api/block/appendDailyNoteBlock", func(tx *workspace.Tx, req api.Request) api.Reply {
		return addToDailyNote(tx, req, true)
	})
	mux.Write("/api/block/prependDailyNoteBlock", func(tx *workspace.Tx, req api.Request) api.Reply {
		return addToDailyNote(tx, req, false)
	})
	mux.Read("/api/outline/getDocOutline", getDocOutline)
}

// How long the kernel's window shows an error, in milliseconds.
const (
	shortError = 5000
	longError  = 7000
)

// Errors of several endpoints.
const (
	notebookFailed = "Query notebook failed"
	treeNotFound   = "tree not found"
	blockNotFound  = "block not found"
	pageIsFixed    = "The top-level notebook document cannot be removed or moved"
	titleTooLong   = "Maximum length is limited to 512 characters"
	treeTooDeep    = "The current settings do not allow the creation of sub-documents under a document 7 levels deep"
)

// fitsDepth reports whether a document may be placed below parent. levels is the number of levels of documents that it
// has, including itself.
func fitsDepth(parent *tree.Document, levels int) bool {
	return parent == nil || parent.Depth()+levels <= tree.MaxDepth
}
