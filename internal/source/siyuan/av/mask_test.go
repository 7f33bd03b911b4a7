package av_test

import (
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/kernel"
)

// checkLeaksNothing fails the test if a result reveals anything of the hidden row.
func (w *workspace) checkLeaksNothing(name string, got gjson.Result, more ...string) {
	w.t.Helper()
	for _, secret := range append([]string{"hidden row", "暗", string(w.hidden), string(rowS), "Geheim", string(w.secret), "classified"}, more...) {
		if strings.Contains(got.Raw, secret) {
			w.t.Errorf("%s tells %q:\n%s", name, secret, got.Raw)
		}
	}
}

// No answer contains or counts rows that are bound to hidden blocks.
func TestHiddenRows(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	w.setCell(db, rowS, w.text, map[string]any{"type": "text", "text": map[string]any{"content": "classified"}})
	calls := map[string]string{
		"get":                    args("id", db, "verbose", true),
		"render":                 args("id", db, "verbose", true),
		"get_primary_key_values": args("avID", db, "verbose", true),
	}
	rows := map[string]string{"get": "resolvedRows.#", "render": "total", "get_primary_key_values": "total"}
	for name, call := range calls {
		if got := w.Must(t, findAction(t, name), call); got.Get(rows[name]).Int() != 3 || got.Get("partial").Exists() {
			t.Errorf("%s of what is all readable: %s", name, got.Raw)
		}
	}
	w.Levels[w.secret] = access.None
	for name, call := range calls {
		got := w.Must(t, findAction(t, name), call)
		w.checkLeaksNothing(name, got)
		if got.Get(rows[name]).Int() != 2 || !strings.Contains(got.Raw, "own 游离") || !strings.Contains(got.Raw, "open row 行") {
			t.Errorf("%s: %s", name, got.Raw)
		}
		if n := got.Get("data.view.rowCount"); n.Exists() && n.Int() != 2 {
			t.Errorf("%s counts hidden rows: %s", name, got.Raw)
		}
		if got.Get("filteredOutCount").Int() != 1 {
			t.Errorf("%s does not say that something is left out: %s", name, got.Raw)
		}
	}
	for _, word := range []string{"暗", "classified"} { // searching must not tell either
		for name, call := range map[string]string{
			"search":                 args("keyword", word),
			"render":                 args("id", db, "query", word),
			"get_primary_key_values": args("avID", db, "keyword", word),
		} {
			got := w.Must(t, findAction(t, name), call)
			without := w.Must(t, findAction(t, name), strings.ReplaceAll(call, word, "nothing has this"))
			if a, b := strings.ReplaceAll(got.Raw, word, ""), strings.ReplaceAll(without.Raw, "nothing has this", ""); a != b {
				t.Errorf("%s tells %q from a word that is nowhere:\n%s\n%s", name, word, a, b)
			}
		}
	}
}

// Pages consist of readable rows: hidden rows do not make a page shorter.
func TestHiddenRowsLeaveNoGaps(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	w.Levels[w.secret] = access.None
	got := w.Must(t, findAction(t, "render"), args("id", db, "pageSize", 2))
	if got.Get("table.rows.#").Int() != 2 || got.Get("pageCount").Int() != 1 || got.Get("table.rowCount").Int() != 2 {
		t.Errorf("got %s", got.Raw)
	}
}

// Values that a relation shows from another database, and values computed from them, are masked
// too.
func TestHiddenRelations(t *testing.T) {
	t.Parallel()
	const targetA, targetB = "20240801130100-second1", "20240801130101-second2"
	for _, c := range []struct {
		name  string
		place func(w *workspace) kernel.ID // where the other database is shown
		seen  string                       // of the relation
	}{
		{"a row of a readable database", func(w *workspace) kernel.ID { return w.home }, `["target A"]`},
		{"a database that is hidden", func(w *workspace) kernel.ID { return w.secret }, `null`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorkspace(t)
			relation := w.addRelation(c.place(w))
			w.setCell(db, rowA, relation, map[string]any{"type": "relation", "relation": map[string]any{"blockIDs": []string{targetA}}})
			numbers := w.addColumnTo(other, "number")
			w.setCell(other, targetA, numbers, map[string]any{"type": "number", "number": map[string]any{"content": 10, "isNotEmpty": true}})
			w.setCell(other, targetB, numbers, map[string]any{"type": "number", "number": map[string]any{"content": 4711.25, "isNotEmpty": true}})
			rollup, template := w.addColumn("rollup"), w.addColumn("template")
			w.transact(kernel.Operation{
				"action": "updateAttrViewColRollup", "avID": db, "id": rollup, "parentID": relation, "keyID": numbers,
				"data": map[string]any{"calc": map[string]any{"operator": "Sum"}},
			}, kernel.Operation{"action": "updateAttrViewColTemplate", "avID": db, "id": template, "type": "template", "data": "computed text"})
			before := w.Must(t, findAction(t, "render"), args("id", db)).Get("table.rows.2.cells")
			if !strings.HasSuffix(before.Raw, `["target A","hidden row 暗"],[4721.25],"computed text"]`) {
				t.Fatalf("readable: %s", before.Raw)
			}
			w.Levels[w.secret] = access.None
			got := w.Must(t, findAction(t, "render"), args("id", db, "verbose", true))
			w.checkLeaksNothing("render", got, targetB, "4711.25", "4721.25")
			if cells := got.Get("table.rows.1.cells"); !strings.HasSuffix(cells.Raw, "null,"+c.seen+",null,null]") {
				t.Errorf("row that shows a hidden one: %s", cells.Raw)
			}
			stored := w.Must(t, findAction(t, "get"), args("id", db))
			w.checkLeaksNothing("get", stored, targetB, "4711.25")
			keys := w.Must(t, findAction(t, "get_attribute_view_keys"), args("id", db))
			w.checkLeaksNothing("keys", keys)
			w.checkLeaksNothing("filters", w.Must(t, findAction(t, "get_attribute_view_filter_sort"), args("id", db)))
			if hidden := c.place(w) == w.secret; hidden {
				for name, r := range map[string]gjson.Result{"render": got, "get": stored, "keys": keys} {
					w.checkLeaksNothing(name, r, string(other), targetA, "target A")
				}
			} else if !strings.Contains(keys.Raw, string(other)) {
				t.Errorf("the readable database is not named: %s", keys.Raw)
			}
		})
	}
}

