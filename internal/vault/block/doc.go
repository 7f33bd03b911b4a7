// Package block implements the endpoints for blocks: reading, writing and moving them (/api/block), their attributes
// (/api/attr), whole transactions (/api/transactions), references and mentions (/api/ref), and the DOM of typed text
// (/api/lute). This package reads and checks requests, finds blocks, and answers; package edit changes the trees.
//
// A request is carried out as a whole or not at all, and its changes are done when it is answered. So batches are stricter
// than in SiYuan, which keeps the entries before one that failed.
//
// Entry point: [Register].
package block

import (
	"collie/internal/vault/api"
	"collie/internal/vault/tree"
)

// Register adds the routes of this package to mux, and its operations for /api/transactions.
func Register(mux *api.Mux) {
	registerReads(mux)
	registerWrites(mux)
	registerAttributes(mux)
	registerReferences(mux)
	registerTransactions(mux)
}

func registerReads(mux *api.Mux) {
	mux.Read("/api/block/getBlockKramdown", getBlockKramdown)
	mux.Read("/api/block/getBlockKramdowns", getBlockKramdowns)
	mux.Read("/api/block/getBlockDOM", getBlockDOM)
	mux.Read("/api/block/getBlockDOMs", getBlockDOMs)
	mux.Read("/api/block/getChildBlocks", getChildBlocks)
	mux.Read("/api/block/getBlockInfo", getBlockInfo)
	mux.Read("/api/block/getBlockBreadcrumb", getBlockBreadcrumb)
	mux.Read("/api/block/getBlockTreeInfos", getBlockTreeInfos)
	mux.Read("/api/block/getDocInfo", getDocInfo)
	mux.Read("/api/block/getDocsInfo", getDocsInfo)
	mux.Read("/api/block/getBlocksWordCount", getBlocksWordCount)
	mux.Read("/api/block/getRecentUpdatedBlocks", getRecentUpdatedBlocks)
	mux.Read("/api/lute/spinBlockDOM", spinBlockDOM)
}

func registerWrites(mux *api.Mux) {
	mux.Write("/api/block/insertBlock", insertBlock)
	mux.Write("/api/block/batchInsertBlock", batchInsertBlock)
	mux.Write("/api/block/appendBlock", appendBlock)
	mux.Write("/api/block/prependBlock", prependBlock)
	mux.Write("/api/block/updateBlock", updateBlock)
	mux.Write("/api/block/batchUpdateBlock", batchUpdateBlock)
	mux.Write("/api/block/deleteBlock", deleteBlock)
	mux.Write("/api/block/moveBlock", moveBlock)
	mux.Write("/api/block/foldBlock", foldBlock)
	mux.Write("/api/block/unfoldBlock", unfoldBlock)
}

func registerAttributes(mux *api.Mux) {
	mux.Read("/api/attr/getBlockAttrs", getBlockAttrs)
	mux.Read("/api/attr/batchGetBlockAttrs", batchGetBlockAttrs)
	mux.Write("/api/attr/setBlockAttrs", setBlockAttrs)
	mux.Write("/api/attr/batchSetBlockAttrs", batchSetBlockAttrs)
}

func registerReferences(mux *api.Mux) {
	mux.Read("/api/ref/getBacklink2", getBacklink2)
	mux.Read("/api/ref/getBacklinkDoc", getBacklinkDoc)
	mux.Read("/api/ref/getBackmentionDoc", getBackmentionDoc)
	mux.Write("/api/block/transferBlockRef", transferBlockRef)
}

// idOf returns the id of a block, "" for none.
func idOf(b *tree.Block) string {
	if b == nil {
		return ""
	}
	return b.ID
}

// typeOf returns the node type of a block, "" for none.
func typeOf(b *tree.Block) string {
	if b == nil {
		return ""
	}
	return tree.NodeType(b.Kind)
}
