package av_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/av"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/internal/tool"
)

func TestRender(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	w.setCell(db, own, w.number, map[string]any{"type": "number", "number": map[string]any{"content": 42.5, "isNotEmpty": true}})
	w.setCell(db, own, w.choice, map[string]any{"type": "select", "mSelect": []any{map[string]any{"content": "进行", "color": "2"}}})
	got := w.Must(t, findAction(t, "render"), args("avID", db))
	if got.Get("total").Int() != 3 || got.Get("pageSize").Int() != 10 || got.Get("data").Exists() {
		t.Errorf("page: %s", got.Raw)
	}
	if diff := cmp.Diff([]string{"block", "select", "text", "number"}, textsIn(got.Get("table.columns.#.type"))); diff != "" {
		t.Errorf("columns (-want +got):\n%s", diff)
	}
	last := got.Get("table.rows.2")
	if last.Get("id").Str != string(own) || last.Get("cells").Raw != `["own 游离","进行",null,42.5]` {
		t.Errorf("row: %s", last.Raw)
	}
	if got.Get("table.rows.0.blockID").Str != string(w.open) {
		t.Errorf("bound row: %s", got.Get("table.rows.0").Raw)
	}
	verbose := w.Must(t, findAction(t, "render"), args("id", db, "verbose", true))
	if verbose.Get("data.view.rows.#").Int() != 3 || !verbose.Get("rawRowsIncluded").Bool() {
		t.Errorf("verbose: %s", verbose.Raw)
	}
	w.checkGuarded(findAction(t, "render"), access.Read, func(id kernel.ID) string { return args("id", id) })
	w.Refused(w.t, findAction(t, "render"), args("id", db, "pageSize", 0), tool.Invalid)
}

func TestRenderPages(t *testing.T) {
	t.Parallel()
	for name, restricted := range map[string]bool{"all readable": false, "restricted": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorkspace(t)
			if restricted {
				w.Levels[actiontest.Nowhere] = access.None // some notebook is hidden, none of ours
			}
			a := findAction(t, "render")
			got := w.Must(t, a, args("id", db, "page", 99, "pageSize", 2))
			if got.Get("page").Int() != 2 || got.Get("total").Int() != 3 || got.Get("table.rows.#").Int() != 1 || got.Get("hasNextPage").Bool() {
				t.Errorf("beyond the end: %s", got.Raw)
			}
			if got = w.Must(t, a, args("id", db, "pageSize", 2)); !got.Get("hasNextPage").Bool() || got.Get("pageCount").Int() != 2 {
				t.Errorf("first: %s", got.Raw)
			}
			if got = w.Must(t, a, args("id", db, "pageSize", -1)); got.Get("table.rows.#").Int() != 3 || got.Get("pageCount").Int() != 1 {
				t.Errorf("all: %s", got.Raw)
			}
			if got = w.Must(t, a, args("id", db, "query", "游离")); got.Get("total").Int() != 1 {
				t.Errorf("query: %s", got.Raw)
			}
			got = w.Must(t, a, args("id", db, "ignoreRows", true))
			if got.Get("table.rows").Raw != "[]" || got.Get("table.columns.#").Int() != 4 || got.Get("total").Int() != 3 || got.Get("hasNextPage").Bool() {
				t.Errorf("ignoreRows: %s", got.Raw)
			}
		})
	}
}

// The kernel shows another view instead of a missing one, and ignores missing groups. Render refuses both.
func TestRenderOfWhatIsNotThere(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	for path, call := range map[string]string{
		"/viewID":      args("id", db, "viewID", actiontest.Nowhere),
		"/groupPaging": args("id", db, "groupPaging", map[string]any{string(actiontest.Nowhere): map[string]any{"page": 1, "pageSize": 1}}),
	} {
		if e := w.Refused(w.t, findAction(t, "render"), call, tool.Invalid); e.Fields[0].Path != path {
			t.Errorf("%s: %v", call, e)
		}
	}
	e := w.Refused(w.t, findAction(t, "render"), args("id", dbBlock), tool.NotFound) // lists of blocks give that id
	if !strings.Contains(e.Hint, string(db)) {
		t.Errorf("the hint does not name the database: %q", e.Hint)
	}
	w.Levels[w.home] = access.None
	actiontest.SameRefusal(t, w.Refused(w.t, findAction(t, "render"), args("id", dbBlock), tool.NotFound), w.Refused(w.t, findAction(t, "render"), args("id", actiontest.Nowhere), tool.NotFound), string(dbBlock), actiontest.Nowhere)
}

