package av

import (
	"encoding/json"
	"slices"

	"github.com/tidwall/gjson"

	"collie/internal/vault/api"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// JoinEditor adds endpoints of SiYuan's editor that no tool of Collie calls. The vault leaves them out; tests add them,
// because the recordings build their databases with them.
func JoinEditor(mux *api.Mux) {
	mux.Write("/api/av/addAttributeViewKey", addAttributeViewKey)
	mux.Write("/api/av/removeAttributeViewKey", removeAttributeViewKey)
	mux.Write("/api/av/addAttributeViewBlocks", addAttributeViewBlocks)
	mux.Write("/api/av/removeAttributeViewBlocks", removeAttributeViewBlocks)
	mux.Write("/api/av/createAttributeViewItem", createAttributeViewItem)
	mux.Write("/api/av/appendAttributeViewDetachedBlocksWithValues", appendDetachedBlocksWithValues)
	mux.Write("/api/av/batchReplaceAttributeViewBlocks", batchReplaceAttributeViewBlocks)
	mux.Write("/api/av/setAttributeViewBlockAttr", setAttributeViewBlockAttr)
	mux.Write("/api/av/batchSetAttributeViewBlockAttrs", batchSetAttributeViewBlockAttrs)
	mux.Read("/api/av/getAttributeViewItemIDsByBoundIDs", getItemIDsByBoundIDs)
	mux.Read("/api/av/getAttributeViewBoundBlockIDsByItemIDs", getBoundBlockIDsByItemIDs)
	mux.Write("/api/av/removeUnusedAttributeView", removeUnusedAttributeView)
	joinViewEditor(mux)
}

// on makes a handler of a change to the database that avID names.
func on(do func(s *shelf, db *database, req api.Request) api.Reply) api.Handler {
	return func(tx *workspace.Tx, req api.Request) api.Reply {
		s := newShelf(tx)
		rep := do(s, s.need(req.Str("avID")), req)
		if rep.Code == 0 {
			s.save()
		}
		return rep
	}
}

func addAttributeViewKey(tx *workspace.Tx, req api.Request) api.Reply {
	added, previous := newColumn(req.Str("keyID"), req.Str("keyName"), req.Str("keyType"), req.Str("keyIcon")), req.Str("previousKeyID")
	return on(func(_ *shelf, db *database, _ api.Request) api.Reply {
		db.addColumn(added, previous)
		return api.Done()
	})(tx, req)
}

func removeAttributeViewKey(tx *workspace.Tx, req api.Request) api.Reply {
	return on(func(s *shelf, db *database, req api.Request) api.Reply {
		return s.removeColumn(db, req.Str("keyID"), req.OptFlag("removeRelationDest", false))
	})(tx, req)
}

func addAttributeViewBlocks(tx *workspace.Tx, req api.Request) api.Reply {
	sources := req.List("srcs")
	return on(func(s *shelf, db *database, req api.Request) api.Reply {
		for _, src := range sources {
			if id := src.OptStr("id"); !src.Flag("isDetached") && tree.ValidID(id) && s.tx.Block(id) == nil {
				return api.Fail(-1, "tree not found")
			}
		}
		c := change{shelf: s, db: db}
		s.addRows(db, adding{
			sources: sources, previous: req.OptStr("previousID"), bare: req.OptFlag("ignoreDefaultFill", false),
			group: req.OptStr("groupID"), view: db.view(req.OptStr("viewID"), c.shownIn(req.OptStr("blockID"))),
		})
		return api.Done()
	})(tx, req)
}

func removeAttributeViewBlocks(tx *workspace.Tx, req api.Request) api.Reply {
	return on(func(s *shelf, db *database, req api.Request) api.Reply {
		s.removeRows(db, req.Strs("srcIDs"))
		return api.Done()
	})(tx, req)
}

func createAttributeViewItem(tx *workspace.Tx, req api.Request) api.Reply {
	return on(func(s *shelf, db *database, req api.Request) api.Reply {
		row := s.tx.NewID()
		source := api.In(s.tx, gjson.ParseBytes(api.MustJSON(object{"itemID": row, "isDetached": true})))
		s.addRows(db, adding{sources: []api.Request{source}, bare: true, view: db.view()})
		return api.OK(object{"itemID": row, "blockID": row, "content": "", "isDetached": true})
	})(tx, req)
}

func appendDetachedBlocksWithValues(tx *workspace.Tx, req api.Request) api.Reply {
	return on(func(s *shelf, db *database, req api.Request) api.Reply {
		for _, cells := range req.List("blocksValues") {
			row := s.tx.NewID()
			source := api.In(s.tx, gjson.ParseBytes(api.MustJSON(object{"itemID": row, "isDetached": true})))
			order := db.rows(db.view())
			last := ""
			if len(order) > 0 {
				last = order[len(order)-1]
			}
			s.addRows(db, adding{sources: []api.Request{source}, previous: last, bare: true, view: db.view()})
			for _, cell := range cells.Array() {
				v, err := s.setCell(db, cell.Get("keyID").String(), row, []byte(cell.Raw))
				if err != nil {
					return api.Fail(-1, err.Error())
				}
				if v == nil {
					continue
				}
				if held := db.column(v.KeyID).cell(row); held != nil && v.Type != kindBlock {
					marked := *held.get()
					marked.IsDetached = true // as recorded
					held.set(&marked)
				}
			}
		}
		return api.Done()
	})(tx, req)
}

func batchReplaceAttributeViewBlocks(tx *workspace.Tx, req api.Request) api.Reply {
	return on(func(s *shelf, db *database, req api.Request) api.Reply {
		for _, pair := range req.List("oldNew") {
			pair.ForEach(func(row, block gjson.Result) bool {
				held := db.primary().cell(row.Str)
				if held == nil || held.get().Block == nil {
					return true
				}
				before := held.get()
				v, b := *before, *before.Block
				b.ID, v.Block, v.IsDetached = block.Str, &b, req.OptFlag("isDetached", false)
				s.rebind(db, before, &v)
				held.set(&v)
				db.changed = true
				return true
			})
		}
		return api.Done()
	})(tx, req)
}

func setAttributeViewBlockAttr(tx *workspace.Tx, req api.Request) api.Reply {
	if req.Get("rowID").Exists() {
		return api.Fail(-1, "[/api/av/setAttributeViewBlockAttr] parameter [rowID] is deprecated, visit [https://github.com/siyuan-note/siyuan/issues/15727] for details")
	}
	data := req.Object("value")
	return on(func(s *shelf, db *database, req api.Request) api.Reply {
		v, err := s.setCell(db, req.Str("keyID"), req.OptStr("itemID"), []byte(data.Raw))
		switch {
		case err != nil:
			return api.Fail(-1, err.Error())
		case v == nil:
			return api.Done()
		}
		return api.OK(object{"value": json.RawMessage(v.encode())})
	})(tx, req)
}

func batchSetAttributeViewBlockAttrs(tx *workspace.Tx, req api.Request) api.Reply {
	return on(func(s *shelf, db *database, req api.Request) api.Reply {
		for _, one := range req.List("values") {
			if _, err := s.setCell(db, one.OptStr("keyID"), one.OptStr("itemID"), []byte(one.Get("value").Raw)); err != nil {
				return api.Fail(-1, err.Error())
			}
		}
		return api.Done()
	})(tx, req)
}

func getItemIDsByBoundIDs(tx *workspace.Tx, req api.Request) api.Reply {
	db, found := newShelf(tx).need(req.Str("avID")), object{}
	for _, id := range req.Strs("blockIDs") {
		found[id] = db.rowOf(id)
	}
	return api.OK(found)
}

func getBoundBlockIDsByItemIDs(tx *workspace.Tx, req api.Request) api.Reply {
	db, found := newShelf(tx).need(req.Str("avID")), object{}
	s := newSheet(newShelf(tx), db)
	for _, id := range req.Strs("itemIDs") {
		found[id] = s.bound(id)
	}
	return api.OK(found)
}

func removeUnusedAttributeView(tx *workspace.Tx, req api.Request) api.Reply {
	id := req.ID("id")
	shown := databaseBlocks(tx, "")
	if !slices.ContainsFunc(shown, func(b shownBlock) bool { return b.database == id }) {
		tx.RemoveFile(api.DatabasePath(id))
	}
	return api.OK(object{"id": id})
}
