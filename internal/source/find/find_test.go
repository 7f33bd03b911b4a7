package find_test

import (
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"collie/internal/source/find"
	"collie/test/catalogs"
)

// searchNames returns the names of the limit best documents, the best first.
func searchNames(docs []find.Doc, question string, limit int) []string {
	var names []string
	for _, h := range find.New(docs).Search(question, limit) {
		names = append(names, docs[h.Doc].Name)
	}
	return names
}

// TestWords: a query finds words in other spellings (camelCase, plurals, typing errors) and words of the same meaning.
func TestWords(t *testing.T) {
	t.Parallel()
	docs := []find.Doc{
		{Server: "a", Name: "createPullRequest", Description: "Open a pull request."},
		{Server: "a", Name: "list_HTTP2_routes", Description: "List the routes."},
		{Server: "b", Name: "remove-user", Title: "Remove a user"},
		{Server: "b", Name: "x1", Description: "日历中的日程列表"},
		{Server: "b", Name: "x2", Description: "Répertoire des données"},
		{Server: "c", Name: "x3", About: "invoices of the shop"},
	}
	for question, want := range map[string]string{
		"pull requests":         "createPullRequest",
		"CREATE PULL REQUEST":   "createPullRequest",
		"createPullRequest":     "createPullRequest",
		"http routes":           "list_HTTP2_routes",
		"delete somebody users": "remove-user",
		"get rid of a user":     "remove-user",
		"查看日程":                  "x1",
		"données":               "x2",
		"invoice":               "x3",
		"requets":               "createPullRequest", // two letters changed places
	} {
		if got := searchNames(docs, question, 1); !reflect.DeepEqual(got, []string{want}) {
			t.Errorf("%q finds %v, want %s", question, got, want)
		}
	}
	for _, question := range []string{"", "  ", "the of a", "!?", "zzzzzz", "查"} {
		if got := searchNames(docs, question, 5); got != nil {
			t.Errorf("%q finds %v, want nothing", question, got)
		}
	}
}

// TestOwnNames: a query for the server and name of a tool finds that tool among the first ten.
func TestOwnNames(t *testing.T) {
	t.Parallel()
	docs, names := catalogs.Documents()
	x := find.New(docs)
	for i, d := range docs {
		ok := false
		for _, h := range x.Search(d.Server+" "+d.Name, 10) {
			ok = ok || h.Doc == i
		}
		if !ok {
			t.Errorf("%s is not among the first ten for its own name", names[i])
		}
	}
}

// TestSearchHolds: for any documents and question, hits do not exceed the limit, no document appears twice, scores never
// rise, and a search with a smaller limit returns the beginning of the same hits.
func TestSearchHolds(t *testing.T) {
	t.Parallel()
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"create issue", "删除 文件", "getX", "a", "日", "한국어 텍스트", "über", "read_file2"}))
	rapid.Check(t, func(t *rapid.T) {
		docs := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) find.Doc {
			return find.Doc{
				Server: text.Draw(t, "server"), Name: text.Draw(t, "name"), Title: text.Draw(t, "title"), Description: text.Draw(t, "description"),
				Params: rapid.SliceOfN(text, 0, 3).Draw(t, "params"), About: text.Draw(t, "about"),
			}
		}), 0, 12).Draw(t, "docs")
		question := strings.Join(rapid.SliceOfN(text, 0, 4).Draw(t, "question"), " ")
		x := find.New(docs)
		all := x.Search(question, len(docs))
		seen := map[int]bool{}
		for i, h := range all {
			if seen[h.Doc] || h.Doc < 0 || h.Doc >= len(docs) || h.Score <= 0 || i > 0 && h.Score > all[i-1].Score {
				t.Fatalf("hits are %v", all)
			}
			seen[h.Doc] = true
		}
		limit := rapid.IntRange(0, len(docs)).Draw(t, "limit")
		few := x.Search(question, limit)
		if want := all[:min(limit, len(all))]; len(few) != len(want) || len(few) > 0 && !reflect.DeepEqual(few, want) {
			t.Fatalf("with a limit of %d hits are %v, want %v", limit, few, want)
		}
	})
}

func BenchmarkNew(b *testing.B) {
	docs, _ := catalogs.Documents()
	for b.Loop() {
		find.New(docs)
	}
}

func BenchmarkSearch(b *testing.B) {
	docs, _ := catalogs.Documents()
	x := find.New(docs)
	for b.Loop() {
		x.Search("open a ticket for a bug and assign it to somebody", 5)
	}
}

// TestQuestions: of the recorded questions of people, at least as many find a right answer as the table says. The
// questions in the folder questions are not changed to suit the ranking, nor the ranking to suit them; those in the
// folder dev are for trying the ranking out.
func TestQuestions(t *testing.T) {
	t.Parallel()
	for file, least := range map[string]struct{ first, few int }{
		"questions/english": {first: 58, few: 81}, "questions/chinese": {first: 27, few: 40}, "questions/chinese-over-english": {first: 26, few: 45},
		"dev/english": {first: 85, few: 131}, "dev/chinese": {first: 24, few: 38}, "dev/chinese-over-english": {first: 29, few: 40},
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			all, first, few, err := catalogs.Found(file)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("of %d questions %d have a right answer first, %d among the first five", all, first, few)
			if first < least.first || few < least.few {
				t.Errorf("%d right answers first and %d among the first five, want %d and %d at least", first, few, least.first, least.few)
			}
		})
	}
}
