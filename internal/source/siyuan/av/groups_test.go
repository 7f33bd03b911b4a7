package av_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/internal/tool"
)

// viewWithGroup is a transport that answers requests to render with a recorded answer for a grouped
// table, and passes all others on to the kernel.
type viewWithGroup struct {
	answer []byte
	asked  []gjson.Result
	short  bool // claim that groups of 3 rows have 9, unless the request has groupPaging
}

func (g *viewWithGroup) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Path != "/api/av/renderAttributeView" {
		return http.DefaultTransport.RoundTrip(r)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	asked := gjson.ParseBytes(body)
	g.asked = append(g.asked, asked)
	answer := g.answer
	if g.short && !asked.Get("groupPaging").Exists() {
		answer = bytes.ReplaceAll(answer, []byte(`"rowCount":3`), []byte(`"rowCount":9`))
	}
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(bytes.NewReader(answer)), Header: http.Header{}, Request: r}, nil
}

// newGrouped returns a workspace whose database is the recorded one.
func newGrouped(t *testing.T) (*workspace, *viewWithGroup) {
	t.Helper()
	w, g := newWorkspace(t), &viewWithGroup{}
	for _, row := range kerneltest.Recordings(t) {
		if row.Scenario != "av" {
			continue
		}
		switch row.Seq {
		case 130:
			var compact bytes.Buffer
			if err := json.Compact(&compact, row.RespBody); err != nil {
				t.Fatal(err)
			}
			g.answer = compact.Bytes()
		case 168:
			w.File("/data/storage/av/"+string(db)+".json", row.RespBody)
		}
	}
	w.Client = kernel.New(w.URL(), kernel.Options{Transport: g})
	t.Cleanup(w.Client.Close)
	return w, g
}

func TestRenderGroups(t *testing.T) {
	t.Parallel()
	w, g := newGrouped(t)
	a := findAction(t, "render")
	got := w.Must(t, a, args("id", db, "pageSize", 4))
	if got.Get("total").Int() != 6 || got.Get("table.rows.#").Int() != 4 || !got.Get("hasNextPage").Bool() || len(g.asked) != 1 {
		t.Errorf("pages are of all groups: %s", got.Raw)
	}
	if got.Get("table.groups.0.name").Str != "Doing 进行" || got.Get("table.groups.0.id").Str != got.Get("table.rows.0.group").Str {
		t.Errorf("groups: %s", got.Get("table.groups").Raw)
	}
	g.short, g.asked = true, nil
	got = w.Must(t, a, args("id", db, "pageSize", -1))
	if len(g.asked) != 2 || !g.asked[1].Get("groupPaging").IsObject() || got.Get("table.rows.#").Int() != 6 || got.Get("warning").Exists() {
		t.Errorf("asked %d times: %s", len(g.asked), got.Raw)
	}
	group := got.Get("table.groups.0.id").Str
	g.asked = nil
	got = w.Must(t, a, args("id", db, "groupPaging", map[string]any{group: map[string]any{"page": 2, "pageSize": 5}}))
	if len(g.asked) != 1 || g.asked[0].Get("groupPaging."+group+".page").Int() != 2 || got.Get("table.rows.#").Int() != 6 {
		t.Errorf("asked %v: %s", g.asked, got.Raw)
	}
}

// The recorded rows are bound to blocks outside of this workspace, so their notebook is unknown.
// One of them is not in the stored database, like a row that was created between two requests.
func TestRenderGroupsOfHiddenRows(t *testing.T) {
	t.Parallel()
	w, _ := newGrouped(t)
	w.Levels[w.secret] = access.None
	got := w.Must(t, findAction(t, "render"), args("id", db, "verbose", true))
	for _, hidden := range []string{"row source", "20261121033140-kwikeg5", "20261121033140-g1trq9e"} {
		if strings.Contains(got.Raw, hidden) {
			t.Errorf("%s is shown: %s", hidden, got.Raw)
		}
	}
	for _, g := range got.Get("table.groups").Array() {
		if g.Get("rowCount").Int() == 0 && g.Get("name").Str != "Todo" && g.Get("name").Str != "Done" {
			t.Errorf("a group of hidden rows only: %s", g.Raw)
		}
	}
	if n := got.Get("total").Int(); n == 0 || got.Get("data.view.rowCount").Int() != n {
		t.Errorf("total %d: %s", n, got.Get("data.view.rowCount").Raw)
	}
}

