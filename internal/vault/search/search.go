// Package search answers what is found across the workspace: blocks by words, by the syntax of full text search, by SQL
// or by regular expression, blocks to refer to, references to nothing, assets by name and by text, and tags. It also
// runs the SQL of users, and replaces text in blocks that were found.
//
// Words are looked up in the index of trigrams, see [byWords]; no search reads all blocks, except for a regular
// expression that does not begin with a plain text. Of the hits only those on the page that was asked for are read.
//
// Entry point: [Join].
package search

import "collie/internal/vault/api"

// Join adds the endpoints below /api/search, /api/query, /api/sqlite and /api/tag.
func Join(mux *api.Mux) {
	mux.Read("/api/search/fullTextSearchBlock", fullTextSearchBlock)
	mux.Read("/api/search/searchRefBlock", searchRefBlock)
	mux.Read("/api/search/listInvalidBlockRefs", listInvalidBlockRefs)
	mux.Write("/api/search/findReplace", findReplace)
	mux.Read("/api/search/searchAsset", searchAsset)
	mux.Read("/api/search/fullTextSearchAssetContent", searchAssetContent)
	mux.Read("/api/search/getAssetContent", getAssetContent)
	mux.Read("/api/query/sql", querySQL)
	mux.Read("/api/sqlite/flushTransaction", flushTransaction)
	mux.ReadFirst("/api/tag/getTag", getTag) // it keeps the order it is given
	mux.Write("/api/tag/renameTag", renameTag)
}
