// Package av implements the endpoints below /api/av and the operations of /api/transactions on databases, which SiYuan
// calls attribute views.
//
// A database is a file, /data/storage/av/<id>.json, in the form that kernel 3.7.3 writes, so that databases can be
// moved to a real SiYuan and back. It has columns with the cells that somebody touched, and views with the order of
// rows. Unknown members of the file are kept as they are. A row is bound to a block or "detached". The text of a bound
// row is always that of its block, and the block's attribute custom-avs lists the databases that it is a row in.
//
// Everything else that a table shows (relations, rollups, templates, times, calculations, filters, sorts, groups) is
// computed each time it is rendered.
//
// Entry point: [Register].
package av

import "collie/internal/vault/api"

// Register adds to mux the endpoints and operations that Collie's tools call.
func Register(mux *api.Mux) {
	mux.Read("/api/av/getAttributeView", getAttributeView)
	mux.Read("/api/av/getAttributeViewKeysByAvID", getAttributeViewKeysByAvID)
	mux.Read("/api/av/getAttributeViewFilterSort", getAttributeViewFilterSort)
	mux.Read("/api/av/getAttributeViewPrimaryKeyValues", getAttributeViewPrimaryKeyValues)
	mux.Read("/api/av/getMirrorDatabaseBlocks", getMirrorDatabaseBlocks)
	mux.Read("/api/av/searchAttributeView", searchAttributeView)
	mux.ReadFirst("/api/av/renderAttributeView", renderAttributeView)
	mux.Write("/api/av/duplicateAttributeViewBlock", duplicateAttributeViewBlock)
	registerOperations(mux)
	mux.OnErased(removeErasedRows)
}