// A group is named by its rows, perhaps by the text of a hidden row or of one that shows a hidden text. A query or a
// page may leave such rows out but not their group. Cards have the texts of their blocks.
func TestGroupsAreNotCalledAfterWhatIsHidden(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	refs := w.firstBlock(kernel.ID(w.Doc(string(w.home), "/Refs", fmt.Sprintf("copied ((%s 'hidden row 暗'))", w.hidden))))
	const rowC, of = kernel.ID("20240801130000-rowcccc"), "20240801140000-group0"
	w.transact(kernel.Operation{"action": "insertAttrViewBlock", "avID": db, "blockID": dbBlock, "srcs": []any{map[string]any{"itemID": rowC, "id": refs, "isDetached": false}}})
	groups := func(key string, rows map[kernel.ID]string, shown bool) []any {
		var out []any
		for i, row := range []kernel.ID{rowA, rowS, rowC} {
			g := map[string]any{
				"id": fmt.Sprint(of, i), "name": rows[row], "groupKey": map[string]any{"type": key}, "groupValue": map[string]any{"text": rows[row]},
				"groupVal": map[string]any{"text": rows[row]}, "groupItemIds": []any{row}, "rows": []any{}, "rowCount": 0,
			}
			if shown {
				g["rows"], g["rowCount"] = []any{map[string]any{"id": row, "cells": []any{}, "coverContent": rows[row]}}, 1
			} else {
				delete(g, "groupItemIds")
			}
			out = append(out, g)
		}
		return out
	}
	texts := map[kernel.ID]string{rowA: "open row 行", rowS: "hidden row 暗", rowC: "copied hidden row 暗"}
	answer := func(key string, shown bool) *viewWithGroup {
		raw, err := json.Marshal(map[string]any{"code": 0, "data": map[string]any{"viewID": "v", "view": map[string]any{"id": "v", "groups": groups(key, texts, shown)}}})
		if err != nil {
			t.Fatal(err)
		}
		return &viewWithGroup{answer: raw}
	}
	client := func(g *viewWithGroup) {
		w.Client = kernel.New(w.URL(), kernel.Options{Transport: g})
		t.Cleanup(w.Client.Close)
	}
	w.Levels[w.secret] = access.None
	for name, call := range map[string]string{
		"query": args("id", db, "query", "nowhere", "verbose", true),
		"pages": args("id", db, "verbose", true, "groupPaging", map[string]any{of + "0": map[string]any{"page": 9, "pageSize": 1}}),
	} {
		for _, key := range []string{"block", "text"} {
			client(answer(key, false))
			w.checkLeaksNothing(name+" of groups by "+key, w.Must(t, findAction(t, "render"), call))
		}
		client(answer("select", false))
		if got := w.Must(t, findAction(t, "render"), call); got.Get("table.groups.#").Int() != 3 {
			t.Errorf("%s: options are not shown: %s", name, got.Raw)
		}
	}
	client(answer("block", true))
	got := w.Must(t, findAction(t, "render"), args("id", db, "verbose", true))
	w.checkLeaksNothing("rows", got)
	if n := got.Get("table.groups").Array(); len(n) != 2 || n[0].Get("name").Str != "open row 行" || n[1].Get("name").Str != "" {
		t.Errorf("groups: %s", got.Get("table.groups").Raw)
	}
}

// Rows for a group go through the view that has it: through another one the kernel drops them.
func TestAddRowsToAGroup(t *testing.T) {
	t.Parallel()
	w, _ := newGrouped(t)
	w.NeedsVault("it keeps databases in memory, so that no file can give one groups")
	stored, err := w.Client.Database(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	var view, group kernel.ID
	for _, v := range stored.Views {
		if len(v.Groups) > 0 {
			view, group = v.ID, v.Groups[0].ID
		}
	}
	a := findAction(t, "add_rows")
	w.Refused(w.t, a, args("avID", db, "primaryKeyTexts", []string{"x"}, "groupID", actiontest.Nowhere), tool.Invalid)
	for _, v := range stored.Views {
		if v.ID != view {
			w.Refused(w.t, a, args("avID", db, "primaryKeyTexts", []string{"x"}, "groupID", group, "viewID", v.ID), tool.Invalid)
		}
	}
	w.ResetCalls()
	w.Must(t, a, args("avID", db, "primaryKeyTexts", []string{"x"}, "groupID", group))
	if op := w.Writes()[0].Get("transactions.0.doOperations.0"); op.Get("groupID").Str != string(group) || op.Get("viewID").Str != string(view) {
		t.Errorf("group %s of view %s: %s", group, view, op.Raw)
	}
}
