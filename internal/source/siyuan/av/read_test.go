package av_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/av"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// textsIn returns the items of a list as texts.
func textsIn(list gjson.Result) []string {
	out := []string{}
	for _, v := range list.Array() {
		out = append(out, v.String())
	}
	return out
}

func TestGet(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	got := w.Must(t, findAction(t, "get"), args("id", db))
	if got.Get("av.id").Str != string(db) || got.Get("av.keyValues.#").Int() != 4 {
		t.Errorf("av: %s", got.Raw)
	}
	want := []string{string(own), string(rowA), string(rowS)}
	if diff := cmp.Diff(want, slices.Sorted(slices.Values(textsIn(got.Get("resolvedRows.#.rowID"))))); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	row := got.Get(`resolvedRows.#(rowID=="` + string(rowA) + `")`)
	if b := row.Get("sourceBlockID").Str; b != string(w.open) {
		t.Errorf("row A is bound to %q, want %q", b, w.open)
	}
	if id := row.Get("valueIDs." + string(w.primary)).Str; id == "" {
		t.Errorf("value ids: %s", got.Get("resolvedRows").Raw)
	}
	w.checkGuarded(findAction(t, "get"), access.Read, func(id kernel.ID) string { return args("id", id) })
	if len(w.Writes()) != 0 {
		t.Errorf("reading wrote: %v", w.Writes())
	}
}

// A typo must neither make a database nor ask for anything that could.
func TestReadsMakeNothing(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"get", "render", "get_attribute_view_keys", "get_attribute_view_filter_sort"} {
		w := newWorkspace(t)
		w.Refused(w.t, findAction(t, name), args("id", actiontest.Nowhere), tool.NotFound)
		for _, c := range w.Calls() {
			if strings.HasPrefix(c.Path, "/api/av/") {
				t.Errorf("%s asked %s for a database that does not exist", name, c.Path)
			}
		}
		w.Must(t, findAction(t, name), args("id", db))
		for _, c := range w.Calls() {
			if c.Path == "/api/av/renderAttributeView" && (!c.Get("createIfNotExist").Exists() || c.Get("createIfNotExist").Bool()) {
				t.Errorf("render did not forbid to create: %s", c.Body)
			}
		}
	}
}

func TestBlockIDDecides(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	a := findAction(t, "get")
	w.Must(t, a, args("id", db, "blockID", dbBlock))
	e := w.Refused(w.t, a, args("id", db, "blockID", w.open), tool.Invalid)
	if e.Fields[0].Path != "/blockID" {
		t.Errorf("fields %v", e.Fields)
	}
	w.Levels[w.secret] = access.None
	hidden := w.Refused(w.t, a, args("id", db, "blockID", w.hidden), tool.NotFound)
	missing := w.Refused(w.t, a, args("id", db, "blockID", actiontest.Nowhere), tool.NotFound)
	actiontest.SameRefusal(t, hidden, missing, string(w.hidden), actiontest.Nowhere)
}

// The level of a database is the lowest of the notebooks with blocks that show it, whichever block
// the caller names. Blocks that its rows are bound to do not count.
func TestLowestOwnerDecides(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	a := findAction(t, "rename")
	w.Levels[w.home] = access.Read // the secret notebook, where a row is bound, allows everything
	w.Refused(w.t, a, args("avID", db, "name", "x"), tool.Denied)
	mirror := kernel.ID("20240801120000-avblk09")
	w.appendDatabaseBlock(db, mirror, kernel.ID(w.Doc(string(w.secret), "/Mirror", "m")))
	for _, through := range []kernel.ID{"", mirror, dbBlock} {
		pairs := []any{"avID", db, "name", "x"}
		if through != "" {
			pairs = append(pairs, "blockID", through)
		}
		w.Refused(w.t, a, args(pairs...), tool.Denied)
	}
	w.Levels[w.home], w.Levels[w.secret] = access.Write, access.Read
	w.Refused(w.t, a, args("avID", db, "name", "x"), tool.Denied)
	w.Levels[w.secret] = access.Write
	w.Must(t, a, args("avID", db, "name", "by both"))
	for _, hidden := range []kernel.ID{w.home, w.secret} {
		w.Levels[w.home], w.Levels[w.secret] = access.Delete, access.Delete
		w.Levels[hidden] = access.None
		for name, call := range map[string]string{
			"rename": args("avID", db, "name", "x"), "get": args("id", db), "render": args("id", db, "blockID", mirror),
			"get_primary_key_values": args("avID", db),
		} {
			e := w.Refused(w.t, findAction(t, name), call, tool.NotFound)
			actiontest.SameRefusal(t, e, w.Refused(w.t, findAction(t, name), strings.ReplaceAll(call, string(db), string(actiontest.Nowhere)), tool.NotFound), string(db), actiontest.Nowhere)
		}
		if got := w.Must(t, findAction(t, "search"), args("keyword", "by both")); got.Get("results.#").Int() != 0 || got.Get("filteredOutCount").Exists() {
			t.Errorf("search: %s", got.Raw)
		}
	}
}

