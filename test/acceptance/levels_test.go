package acceptance_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"collie/internal/source/siyuan"
)

// TestLevels calls one action for each level on a notebook of each level, through the pipeline.
// All actions, with one target and with several, are tested in test/notes.
func TestLevels(t *testing.T) {
	t.Parallel()
	for level, want := range map[string][3]string{ // read, write, delete
		"none": {"not_found", "not_found", "not_found"},
		"r":    {"", "permission_denied", "permission_denied"},
		"rw":   {"", "", "permission_denied"},
		"rwd":  {"", "", ""},
	} {
		t.Run(level, func(t *testing.T) {
			t.Parallel()
			eachEra(t, func(t *testing.T, version string) {
				w := newWorld(t)
				w.writeLevels(map[string]string{w.work: level})
				v := openSession(t, w.serve(t), version, agrees)
				w.Doc(w.work, "/Doomed", "x")
				w.ResetCalls()
				for i, args := range [][2]string{
					{"fs", `{"action":"read","path":"/Work/Plan"}`},
					{"block", `{"action":"append","dataType":"markdown","data":"x","parentID":"` + w.plan + `"}`},
					{"fs", `{"action":"rm","path":"/Work/Doomed"}`},
				} {
					got := v.call(t, args[0], args[1])
					if got.kind() != want[i] || got.failed != (want[i] != "") {
						t.Errorf("%s: want %q, got %s", args[1], want[i], got.text)
					}
					if want[i] == "permission_denied" && (got.Get("error.current_permission").String() != level || got.Get("error.notebook").String() != w.work) {
						t.Errorf("refusal %s", got.text)
					}
				}
				var allowed []string
				if want[1] == "" {
					allowed = append(allowed, "block/appendBlock")
				}
				if want[2] == "" {
					allowed = append(allowed, "filetree/removeDocByID")
				}
				if got := endpointsOf(w.Writes()); !slices.Equal(got, allowed) {
					t.Errorf("writes %v, want %v", got, allowed)
				}
			})
		})
	}
}

// TestHiddenNotebook asks for everything that needs no id of the hidden notebook, and searches all answers for its ids
// and for the word that all its content has. Calls that name the notebook get the same answers as calls that name things
// that do not exist. The test with a word in each field, behind each action, is in test/notes.
func TestHiddenNotebook(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	secret := w.Doc(w.hidden, "/"+hiddenWord+" two", "(("+w.plan+" '"+hiddenWord+"'))\n\n![](assets/"+hiddenWord+".png)")
	g := w.serve(t)
	w.ResetCalls()
	eachEra(t, func(t *testing.T, version string) {
		v := openSession(t, g, version, agrees)
		wantNothingHidden := func(what, text string) {
			t.Helper()
			for _, canary := range []string{w.hidden, secret, hiddenWord} {
				if i := strings.Index(text, canary); i >= 0 {
					t.Errorf("%s tells of the hidden notebook: …%.200s", what, text[max(0, i-80):])
				}
			}
		}
		for _, q := range []string{
			`fs {"action":"ls","path":"/"}`, `fs {"action":"tree","path":"/","maxDepth":9}`,
			`fs {"action":"search","path":"/","query":"tea"}`,
			`notebook {"action":"list","verbose":true}`, `notebook {"action":"get_permissions"}`,
			`search {"action":"fulltext","query":"tea","verbose":true}`,
			`search {"action":"query_sql","sql":"SELECT DISTINCT id, box, root_id, content FROM blocks LIMIT 100"}`,
			`search {"action":"query_sql","sql":"SELECT count(*) AS n FROM blocks"}`,
			`search {"action":"get_backlinks","id":"` + w.plan + `"}`,
			`search {"action":"search_refs","id":"` + w.plan + `","k":"tea"}`,
			`search {"action":"search_assets","query":"png"}`,
			`document {"action":"search_docs","notebook":"` + w.work + `","query":"plan"}`,
			`block {"action":"recent_updated"}`, `tag {"action":"list"}`, `av {"action":"search","keyword":""}`,
			`file {"action":"list_unused_assets"}`, `flashcard {"action":"list_cards","scope":"all"}`,
			`flashcard {"action":"get_decks"}`, `system {"action":"bootstrap","verbose":true}`,
			`notebook {"action":"help"}`, `fs {"action":"help","topic":"read"}`,
		} {
			name, args, _ := strings.Cut(q, " ")
			wantNothingHidden(q, v.mustCall(t, name, args).text)
		}

		// Hidden things and missing things get the same answer, apart from what the caller wrote.
		missing := [4]string{"20200101000000-zzzzzzz", "20200101000000-yyyyyyy", "Nowhere", "Nowhere plan"}
		hidden := [4]string{w.hidden, secret, hiddenWord, hiddenWord + " plan"}
		for _, form := range []string{
			`fs {"action":"read","path":"/%[3]s/%[4]s"}`, `fs {"action":"ls","path":"/%[3]s"}`,
			`fs {"action":"write","path":"/%[3]s/New","markdown":"x"}`, `fs {"action":"rm","path":"/%[3]s/%[4]s"}`,
			`document {"action":"get_doc","id":"%[2]s"}`, `document {"action":"lookup","id":"%[2]s"}`,
			`document {"action":"create","notebook":"%[1]s","path":"/New","markdown":"x"}`,
			`block {"action":"get_kramdown","id":"%[2]s"}`, `block {"action":"append","dataType":"markdown","data":"x","parentID":"%[2]s"}`,
			`notebook {"action":"get_conf","notebook":"%[1]s"}`, `notebook {"action":"rename","notebook":"%[1]s","name":"x"}`,
			`notebook {"action":"get_permissions","notebook":"%[1]s"}`,
		} {
			var said [2]string
			for i, names := range [][4]string{hidden, missing} {
				name, args, _ := strings.Cut(fmt.Sprintf(form+"%.0[5]s", names[0], names[1], names[2], names[3], ""), " ")
				got := v.call(t, name, args)
				if !got.failed || got.kind() != "not_found" {
					t.Errorf("%s: %s", args, got.text)
				}
				said[i] = got.text
				for j, word := range names {
					said[i] = strings.ReplaceAll(said[i], word, fmt.Sprint("<", j, ">"))
				}
				said[i] = strings.ReplaceAll(said[i], "<2> plan", "<3>") // one name begins with the other
			}
			if said[0] != said[1] {
				t.Errorf("%s: hidden\n%s\nmissing\n%s", form, said[0], said[1])
			}
		}
		lists, err := v.ListResources(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(lists)
		if err != nil {
			t.Fatal(err)
		}
		wantNothingHidden("the list of resources", string(raw))
		for _, r := range lists.Resources {
			if page, err := v.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: r.URI}); err == nil {
				wantNothingHidden(r.URI, page.Contents[0].Text)
			}
		}
		w.wantNoWrites(t)
	})
}

// TestEveryToolAnswers checks that the tools named by the tests of this package exist.
func TestEveryToolAnswers(t *testing.T) {
	t.Parallel()
	var names []string
	for _, tl := range siyuan.Tools() {
		names = append(names, tl.Name)
	}
	for _, name := range []string{"fs", "notebook", "document", "block", "av", "file", "search", "tag", "system", "flashcard", "mascot"} {
		if !slices.Contains(names, name) {
			t.Errorf("there is no tool %s", name)
		}
	}
}
