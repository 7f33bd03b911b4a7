package hidden_test

import (
	"encoding/json"
	"testing"

	"collie/internal/source/siyuan"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
)

// TestNegationTellsNothing: a search that excludes a word finds the same whether the word is in a hidden text that the
// kernel shows in a readable block, or nowhere.
func TestNegationTellsNothing(t *testing.T) {
	t.Parallel()
	s := newCanaryScene(t)
	search := findAction("search.fulltext")
	ask := func(method, query string) string {
		raw, _ := json.Marshal(map[string]any{"query": query, "method": method, "pageSize": 100, "stripHtml": true})
		got, err := s.Do(t, search, string(raw))
		if err != nil {
			return err.Error()
		}
		ids := ""
		for _, hit := range got.Get("data").Array() {
			ids += hit.Get("id").String() + " "
		}
		return got.Get("total").Raw + " " + ids
	}
	for _, c := range [][3]string{
		{"query_syntax", "own NOT zqhpara1", "own NOT zqhnothing"},
		{"query_syntax", "words NOT para1", "words NOT nothing"},
		{"query_syntax", `own OR zqhpara1`, `own OR zqhnothing`},
		{"query_syntax", `"own words" NOT (zqhhead1 OR zqhtitle1)`, `"own words" NOT (zqhnothing OR zqhnone)`},
		{"regex", "^[^q]*own words", "^[^0]*own words"},
		{"regex", "^to .{3}[^p].*own words", "^to .{3}[^0].*own words"},
		{"keyword", "own zqhpara1", "own zqhnothing"},
		{"sql", "SELECT * FROM blocks WHERE content LIKE '%own words%' AND content NOT LIKE '%zqhpara1%'", "SELECT * FROM blocks WHERE content LIKE '%own words%' AND content NOT LIKE '%zqhnothing%'"},
	} {
		has, none := ask(c[0], c[1]), ask(c[0], c[2])
		if has != none {
			t.Errorf("%s: %q finds %q, and %q finds %q", c[0], c[1], has, c[2], none)
		}
	}
}

// TestWaysShowNothing: the breadcrumb path of no readable block shows hidden text, even if one of its steps is a list item
// into which the kernel has copied such text.
func TestWaysShowNothing(t *testing.T) {
	t.Parallel()
	s := newCanaryScene(t)
	rows, err := kernel.SQL[struct{ ID string }](t.Context(), s.Client, "SELECT id FROM blocks WHERE box = '"+string(s.idOf("open"))+"' LIMIT 1000")
	if err != nil || len(rows) < 40 {
		t.Fatalf("%d blocks, %v", len(rows), err)
	}
	way := findAction("block.breadcrumb")
	for _, row := range rows {
		got, err := s.Do(t, way, `{"id":"`+row.ID+`"}`)
		if err != nil {
			t.Fatal(err)
		}
		if word := canary.FindString(idLike.ReplaceAllString(got.Raw, "ID")); word != "" && word != "zqhquery1" {
			t.Errorf("the way to %s shows %q: %s", row.ID, word, got.Raw)
		}
	}
}

func findAction(name string) *action.Action {
	for _, tl := range siyuan.Tools() {
		for _, a := range tl.Actions {
			if tl.Name+"."+a.Name == name {
				return a
			}
		}
	}
	return nil
}
