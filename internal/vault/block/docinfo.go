package block

import (
	"fmt"

	"collie/internal/vault/api"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// This file has the endpoints that describe documents.

// docInfo is a document as getDocInfo describes it.
type docInfo struct {
	ID           string            `json:"id"` // from the request: of any block in the document
	RootID       string            `json:"rootID"`
	Name         string            `json:"name"`
	RefCount     int               `json:"refCount"`
	SubFileCount int               `json:"subFileCount"`
	RefIDs       []string          `json:"refIDs"`
	IAL          map[string]string `json:"ial"`
	Icon         string            `json:"icon"`
	AttrViews    any               `json:"attrViews"` // always null
}

// getDocInfo describes the document of a block.
func getDocInfo(tx *workspace.Tx, req api.Request) api.Reply {
	id := req.ID("id")
	infos := docInfos(tx, []string{id}, true)
	if infos == nil {
		return unknownBlock(id)
	}
	return api.OK(infos[0])
}

// getDocsInfo describes the documents of several blocks, in the order of the request. It fails if one of the blocks
// does not exist.
func getDocsInfo(tx *workspace.Tx, req api.Request) api.Reply {
	ids, countRefs := req.Strs("ids"), req.Flag("refCount")
	req.Flag("av") // required, though unused
	infos := docInfos(tx, ids, countRefs)
	if infos == nil {
		return unknownBlock(fmt.Sprint(ids))
	}
	return api.OK(infos)
}

// docInfos describes the documents of blocks; nil if one of the blocks does not exist. It queries rows, since many
// documents must not all be loaded.
func docInfos(tx *workspace.Tx, ids []string, countRefs bool) []docInfo {
	list := make([]docInfo, 0, len(ids))
	roots := make([]string, 0, len(ids))
	for _, id := range ids {
		info, exists := readDocInfo(tx, id)
		if !exists {
			return nil
		}
		if countRefs {
			info.RefIDs = referrersOf(tx, info.RootID)
			info.RefCount = len(info.RefIDs)
		}
		list, roots = append(list, info), append(roots, info.RootID)
	}
	counts := tx.CountChildren(roots)
	for i := range list {
		list[i].SubFileCount = counts[list[i].RootID]
	}
	return list
}

// readDocInfo reads the row of the document that contains a block, in an open notebook.
func readDocInfo(tx *workspace.Tx, id string) (info docInfo, exists bool) {
	tx.Rows(func(row workspace.Row) bool {
		attrs := tree.ParseIAL(row.Text(1))
		info = docInfo{
			ID: id, RootID: row.Text(0), Name: attrs["title"], RefIDs: []string{}, IAL: attrs, Icon: attrs["icon"],
		}
		exists = true
		return false
	}, `SELECT root.id, root.ial FROM node JOIN document ON document.n = node.doc
		JOIN node AS root ON root.id = document.id JOIN notebook ON notebook.id = document.box
		WHERE node.id = ? AND notebook.closed = 0`, id)
	return info, exists
}

// referrersOf returns the ids of the blocks that refer to a document or any block in it, oldest first. For a block in a
// list item, it is the id of the item.
func referrersOf(tx *workspace.Tx, document string) []string {
	ids := []string{}
	seen := map[string]bool{}
	tx.Rows(func(row workspace.Row) bool {
		if id := row.Text(0); !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
		return true
	}, `SELECT DISTINCT CASE WHEN up.type = 'i' THEN up.id ELSE node.id END, node.n
		FROM node AS def CROSS JOIN ref ON ref.def = def.id CROSS JOIN node ON node.n = ref.node
		JOIN document ON document.n = node.doc JOIN notebook ON notebook.id = document.box
		LEFT JOIN node AS up ON up.n = node.parent
		WHERE def.doc = (SELECT n FROM document WHERE id = ?) AND notebook.closed = 0
		ORDER BY node.n`, document)
	return ids
}
