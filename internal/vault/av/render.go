package av

import (
	"strings"

	"github.com/tidwall/gjson"

	"collie/internal/vault/api"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// This file has the endpoint that renders a view of a database.

// renderAttributeView computes what a view shows. It creates a missing database, unless the request says not to.
func renderAttributeView(tx *workspace.Tx, req api.Request) api.Reply {
	if !hasValidTypes(req) {
		return api.File([]byte{}, "application/json; charset=utf-8") // SiYuan's answer is empty too
	}
	id := req.Str("id")
	if !tree.ValidID(id) {
		return api.Fail(-1, "invalid id")
	}
	s := newDatabases(tx)
	db := s.database(id)
	if db == nil {
		if !req.OptFlag("createIfNotExist", true) {
			return api.Fail(-1, "attribute view not found")
		}
		if !api.NeedWrite(tx) {
			return api.Done()
		}
		db = newDatabase(tx, id)
		s.add(db)
		s.save()
	}
	return api.OK(newRendering(s, db, req).reply())
}

// hasValidTypes reports whether all parameters have the right types.
func hasValidTypes(req api.Request) bool {
	if req.Get("id").Type != gjson.String {
		return false
	}
	for _, key := range []string{"blockID", "viewID", "query"} {
		if v := req.Get(key); v.Exists() && v.Type != gjson.String && v.Type != gjson.Null {
			return false
		}
	}
	for _, key := range []string{"page", "pageSize"} {
		if v := req.Get(key); v.Exists() && v.Type != gjson.Number {
			return false
		}
	}
	for _, key := range []string{"createIfNotExist", "ignoreRows"} {
		if v := req.Get(key); v.Exists() && !v.IsBool() {
			return false
		}
	}
	return true
}

// rendering computes one answer.
type rendering struct {
	*sheet
	view       view
	mirrors    int // number of blocks that show the database
	query      string
	page, size int // size 0 means that of the view
	paging     gjson.Result
	ignoreRows bool
}

func newRendering(s *databases, db *database, req api.Request) *rendering {
	blocks := databaseBlocks(s.tx, db.id)
	return &rendering{
		sheet: newSheet(s, db), view: db.view(req.OptStr("viewID"), viewOf(blocks, req.OptStr("blockID"))), mirrors: len(blocks),
		query: strings.ToLower(req.OptStr("query")), page: req.OptNum("page", 1), size: req.OptNum("pageSize", 0),
		paging: req.Get("groupPaging"), ignoreRows: req.OptFlag("ignoreRows", false),
	}
}

func (r *rendering) reply() object {
	views := make([]object, len(r.db.views))
	for i, v := range r.db.views {
		views[i] = viewHeading(view{v}).with(object{"type": view{v}.layout()})
	}
	return object{
		"defaultTemplateID": memberOr(r.db, "defaultTemplateID", ""), "id": r.db.id, "isMirror": r.mirrors > 1, "name": r.db.name,
		"newItemTemplates": memberOr(r.db, "newItemTemplates", nil), "view": r.renderWhole(), "viewID": r.view.str("id"),
		"viewType": r.view.layout(), "views": views,
	}
}

// memberOr returns an unknown member of a database's file, or otherwise if there is none.
func memberOr(db *database, name string, otherwise any) any {
	if raw, ok := db.otherMembers[name]; ok {
		return raw
	}
	return otherwise
}

// viewHeading returns the members of a view in a list of views.
func viewHeading(v view) object {
	return object{
		"id": v.str("id"), "icon": v.str("icon"), "name": v.str("name"), "desc": v.str("desc"),
		"hideAttrViewName": v.flag("hideAttrViewName"), "pageSize": v.num("pageSize", 50),
	}
}

// renderWhole returns the view with its rows, or with its groups and their rows.
func (r *rendering) renderWhole() object {
	rows := r.rows()
	groupBy := r.db.groupColumn(r.view)
	if groupBy == nil {
		return r.renderView(r.view, rows, r.pageOf(rows, r.page, r.size))
	}
	out := r.renderView(r.view, rows, nil)
	out["group"] = r.view.at("group")
	groups := []object{}
	for _, g := range r.groups(r.view, groupBy, rows) {
		paging := r.paging.Get(g.view.str("id"))
		page, size := 1, r.size
		if paging.Get("page").Exists() {
			page, size = int(paging.Get("page").Int()), int(paging.Get("pageSize").Int())
		}
		part := r.renderView(g.view, g.rows, r.pageOf(g.rows, page, size))
		part["name"], part["groupKey"], part["groupValue"] = g.name, groupBy.Key, g.value
		groups = append(groups, part)
	}
	out["groups"] = groups
	return out
}

// rows returns the rows that a view shows, on all its pages.
func (r *rendering) rows() []string {
	if r.ignoreRows {
		return nil
	}
	filter, rows := asObject(r.db.filters(r.view)[0]), []string{}
	for _, row := range r.db.rows(r.view) {
		if r.passesFilter(filter, row) && r.matchesQuery(row) {
			rows = append(rows, row)
		}
	}
	r.sort(r.view, rows)
	return rows
}

// matchesQuery reports whether any cell of a row contains the query.
func (r *rendering) matchesQuery(row string) bool {
	if r.query == "" {
		return true
	}
	for _, c := range r.db.columns {
		if strings.Contains(strings.ToLower(r.cell(c, row).text()), r.query) {
			return true
		}
	}
	return false
}

// pageOf returns a page of rows. Pages count from 1.
func (r *rendering) pageOf(rows []string, page, size int) []string {
	if size < 1 {
		size = max(r.view.num("pageSize", 50), 1)
	}
	return pageItems(rows, page, size)
}

// pageItems returns a page of a list. Pages count from 1.
func pageItems[T any](list []T, page, size int) []T {
	page, size = max(page, 1)-1, max(size, 1)
	if page > len(list)/size {
		return list[len(list):]
	}
	return list[page*size : min(page*size+size, len(list))]
}
