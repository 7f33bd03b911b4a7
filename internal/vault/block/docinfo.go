package block

import (
	"fmt"

	"collie/internal/vault/api"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// docInfo is a document as getDocInfo describes it.
type docInfo struct {
	ID           string            `json:"id"` // as asked for: of any block in the document
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
	found := docInfos(tx, []string{id}, true)
	if found == nil {
		return unknownBlock(id)
	}
	return api.OK(found[0])
}

// getDocsInfo describes the documents of blocks, in their order; one that does not exist fails all.
func getDocsInfo(tx *workspace.Tx, req api.Request) api.Reply {
	ids, counted := req.Strs("ids"), req.Flag("refCount")
	req.Flag("av") // must be there
	found := docInfos(tx, ids, counted)
	if found == nil {
		return unknownBlock(fmt.Sprint(ids))
	}
	return api.OK(found)
}

// docInfos describes the documents of blocks, nil if one of them does not exist. It reads rows: a list of documents
// must not load the blocks of them all.
func docInfos(tx *workspace.Tx, ids []string, counted bool) []docInfo {
	list := make([]docInfo, 0, len(ids))
	roots := make([]string, 0, len(ids))
	for _, id := range ids {
		info, known := rowOfDocument(tx, id)
		if !known {
			return nil
		}
		if counted {
			info.RefIDs = referringTo(tx, info.RootID)
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

// rowOfDocument reads the document of a block of an open notebook.
func rowOfDocument(tx *workspace.Tx, id string) (info docInfo, known bool) {
	tx.Rows(func(row workspace.Row) bool {
		attrs := tree.ParseIAL(row.Text(1))
		info = docInfo{
			ID: id, RootID: row.Text(0), Name: attrs["title"], RefIDs: []string{}, IAL: attrs, Icon: attrs["icon"],
		}
		known = true
		return false
	}, `SELECT root.id, root.ial FROM node JOIN document ON document.n = node.doc
		JOIN node AS root ON root.id = document.id JOIN notebook ON notebook.id = document.box
		WHERE node.id = ? AND notebook.closed = 0`, id)
	return info, known
}

// referringTo returns the ids of the blocks that refer to anything in a document, the oldest first. A block in a list
// item is returned as the item.
func referringTo(tx *workspace.Tx, document string) []string {
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
