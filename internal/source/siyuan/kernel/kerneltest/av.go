package kerneltest

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
)

// avFamily answers the endpoints below /api/av. Databases are the files below data/storage/av, as the real kernel keeps
// them. Filters, sorts, groups and layouts other than tables are left out.
func avFamily(k *Kernel) {
	k.handle("/api/av/getAttributeView", getAttributeView)
	k.handle("/api/av/renderAttributeView", renderAttributeView)
	k.handle("/api/av/getAttributeViewKeysByAvID", getAttributeViewKeysByAvID)
	k.handle("/api/av/getAttributeViewFilterSort", getAttributeViewFilterSort)
	k.handle("/api/av/getAttributeViewPrimaryKeyValues", getAttributeViewPrimaryKeyValues)
	k.handle("/api/av/getMirrorDatabaseBlocks", getMirrorDatabaseBlocks)
	k.handle("/api/av/searchAttributeView", searchAttributeView)
	k.handle("/api/av/getAttributeViewItemIDsByBoundIDs", getItemIDsByBoundIDs)
	k.handle("/api/av/getAttributeViewBoundBlockIDsByItemIDs", getBoundBlockIDsByItemIDs)
	k.handle("/api/av/duplicateAttributeViewBlock", duplicateAttributeViewBlock)
	k.handle("/api/av/addAttributeViewKey", addAttributeViewKey)
	k.handle("/api/av/removeAttributeViewKey", removeAttributeViewKey)
	k.handle("/api/av/addAttributeViewBlocks", addAttributeViewBlocks)
	k.handle("/api/av/removeAttributeViewBlocks", removeAttributeViewBlocks)
	k.handle("/api/av/setAttributeViewBlockAttr", setAttributeViewBlockAttr)
	avOperations(k)
}

func getAttributeView(k *Kernel, req request) reply {
	db := k.openDatabase(req.id("id"))
	if db == nil {
		return ok(object{"av": nil})
	}
	return ok(object{"av": db})
}

func getAttributeViewKeysByAvID(k *Kernel, req request) reply {
	db := k.openDatabase(req.str("avID"))
	if db == nil {
		return fail(-1, "view not found")
	}
	keys := []object{}
	for _, c := range db.Keys {
		keys = append(keys, c.Key)
	}
	return ok(keys)
}

func getAttributeViewFilterSort(k *Kernel, req request) reply {
	id := req.id("id")
	_ = req.str("blockID")
	db := k.openDatabase(id)
	if db == nil {
		return ok(object{"filters": nil, "sorts": nil})
	}
	filters := db.Views[0]["filters"]
	return ok(object{"filters": filters, "sorts": []any{}})
}

func getMirrorDatabaseBlocks(k *Kernel, req request) reply {
	refs := []object{}
	for _, b := range k.mirrors(req.str("avID")) {
		refs = append(refs, object{"refID": b.id, "defIDs": []any{}})
	}
	return ok(object{"refDefs": refs})
}

func getAttributeViewPrimaryKeyValues(k *Kernel, req request) reply {
	db := k.openDatabase(req.id("id"))
	if db == nil {
		return fail(-1, "view not found")
	}
	keyword := strings.ToLower(req.optStr("keyword"))
	values := []object{}
	for _, v := range db.primary().Values {
		if strings.Contains(strings.ToLower(at(below(v, "block"), "content")), keyword) {
			values = append(values, v)
		}
	}
	slices.SortStableFunc(values, func(a, b object) int { return int(number(b["updatedAt"]) - number(a["updatedAt"])) })
	values = cut(values, req.optNum("page", 1), req.optNum("pageSize", 16))
	ids := []string{}
	for _, b := range k.mirrors(db.ID) {
		ids = append(ids, b.id)
	}
	return ok(object{"blockIDs": ids, "name": db.Name, "rows": object{"key": db.primary().Key, "values": values}})
}

// cut is a page of a list; pages begin with 1.
func cut[T any](list []T, page, size int) []T {
	from := min(max(page-1, 0)*size, len(list))
	return list[from:min(from+size, len(list))]
}

func number(v any) float64 {
	n, _ := v.(float64)
	return n
}

func searchAttributeView(k *Kernel, req request) reply {
	keyword, excludes := strings.ToLower(req.str("keyword")), req.optStrs("excludes")
	results := []object{}
	for _, id := range k.databaseIDs() {
		db, blocks := k.openDatabase(id), k.mirrors(id)
		if db == nil || len(blocks) == 0 || slices.Contains(excludes, id) || !strings.Contains(strings.ToLower(db.Name), keyword) {
			continue
		}
		hit := func(b *block) object {
			return object{
				"avID": id, "avName": db.Name, "viewName": "", "viewID": "", "viewLayout": "", "blockID": b.id,
				"hPath": b.doc.box.conf.Name + b.doc.hpath(),
			}
		}
		result, children := hit(blocks[0]), []object{}
		for _, b := range blocks {
			child := hit(b)
			child["viewName"], child["viewID"], child["viewLayout"] = at(db.Views[0], "name"), db.ViewID, "table"
			children = append(children, child)
		}
		result["children"] = children
		results = append(results, result)
	}
	return ok(object{"results": results})
}

// databaseIDs are the ids of all databases.
func (k *Kernel) databaseIDs() []string {
	var ids []string
	for p := range k.files {
		if id, isDatabase := strings.CutSuffix(path.Base(p), ".json"); isDatabase && path.Dir(p) == "/data/storage/av" {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

func getItemIDsByBoundIDs(k *Kernel, req request) reply {
	db := k.openDatabase(req.str("avID"))
	if db == nil {
		return fail(-1, "view not found")
	}
	found := object{}
	for _, id := range req.strs("blockIDs") {
		found[id] = db.boundRow(id)
	}
	return ok(found)
}

func getBoundBlockIDsByItemIDs(k *Kernel, req request) reply {
	db := k.openDatabase(req.str("avID"))
	if db == nil {
		return fail(-1, "view not found")
	}
	found := object{}
	for _, id := range req.strs("itemIDs") {
		found[id] = at(below(db.primary().value(id), "block"), "id")
	}
	return ok(found)
}

// boundRow is the row that is bound to a block.
func (db *database) boundRow(block string) string {
	for _, v := range db.primary().Values {
		if at(below(v, "block"), "id") == block {
			return at(v, "blockID")
		}
	}
	return ""
}

func duplicateAttributeViewBlock(k *Kernel, req request) reply {
	db := k.openDatabase(req.str("avID"))
	if db == nil {
		return fail(-1, "view not found")
	}
	db.ID = k.newID()
	db.Name = strings.TrimSpace(fmt.Sprintf("%s (Duplicated %s)", db.Name, time.Now().Format(time.DateTime)))
	k.saveDatabase(db)
	return ok(object{"avID": db.ID, "blockID": k.newID()})
}
