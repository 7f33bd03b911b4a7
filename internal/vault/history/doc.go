// Package history answers the endpoints of document history, /api/history/..., and of the data repository,
// /api/repo/..., which takes snapshots of the workspace.
//
// The history of a document consists of the copies below /history that package edit makes. The path of a copy tells its
// document, time and reason: /history/<time>-<op>/<notebook>/<path>.sy.
//
// A snapshot is a list of ids of file records. A file record describes one file or document at a path and names the
// object that holds its bytes. Both are stored only once: an object under the hash of its bytes, a file record under a hash
// of its path and version. The version of a document is its revision, so that a snapshot reads only documents that have
// changed since an earlier one.
//
// Endpoints and answers follow the recordings of kernel 3.7.3, with one exception: restoring the state that a document
// already has changes nothing, whereas SiYuan removes the document's file.
//
// Entry point: [Register].
package history

import "collie/internal/vault/api"

// Register adds the routes of the history and the data repository.
func Register(mux *api.Mux) {
	mux.Write("/api/history/createDocHistory", createCopy)
	mux.Read("/api/history/searchHistory", searchCopies)
	mux.Read("/api/history/getHistoryItems", listCopies)
	mux.Read("/api/history/getDocHistoryContent", copyContent)
	mux.Write("/api/history/rollbackDocHistory", rollbackCopy)

	mux.Write("/api/repo/initRepoKey", initializeRepo)
	mux.Write("/api/repo/createSnapshot", createSnapshot)
	mux.Read("/api/repo/getRepoSnapshots", listSnapshots)
	mux.Write("/api/repo/tagSnapshot", tag)
	mux.Read("/api/repo/getRepoTagSnapshots", listTags)
	mux.Read("/api/repo/diffRepoSnapshots", diffSnapshots)
	mux.Read("/api/repo/openRepoSnapshotFile", openFile)
	mux.Write("/api/repo/rollbackRepoSnapshotFile", rollbackFile)
}
