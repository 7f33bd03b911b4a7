package av

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"collie/internal/siyuanapi"
	"collie/internal/vault/api"
	"collie/internal/vault/workspace"
)

// This file has the endpoints that read the structure of databases.

func getAttributeView(tx *workspace.Tx, req api.Request) api.Reply {
	if db := newDatabases(tx).database(req.ID("id")); db != nil {
		return api.OK(object{"av": db})
	}
	return api.OK(object{"av": nil})
}

func getAttributeViewKeysByAvID(tx *workspace.Tx, req api.Request) api.Reply {
	keys := []object{}
	for _, c := range newDatabases(tx).mustDatabase(req.Str("avID")).columns {
		keys = append(keys, c.Key)
	}
	return api.OK(keys)
}

func getAttributeViewFilterSort(tx *workspace.Tx, req api.Request) api.Reply {
	id, block := req.ID("id"), req.Str("blockID")
	db := newDatabases(tx).database(id)
	if db == nil {
		return api.OK(object{"filters": nil, "sorts": nil})
	}
	v := db.view(viewOf(databaseBlocks(tx, id), block))
	return api.OK(object{"filters": db.filters(v), "sorts": viewSorts(v)})
}

// getMirrorDatabaseBlocks lists the blocks that show a database.
func getMirrorDatabaseBlocks(tx *workspace.Tx, req api.Request) api.Reply {
	refs := []object{}
	for _, b := range blocksOf(tx, req.Str("avID")) {
		refs = append(refs, object{"refID": b.id, "defIDs": []any{}})
	}
	return api.OK(object{"refDefs": refs})
}

// blocksOf is like databaseBlocks for one database; there are none for "".
func blocksOf(tx *workspace.Tx, id string) []shownBlock {
	if id == "" {
		return nil
	}
	return databaseBlocks(tx, id)
}

// getAttributeViewPrimaryKeyValues returns a page of the rows whose text contains the keyword, changed last first, and the
// blocks that show the database.
func getAttributeViewPrimaryKeyValues(tx *workspace.Tx, req api.Request) api.Reply {
	db := newDatabases(tx).mustDatabase(req.ID("id"))
	keyword := strings.ToLower(req.OptStr("keyword"))
	values := []*value{}
	for _, c := range db.primary().cells {
		if v := c.get(); c.row != "" && strings.Contains(strings.ToLower(v.text()), keyword) {
			values = append(values, v)
		}
	}
	slices.SortStableFunc(values, func(a, b *value) int { return cmp.Compare(b.UpdatedAt, a.UpdatedAt) })
	ids := []string{}
	for _, b := range databaseBlocks(tx, db.id) {
		ids = append(ids, b.id)
	}
	return api.OK(object{"blockIDs": ids, "name": db.name, "rows": object{
		"key": db.primary().Key, "values": pageItems(values, req.OptNum("page", 1), req.OptNum("pageSize", 16)),
	}})
}

// searchAttributeView finds databases by name. Databases that no block shows are left out.
func searchAttributeView(tx *workspace.Tx, req api.Request) api.Reply {
	keyword, excludes := strings.ToLower(req.Str("keyword")), setOf(req.OptStrs("excludes"))
	blocks := map[string][]shownBlock{}
	for _, b := range databaseBlocks(tx, "") {
		blocks[b.database] = append(blocks[b.database], b)
	}
	results := []object{}
	for _, id := range databaseIDs(tx) {
		if len(blocks[id]) == 0 || excludes[id] {
			continue
		}
		data := gjson.ParseBytes(tx.ReadFile(siyuanapi.DatabasePath(id)))
		if name := data.Get("name").String(); strings.Contains(strings.ToLower(name), keyword) {
			results = append(results, foundDatabase(tx, id, name, data.Get("views").Array(), blocks[id]))
		}
	}
	return api.OK(object{"results": results})
}

// foundDatabase returns the search hit for a database. Each pair of a block that shows it and a view is a child.
func foundDatabase(tx *workspace.Tx, id, name string, views []gjson.Result, blocks []shownBlock) object {
	hit := func(b shownBlock, view gjson.Result) object {
		notebook := ""
		if box := tx.Notebook(b.box); box != nil {
			notebook = box.Conf.Name
		}
		return object{
			"avID": id, "avName": name, "viewName": view.Get("name").String(), "viewID": view.Get("id").String(),
			"viewLayout": view.Get("type").String(), "blockID": b.id, "hPath": notebook + b.hpath,
		}
	}
	children := []object{}
	for _, b := range blocks {
		for _, view := range views {
			children = append(children, hit(b, view))
		}
	}
	return hit(blocks[0], gjson.Result{}).with(object{"children": children})
}