func TestRenderCreates(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	a := findAction(t, "render")
	fresh := kernel.NewID()
	w.Refused(w.t, a, args("id", fresh, "createIfNotExist", true), tool.Conflicting)
	w.Levels[w.home] = access.Read
	w.Refused(w.t, a, args("id", fresh, "createIfNotExist", true, "blockID", w.open), tool.Denied)
	w.Levels[w.home] = access.None
	hidden := w.Refused(w.t, a, args("id", fresh, "createIfNotExist", true, "blockID", w.open), tool.NotFound)
	missing := w.Refused(w.t, a, args("id", fresh, "createIfNotExist", true, "blockID", actiontest.Nowhere), tool.NotFound)
	actiontest.SameRefusal(t, hidden, missing, string(w.open), actiontest.Nowhere)
	delete(w.Levels, w.home)

	got := w.Must(t, a, args("id", fresh, "createIfNotExist", true, "blockID", w.open))
	block := kernel.ID(got.Get("blockID").Str)
	if !got.Get("materialized").Bool() || got.Get("warning").Exists() || got.Get("table.columns.#").Int() != 2 {
		t.Errorf("created: %s", got.Raw)
	}
	if at, err := w.Client.Place(t.Context(), block); err != nil || at.Notebook != w.home {
		t.Errorf("the block is in %v: %v", at, err)
	}
	for _, at := range []kernel.ID{block, w.open} { // the second is the same call again
		w.ResetCalls()
		got = w.Must(t, a, args("id", fresh, "createIfNotExist", true, "blockID", at))
		if n := len(w.Writes()); n != 0 || got.Get("materialized").Exists() {
			t.Errorf("once it is there, rendering writes %d times: %s", n, got.Raw)
		}
	}
	w.Refused(w.t, a, args("id", fresh, "blockID", w.open), tool.Invalid)
	w.Refused(w.t, a, args("id", w.open, "createIfNotExist", true, "blockID", w.open), tool.Invalid) // a block has that id
}

// A list holds only items, so a database that is created beside an item goes into the item.
func TestRenderCreatesInList(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	list := w.firstBlock(kernel.ID(w.Doc(string(w.home), "/List", "* one\n* two")))
	item := w.firstBlock(list)
	got := w.Must(t, findAction(t, "render"), args("id", kernel.NewID(), "createIfNotExist", true, "blockID", item))
	blocks, err := w.Client.ChildBlocks(t.Context(), item)
	if err != nil || len(blocks) != 2 || string(blocks[1].ID) != got.Get("blockID").Str {
		t.Errorf("the item has %v, %v", blocks, err)
	}
}

// A block may show a database that was never rendered: there is no file yet.
func TestRenderCreatesInItsBlock(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	w.appendDatabaseBlock(other, otherB, w.doc)
	w.Refused(w.t, findAction(t, "render"), args("id", other), tool.NotFound)
	got := w.Must(t, findAction(t, "render"), args("id", other, "createIfNotExist", true, "blockID", otherB))
	if got.Get("blockID").Str != string(otherB) {
		t.Errorf("created: %s", got.Raw)
	}
}

// Grouped and other layouts are read as a real kernel answered them.
func TestTablesOfRecordings(t *testing.T) {
	t.Parallel()
	for _, row := range kerneltest.Recordings(t) {
		if row.Scenario != "av" || (row.Seq != 75 && row.Seq != 127 && row.Seq != 128 && row.Seq != 130) {
			continue
		}
		var answer struct{ Data json.RawMessage }
		if err := json.Unmarshal(row.RespBody, &answer); err != nil {
			t.Fatal(err)
		}
		columns, rows, groups, count, err := av.Table(answer.Data)
		if err != nil {
			t.Fatal(err)
		}
		grouped := row.Seq != 75
		if columns != 19 || (groups > 0) != grouped || len(rows) < 5 || count < 5 {
			t.Errorf("seq %d: %d columns, %d groups, %d of %d rows", row.Seq, columns, groups, len(rows), count)
		}
		all := strings.Join(rows, "\n")
		for _, want := range []string{"row source one 行一", "42.5", "Doing 进行", "red 蓝", "https://example.com", "2024-08-01", "true", "assets/spec.pdf"} {
			if !strings.Contains(all, want) {
				t.Errorf("seq %d: no cell shows %q:\n%s", row.Seq, want, all)
			}
		}
	}
}
