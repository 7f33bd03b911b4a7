package av

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the action av.render, which shows a database as one of its views, page by page.

type renderArgs struct {
	ID               kernel.ID                      `json:"id" about:"database id" req:"true"`
	BlockID          kernel.ID                      `json:"blockID" about:"a block that shows it, or to put a new one after" list:"no"`
	ViewID           kernel.ID                      `json:"viewID" about:"another view than the current one" list:"no"`
	Page             int                            `json:"page" about:"from 1" default:"1" min:"1"`
	PageSize         int                            `json:"pageSize" about:"-1 is all" default:"10" min:"-1" max:"1000"`
	Query            string                         `json:"query" about:"only rows that hold this"`
	GroupPaging      map[kernel.ID]kernel.GroupPage `json:"groupPaging" about:"{groupID: {page, pageSize}} of a grouped view" list:"no"`
	CreateIfNotExist bool                           `json:"createIfNotExist" about:"make the database if there is none" default:"false" list:"no"`
	IgnoreRows       bool                           `json:"ignoreRows" about:"columns only" default:"false" list:"no"`
}

type renderResult struct {
	action.Pages
	AVID         kernel.ID       `json:"avID" about:"database id"`
	ID           kernel.ID       `json:"id" about:"the same" verbose:"yes"`
	Name         string          `json:"name" about:"of the database"`
	ViewID       kernel.ID       `json:"viewID" about:"the view that is shown"`
	ViewName     string          `json:"viewName" about:"its name"`
	ViewType     string          `json:"viewType" about:"table, gallery or kanban"`
	Views        []viewName      `json:"views" about:"all views"`
	Table        table           `json:"table"`
	RowFormat    string          `json:"rowFormat" about:"how to read a row"`
	RawRows      bool            `json:"rawRowsIncluded" about:"data is there" verbose:"yes"`
	Data         json.RawMessage `json:"data,omitempty" about:"what the kernel answered" verbose:"yes"`
	Materialized bool            `json:"materialized,omitempty" about:"the database has just been made"`
	BlockID      kernel.ID       `json:"blockID,omitempty" about:"the block that shows it now"`
	Warning      string          `json:"warning,omitempty" about:"what did not show"`
}

func render(p retryWaits) *action.Action {
	return action.New(action.Spec{
		Tool: "av", Name: "render", Purpose: "Show a database as a table, page by page", Common: true,
		Guide: "Cells stand in the order of table.columns; null is empty. rows[].id is the rowID of set_cells and remove_rows, " +
			"rows[].blockID the block that the row is bound to. createIfNotExist makes a database under a new id and needs write on blockID.",
		Class: action.Reads, Risk: tool.RiskLow, Effects: tool.EffectRead | tool.EffectWrite,
		Needs: []action.Need{
			action.On(access.Read, "database id", "id", renderTargets(false)),
			action.On(access.Write, "blockID when creating", "blockID", renderTargets(true)),
		},
		Endpoints: []string{
			"file/readDir", "av/getMirrorDatabaseBlocks", "query/sql", "block/getBlockDOM", "av/renderAttributeView", "av/getAttributeView",
			"lute/spinBlockDOM", "block/appendBlock", "transactions",
		},
		Aliases: map[string]string{"avID": "id"}, Positional: []string{"id"},
		Result:  renderResult{},
		Example: `{"id":"20240801120000-avmain1","pageSize":20}`,
	}, func(ctx context.Context, r *action.Request, a renderArgs) (any, error) {
		if a.PageSize == 0 {
			return nil, r.Invalid("pageSize", "is 0, it is -1 for all rows or 1 to 1000")
		}
		out := renderResult{ID: a.ID, AVID: a.ID, RowFormat: "cells in the order of table.columns"}
		switch {
		case r.Targets("blockID") != nil: // the database does not exist yet
			if err := createDatabase(ctx, r, p, &a, &out); err != nil {
				return nil, err
			}
		case a.CreateIfNotExist && a.BlockID != "":
			if _, err := blockShowing(ctx, r, a.ID, string(a.BlockID)); err != nil {
				a.BlockID = "" // it only said where to create the database
			}
		}
		if err := renderPage(ctx, r, &a, &out); err != nil {
			return nil, err
		}
		return out, nil
	})
}

// renderTargets returns the database to show. If there is none and one may be created, it returns the block where it
// would be created.
func renderTargets(creating bool) func(context.Context, *action.Request) ([]action.Target, error) {
	return func(ctx context.Context, r *action.Request) ([]action.Target, error) {
		id := kernel.ID(r.Text("id"))
		if found := r.Targets("id"); creating && found != nil {
			return nil, nil
		}
		create := r.Text("createIfNotExist") == "true"
		err := checkExists(ctx, r, id)
		missing := tool.KindOf(err) == tool.NotFound && id.Valid() && create
		switch {
		case err != nil && !missing:
			return nil, explainBlockID(ctx, r, id, err)
		case missing != creating:
			return nil, nil
		case !missing:
			t, err := resolveDatabase(ctx, r, id)
			if err != nil && create { // the database exists, so blockID may only say where to create it
				t, err = owningTarget(ctx, r, id)
			}
			return []action.Target{t}, err
		}
		if _, err := r.Place(ctx, access.Block, string(id)); err == nil {
			return nil, r.Invalid("id", fmt.Sprintf("is the id of a block, and a new database needs one of its own, such as %s", kernel.NewID()))
		}
		at := r.Strings("blockID")
		if len(at) == 0 {
			return nil, r.Conflicting("createIfNotExist needs blockID: the block to put the database after", "createIfNotExist", "blockID")
		}
		t, err := r.Place(ctx, access.Block, at[0])
		return []action.Target{t}, err
	}
}