// A template could read any block. So while something is hidden, a template that calls a function
// which might read shows nothing.
func TestTemplatesThatReadOtherThings(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	template := w.addColumn("template")
	for source, harmless := range map[string]bool{
		"text of queryBlocks": true, "text": true,
		`text.action{ if false }.action{ queryBlocks "SELECT 1" }.action{ end }`:           false,
		`text.action{ if true }.action{ else }.action{ call now }.action{ end }`:           false,
		`text.action{ $x := .title }.action{ if gt 1 2 }.action{ upper $x }.action{ end }`: true,
		`text{{ queryBlocks "SELECT 1" }}`:                                                 false,
	} {
		delete(w.Levels, w.secret)
		w.transact(kernel.Operation{"action": "updateAttrViewColTemplate", "avID": db, "id": template, "type": "template", "data": source})
		if got := w.Must(t, findAction(t, "render"), args("id", db)).Get("table.rows.2.cells.4"); !strings.HasPrefix(got.Str, "text") {
			t.Fatalf("the kernel computed %s of %q", got.Raw, source)
		}
		w.Levels[w.secret] = access.None
		if got := w.Must(t, findAction(t, "render"), args("id", db)).Get("table.rows.1.cells.4"); (got.Raw == "null") == harmless {
			t.Errorf("%q shows %s", source, got.Raw)
		}
	}
}

// A template shows the values of the other cells of its row, whatever the order of columns.
func TestTemplatesOfWhatIsHidden(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	template := w.addColumn("template")
	relation := w.addRelation(w.home)
	nested, rollup := w.addColumnTo(other, "template"), w.addColumn("rollup")
	w.setCell(db, own, relation, map[string]any{"type": "relation", "relation": map[string]any{"blockIDs": []string{"20240801130100-second1"}}})
	w.transact(kernel.Operation{"action": "updateAttrViewColTemplate", "avID": other, "id": nested, "type": "template", "data": "classified"},
		kernel.Operation{"action": "updateAttrViewColRollup", "avID": db, "id": rollup, "parentID": relation, "keyID": nested, "data": map[string]any{}},
		kernel.Operation{"action": "updateAttrViewColTemplate", "avID": db, "id": template, "type": "template", "data": "of this row"})
	w.Levels[w.secret] = access.None
	got := w.Must(t, findAction(t, "render"), args("id", db))
	w.checkLeaksNothing("render", got)
	if cells := got.Get("table.rows.1.cells"); cells.Get("4").Raw != "null" {
		t.Errorf("the template that comes before the rollup shows %s", cells.Raw)
	}
}

// A search finds no row by its hidden content.
func TestSearchesOfWhatIsHidden(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	w.addRelation(w.home)
	render := func(query string) gjson.Result {
		return w.Must(t, findAction(t, "render"), args("id", db, "query", query, "verbose", true))
	}
	if got := render("hidden row"); got.Get("total").Int() != 2 {
		t.Fatalf("readable: %s", got.Raw)
	}
	w.Levels[w.secret] = access.None
	if got := render("hidden row"); got.Get("total").Int() != 0 || got.Get("data.view.rows.#").Int() != 0 || got.Get("data.view.rowCount").Int() != 0 {
		t.Errorf("a row is found by the hidden row that it is related to: %s", got.Raw)
	}
	for _, query := range []string{"TARGET a", "游离"} {
		if got := render(query); got.Get("total").Int() != 1 || got.Get("table.rows.0.id").Str != string(own) {
			t.Errorf("%q is not found by what is seen of it: %s", query, got.Raw)
		}
	}
}

// While something is hidden, a rollup of a computed column shows nothing: to know what the column
// shows, every database would have to be read.
func TestRollupsOfWhatIsComputed(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	relation := w.addRelation(w.home)
	w.setCell(db, own, relation, map[string]any{"type": "relation", "relation": map[string]any{"blockIDs": []string{"20240801130100-second1"}}})
	template, rollup := w.addColumnTo(other, "template"), w.addColumn("rollup")
	w.transact(kernel.Operation{"action": "updateAttrViewColTemplate", "avID": other, "id": template, "type": "template", "data": "from elsewhere"},
		kernel.Operation{"action": "updateAttrViewColRollup", "avID": db, "id": rollup, "parentID": relation, "keyID": template, "data": map[string]any{}})
	if got := w.Must(t, findAction(t, "render"), args("id", db)); got.Get("table.rows.2.cells.5").Raw != `["from elsewhere"]` {
		t.Fatalf("readable: %s", got.Get("table.rows.2").Raw)
	}
	w.Levels[w.secret] = access.None
	if got := w.Must(t, findAction(t, "render"), args("id", db)); got.Get("table.rows.1.cells.5").Raw != "null" {
		t.Errorf("got %s", got.Get("table.rows.1").Raw)
	}
}