func TestOrphans(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	if err := w.Client.Delete(t.Context(), dbBlock); err != nil {
		t.Fatal(err)
	}
	e := w.Refused(w.t, findAction(t, "get"), args("id", db), tool.NotFound)
	if e.Code != "av_owner_missing" {
		t.Errorf("code %q: %v", e.Code, e)
	}
	w.Levels[w.secret] = access.None // now it may be a hidden one
	e = w.Refused(w.t, findAction(t, "get"), args("id", db), tool.NotFound)
	actiontest.SameRefusal(t, e, w.Refused(w.t, findAction(t, "get"), args("id", actiontest.Nowhere), tool.NotFound), string(db), actiontest.Nowhere)
}

func TestKeys(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	got := w.Must(t, findAction(t, "get_attribute_view_keys"), args("avID", db))
	if diff := cmp.Diff([]string{"block", "select", "text", "number"}, textsIn(got.Get("keys.#.type"))); diff != "" {
		t.Errorf("types (-want +got):\n%s", diff)
	}
	w.checkGuarded(findAction(t, "get_attribute_view_keys"), access.Read, func(id kernel.ID) string { return args("id", id) })
}

func TestFilterSort(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	got := w.Must(t, findAction(t, "get_attribute_view_filter_sort"), args("id", db))
	if got.Get("filters.#").Int() != 1 || got.Get("sorts").Raw != "[]" {
		t.Errorf("got %s", got.Raw)
	}
	w.checkGuarded(findAction(t, "get_attribute_view_filter_sort"), access.Read, func(id kernel.ID) string { return args("id", id) })
}

func TestPrimaryKeyValues(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	a := findAction(t, "get_primary_key_values")
	got := w.Must(t, a, args("avID", db, "pageSize", 2, "page", 9))
	if got.Get("total").Int() != 3 || got.Get("page").Int() != 2 || got.Get("rows.#").Int() != 1 || got.Get("hasNextPage").Bool() {
		t.Errorf("last page: %s", got.Raw)
	}
	got = w.Must(t, a, args("avID", db, "keyword", "行"))
	if got.Get("rows.0.rowID").Str != string(rowA) || got.Get("rows.0.blockID").Str != string(w.open) || got.Get("rows.0.isDetached").Bool() {
		t.Errorf("by keyword: %s", got.Raw)
	}
	if b := textsIn(got.Get("blockIDs")); len(b) != 1 || b[0] != string(dbBlock) {
		t.Errorf("blocks %v", b)
	}
	w.checkGuarded(a, access.Read, func(id kernel.ID) string { return args("avID", id) })
}

func TestSearch(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	a := findAction(t, "search")
	w.Must(t, findAction(t, "rename"), args("avID", db, "name", "Project list 项目表"))
	got := w.Must(t, a, args("keyword", "项目"))
	if got.Get("results.#").Int() != 1 || got.Get("results.0.avID").Str != string(db) || got.Get("searchScope").Str != "name" {
		t.Errorf("by name: %s", got.Raw)
	}
	w.Must(t, findAction(t, "render"), got.Get("results.0.renderArgs").Raw)
	got = w.Must(t, a, args("keyword", "游离"))
	if got.Get("results.0.rows.0.rowID").Str != string(own) || got.Get("searchScope").Str != "rows" {
		t.Errorf("by rows: %s", got.Raw)
	}
	if got = w.Must(t, a, args("keyword", "游离", "excludes", []kernel.ID{db})); got.Get("results").Raw != "[]" {
		t.Errorf("excluded: %s", got.Raw)
	}
	w.Levels[w.home] = access.None
	for _, word := range []string{"项目", "游离", ""} {
		got = w.Must(t, a, args("keyword", word))
		if got.Get("results").Raw != "[]" || strings.Contains(got.Raw, string(db)) || strings.Contains(got.Raw, "Home") {
			t.Errorf("%q at none: %s", word, got.Raw)
		}
	}
}

// Databases that no block shows are counted but not named, and a search by rows reads a limited
// number of databases.
func TestSearchIsBounded(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	raw, err := w.Client.ReadFile(t.Context(), "/data/storage/av/"+string(db)+".json")
	if err != nil {
		t.Fatal(err)
	}
	for range 60 {
		id := kernel.NewID()
		w.File("/data/storage/av/"+string(id)+".json", []byte(strings.ReplaceAll(string(raw), string(db), string(id))))
	}
	w.ResetCalls()
	got := w.Must(t, findAction(t, "search"), args("keyword", "游离"))
	asked := 0
	for _, c := range w.Calls() {
		if c.Path == "/api/av/getAttributeViewPrimaryKeyValues" {
			asked++
		}
	}
	if asked != 50 || !got.Get("truncated").Bool() || got.Get("results.#").Int() != 0 || got.Get("unresolvedCount").Int() != 50 {
		t.Errorf("asked %d: %s", asked, got.Raw)
	}
}

func TestTool(t *testing.T) {
	t.Parallel()
	all, dangerous := []string{}, []string{}
	for _, a := range av.Tool().Actions {
		all = append(all, a.Name)
		if a.Dangerous {
			dangerous = append(dangerous, a.Name)
		}
	}
	want := []string{
		"get", "render", "get_attribute_view_keys", "get_attribute_view_filter_sort", "search", "rename", "add_rows", "remove_rows",
		"add_column", "remove_column", "set_cells", "duplicate", "get_primary_key_values",
	}
	if diff := cmp.Diff(want, all); diff != "" {
		t.Errorf("actions (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"remove_rows", "remove_column"}, dangerous); diff != "" {
		t.Errorf("dangerous (-want +got):\n%s", diff)
	}
}