// renderPage renders the requested page. It never asks the kernel to omit rows, because then the kernel would report a
// count of 0.
func renderPage(ctx context.Context, r *action.Request, a *renderArgs, out *renderResult) error {
	ask := kernel.Rendering{ID: a.ID, Block: a.BlockID, View: a.ViewID, Query: a.Query, GroupPaging: a.GroupPaging, Page: a.Page, Size: a.PageSize}
	m, err := renderMask(ctx, r, a.ID)
	if err != nil {
		return err
	}
	cutHere := m != nil || a.PageSize < 0 // pages are cut here, not by the kernel
	if cutHere {
		ask.Page, ask.Size = 1, maxPageSize
	}
	raw, err := r.Kernel.RenderDatabase(ctx, ask)
	if err != nil {
		return err
	}
	got, err := parse(raw)
	if err == nil {
		err = checkViewAndGroups(r, a, got)
	}
	if err == nil && len(got.View.Groups) > 0 && a.GroupPaging == nil {
		cutHere = true
		raw, err = wholeGroups(ctx, r, ask, got, raw)
	}
	if err == nil && !cutHere && len(got.View.items()) == 0 && got.View.count() > 0 && a.GroupPaging == nil { // the page is beyond the last one
		ask.Page = (got.View.count() + a.PageSize - 1) / a.PageSize
		if ask.Page < a.Page {
			raw, err = r.Kernel.RenderDatabase(ctx, ask)
		}
	}
	if err == nil {
		raw, err = m.removeHiddenFromSearch(raw, a.Query)
	}
	if err == nil {
		got, err = parse(raw)
	}
	if err != nil {
		return err
	}
	if m != nil && !a.IgnoreRows && a.Query == "" { // with a query, the count would reveal hidden data
		r.Filtered(m.hidden)
	}
	out.fill(r, a, got, raw, cutHere)
	return nil
}

// checkViewAndGroups checks that the view and the groups named by a call exist. The kernel would show the current view
// instead of an unknown one, and ignore unknown groups.
func checkViewAndGroups(r *action.Request, a *renderArgs, got *rendering) error {
	if a.ViewID != "" && got.ViewID != a.ViewID {
		return r.Invalid("viewID", fmt.Sprintf("%q is not a view of this database; without it, render lists them as views", a.ViewID))
	}
	for id := range a.GroupPaging {
		if !slices.ContainsFunc(got.View.Groups, func(g layout) bool { return g.ID == id }) {
			return r.Invalid("groupPaging", fmt.Sprintf("names %q, which is not a group of this view; without it, render lists them as table.groups", id))
		}
	}
	return nil
}

// renderMask returns the mask of a database that a rendering may need.
func renderMask(ctx context.Context, r *action.Request, id kernel.ID) (*mask, error) {
	restricted, err := r.Levels.Restricted(ctx)
	if err != nil || !restricted {
		return nil, err
	}
	db, err := loadDatabase(ctx, r, id)
	if err != nil {
		return nil, err
	}
	return maskOf(ctx, r, db)
}

// wholeGroups renders a grouped view again with all rows, if groups are incomplete. Our pages apply to the whole view,
// the kernel's to each group.
func wholeGroups(ctx context.Context, r *action.Request, ask kernel.Rendering, got *rendering, raw json.RawMessage) (json.RawMessage, error) {
	paging, missing := map[kernel.ID]kernel.GroupPage{}, false
	for i := range got.View.Groups {
		g := &got.View.Groups[i]
		paging[g.ID] = kernel.GroupPage{Page: 1, Size: maxPageSize}
		missing = missing || len(g.items()) < g.count()
	}
	if !missing {
		return raw, nil
	}
	ask.GroupPaging = paging
	return r.Kernel.RenderDatabase(ctx, ask)
}

// fill copies the rendering into the result. cutHere means that the rendering has all rows, so the page must be cut
// here.
func (out *renderResult) fill(r *action.Request, a *renderArgs, got *rendering, raw json.RawMessage, cutHere bool) {
	out.Name, out.ViewID, out.ViewType, out.ViewName, out.Views = got.Name, got.ViewID, got.ViewType, got.View.Name, got.Views
	if out.Views == nil {
		out.Views = []viewName{}
	}
	out.Table = tableOf(&got.View)
	out.Total = max(out.Table.RowCount, len(out.Table.Rows))
	size := a.PageSize
	if size < 0 {
		size = max(out.Total, 1)
	}
	switch {
	case a.GroupPaging != nil:
		out.Page, out.PageSize, out.PageCount = 1, size, 1
		out.HasNextPage = len(out.Table.Rows) < out.Total
	case cutHere:
		if n := len(out.Table.Rows); n < out.Table.RowCount {
			out.Warning = fmt.Sprintf("the kernel rendered only %d of %d rows; groupPaging asks for the others", n, out.Table.RowCount)
		}
		p := action.Paged(out.Table.Rows, a.Page, size)
		out.Table.Rows = p.Data
		out.Pages = p.Pages
	default:
		out.PageSize, out.PageCount = size, max(1, (out.Total+size-1)/size)
		out.Page = min(a.Page, out.PageCount)
		out.HasNextPage = out.Page < out.PageCount
	}
	out.Table.RowCount = out.Total
	if a.IgnoreRows {
		out.Table.Rows, out.HasNextPage = []tableRow{}, false
	}
	if r.Meta.Verbose {
		out.RawRows, out.Data = true, raw
	}
}
