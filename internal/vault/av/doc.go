// Package av answers the endpoints below /api/av and the operations of /api/transactions that work on databases, which
// SiYuan calls attribute views.
//
// A database is a file, /data/storage/av/<id>.json, in the form kernel 3.7.3 writes, so that it can be taken to
// a real SiYuan and back: columns with the cells that somebody touched, and views that hold the order of rows. What a
// file holds beyond what is known here is kept as it came. Rows are bound to blocks or stand alone ("detached"); the
// text of a bound row is always that of its block, and the block's attribute custom-avs lists the databases it is in.
//
// What a table shows beyond what is stored (relations, rollups, templates, times, calculations, filters, sorts, groups)
// is computed by every rendering.
//
// Entry point: [Register].
package av

import "collie/internal/vault/api"

// Register adds the endpoints and operations that Collie's tools call.
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
	mux.WhenErased(removeErasedRows)
}
