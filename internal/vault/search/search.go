// Package search implements searches across the workspace: for blocks by words, by full text syntax, by SQL or by
// regular expression, for blocks to refer to, for references to missing blocks, for assets by name and by text, and for
// tags. It also runs users' SQL, and replaces text in blocks.
//
// Words are looked up in the trigram index, see [matchWords]. Only a regular expression that does not begin with a
// literal text reads all blocks. Full blocks are read only for the hits on the requested page.
//
// Entry point: [Register].
package search

import "collie/internal/vault/api"

// Register adds the endpoints below /api/search, /api/query, /api/sqlite and /api/tag.
func Register(mux *api.Mux) {
	mux.Read("/api/search/fullTextSearchBlock", fullTextSearchBlock)
	mux.Read("/api/search/searchRefBlock", searchRefBlock)
	mux.Read("/api/search/listInvalidBlockRefs", listInvalidBlockRefs)
	mux.Write("/api/search/findReplace", findReplace)
	mux.Read("/api/search/searchAsset", searchAsset)
	mux.Read("/api/search/fullTextSearchAssetContent", searchAssetContent)
	mux.Read("/api/search/getAssetContent", getAssetContent)
	mux.Read("/api/query/sql", querySQL)
	mux.Read("/api/sqlite/flushTransaction", flushTransaction)
	mux.ReadFirst("/api/tag/getTag", getTag) // it stores the given order
	mux.Write("/api/tag/renameTag", renameTag)
}
