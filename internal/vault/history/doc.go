// Package history answers the endpoints of what was: the history of documents, /api/history/..., and the data
// repository, /api/repo/..., which takes snapshots of everything.
//
// The history of a document is the copies below /history that package edit makes, and nothing else: what a copy is of,
// when and why it was made stands in its path, /history/<time>-<op>/<notebook>/<path>.sy.
//
// A snapshot is a list of ids of file records; a file record says what one file or document was at a path and names the
// object with its bytes. Each of the three is stored once under a name made from what it holds. The name of a document
// is made from its revision, so a snapshot reads only the documents that have changed since it was last taken.
//
// Which endpoints exist, and what they answer, is what the recordings of kernel 3.7.3 show, but for one thing: bringing
// back what is there already changes nothing, where SiYuan removes the file of the document.
//
// Entry point: [Join].
package history

import "collie/internal/vault/api"

// Join adds the routes of the history and of the data repository.
func Join(mux *api.Mux) {
	mux.Write("/api/history/createDocHistory", create)
	mux.Read("/api/history/searchHistory", search)
	mux.Read("/api/history/getHistoryItems", items)
	mux.Read("/api/history/getDocHistoryContent", content)
	mux.Write("/api/history/rollbackDocHistory", rollback)

	mux.Write("/api/repo/initRepoKey", initialize)
	mux.Write("/api/repo/createSnapshot", createSnapshot)
	mux.Read("/api/repo/getRepoSnapshots", listSnapshots)
	mux.Write("/api/repo/tagSnapshot", tag)
	mux.Read("/api/repo/getRepoTagSnapshots", listTags)
	mux.Read("/api/repo/diffRepoSnapshots", diff)
	mux.Read("/api/repo/openRepoSnapshotFile", openFile)
	mux.Write("/api/repo/rollbackRepoSnapshotFile", rollbackFile)
}
