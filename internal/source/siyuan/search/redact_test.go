package search_test

import (
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/action/actiontest"
)

// addCopies adds a block that shows a text of the hidden notebook, and one that refers to that block.
func (w *workspace) addCopies() (direct, second string) {
	w.t.Helper()
	their := w.children(w.secretDoc)[0]
	first := w.Doc(w.fruit, "/Copies", "mango (("+their+" 'qx7391zk plum')) sherbet #mine#")
	direct = w.children(first)[0]
	again := w.Doc(w.fruit, "/Again", "cherry (("+direct+" 'mango qx7391zk plum sherbet')) and (("+w.doc+" 'Apple')) tart")
	second = w.children(again)[0]
	w.hideSecret()
	return direct, second
}

// TestSearchTellsNothingOfCopies: no search reveals whether a word is in the hidden part of a readable block.
func TestSearchTellsNothingOfCopies(t *testing.T) {
	w := newWorkspace(t)
	direct, second := w.addCopies()
	for _, c := range [][]any{
		{"fulltext", "query", "%s"},
		{"fulltext", "query", "mango %s"},
		{"fulltext", "query", "%s", "groupBy", 1},
		{"fulltext", "query", "%s", "method", "regex"},
		{"fulltext", "query", "%s", "method", "query_syntax"},
		{"fulltext", "query", "mango OR %s", "method", "query_syntax"},
		{"fulltext", "query", "select id from blocks where content like '%%%s%%' or markdown like '%%%s%%'", "method", "sql"},
		{"fulltext", "query", "%s", "typeShortcodes", []string{"p", "embed", "l", "i"}},
		{"fulltext", "query", "mango", "orderBy", "content_asc"},
		{"search_refs", "id", w.doc, "k", "%s"},
		{"get_backlinks", "id", w.doc, "keyword", "%s"},
		{"query_sql", "stmt", "select count(*) as n from blocks where content || markdown || fcontent like '%%%s%%'"},
		{"query_sql", "stmt", "select count(*) as n from spans where content || markdown like '%%%s%%'"},
	} {
		ask := func(word string) gjson.Result {
			args := append([]any{}, c[1:]...)
			for i := range args {
				if text, ok := args[i].(string); ok {
					args[i] = strings.NewReplacer("%s", word, "%%", "%").Replace(text)
				}
			}
			return w.runAction(c[0].(string), args...)
		}
		guess, other := ask("qx7391zk"), ask("qx7391zz")
		if guess.Raw != other.Raw {
			t.Errorf("%v: a right guess is told from a wrong one:\n%s\n%s", c, guess.Raw, other.Raw)
		}
		if strings.Contains(guess.Raw, "qx7391zk") {
			t.Errorf("%v: %s", c, guess.Raw)
		}
	}
	for query, want := range map[string]string{"mango": direct, "tart": second, "sherbet": direct, direct: direct} {
		got := w.runAction("fulltext", "query", query, "verbose", true)
		hit := got.Get("data.0")
		if got.Get("total").Int() != 1 || hit.Get("id").Str != want || strings.Contains(got.Raw, "qx7391zk") || !strings.Contains(hit.Get("plainContent").Str, "a") {
			t.Errorf("%s: the readable words of the block are not found: %s", query, got.Raw)
		}
	}
}

// TestInvalidRefsDoNotTellHiddenFromAbsent: a reference to a hidden block is listed as invalid, like one to a block
// that does not exist.
func TestInvalidRefsDoNotTellHiddenFromAbsent(t *testing.T) {
	w := newWorkspace(t)
	their := w.children(w.secretDoc)[0]
	docs := map[string]string{their: "", actiontest.Nowhere: "", w.doc: ""}
	for to := range docs {
		docs[to] = w.children(w.Doc(w.fruit, "/To "+to, "x (("+to+" \"plum\"))"))[0]
	}
	w.hideSecret()
	for _, size := range []int{1, 32} {
		var listed []string
		for page := 1; page <= 3; page++ {
			got := w.runAction("list_invalid_refs", "page", page, "pageSize", size)
			listed = append(listed, actiontest.Members(got.Get("data"), "id")...)
			if total := got.Get("total").Int(); total != 2 {
				t.Errorf("%d in all, want 2: %s", total, got.Raw)
			}
		}
		for to, id := range docs {
			if strings.Contains(strings.Join(listed, " "), id) != (to != w.doc) {
				t.Errorf("pages of %d: a reference to %s: %v", size, to, listed)
			}
		}
	}
}
