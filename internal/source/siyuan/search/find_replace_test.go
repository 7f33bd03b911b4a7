package search_test

import (
	"encoding/json"
	"strings"
	"testing"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/tool"
)

// blockText returns the Markdown of a block, without its attributes.
func (w *workspace) blockText(id string) string {
	w.t.Helper()
	text, err := w.Client.Kramdown(w.t.Context(), idOf(id))
	if err != nil {
		w.t.Fatal(err)
	}
	text, _, _ = strings.Cut(text, "\n{:")
	return text
}

func TestFindReplace(t *testing.T) {
	w := newWorkspace(t)
	blocks := w.children(w.doc)
	got := w.runAction("find_replace", "k", "pple", "r", "PPLE", "ids", []string{blocks[0], blocks[1], blocks[1]})
	if got.Get("changed").Int() != 2 || !got.Get("replaced").Bool() {
		t.Errorf("got %s", got.Raw)
	}
	if text := w.blockText(blocks[1]); text != "APPLE pie with **aPPLE** cinnamon 苹果派" {
		t.Errorf("text %q", text)
	}
	sent := w.Asked("/api/search/findReplace")[0]
	if !sent.Get("replaceTypes.text").Bool() || sent.Get("paths").Exists() || sent.Get("ids.#").Int() != 2 {
		t.Errorf("sent %s", sent.Raw)
	}
	if len(w.Asked("/api/ui/reloadProtyle")) != 1 {
		t.Errorf("%d reloads of the document, want 1", len(w.Asked("/api/ui/reloadProtyle")))
	}
	w.runAction("find_replace", "k", "a(PPLE)", "r", "x$1", "ids", blocks[1], "methodName", 3)
	if text := w.blockText(blocks[1]); !strings.Contains(text, "**xPPLE**") {
		t.Errorf("regex: %q", text)
	}
	title := w.runAction("find_replace", "k", "Apple", "r", "Pear", "ids", []string{w.doc}, "replaceTypes", map[string]bool{"docTitle": true})
	if title.Get("changed").Int() != 1 || len(w.Asked("/api/ui/reloadFiletree")) != 1 {
		t.Errorf("title: %s", title.Raw)
	}
	none := w.runAction("find_replace", "k", "nowhere to be found", "r", "x", "ids", blocks[:1])
	if none.Get("replaced").Bool() || none.Get("changed").Int() != 0 || none.Get("warning").Str == "" {
		t.Errorf("nothing changed: %s", none.Raw)
	}
}

// TestFindReplaceIsLiteral: a kernel would expand a $ in the replacement as a group even for plain text, and turn a tag
// into text.
func TestFindReplaceIsLiteral(t *testing.T) {
	w := newWorkspace(t)
	doc := w.Doc(w.fruit, "/Prices", "costs 5 or (5.0)\n\n**5** `5`\n\n#old/tag# old\n\na.b axb A.B")
	blocks := w.children(doc)
	for i, c := range []struct{ k, r, types, want string }{
		{"5", "$1 ${x} $$", "", "costs $1 ${x} $$ or ($1 ${x} $$.0)"},
		{"5", "$1", "", "**$1** `$1`"},
		{"old", "new", `{"tag":true}`, "#new/tag# old"},
		{"a.b", "$0", "", "$0 axb $0"},
	} {
		pairs := []any{"k", c.k, "r", c.r, "ids", blocks[i]}
		if c.types != "" {
			pairs = append(pairs, "replaceTypes", json.RawMessage(c.types))
		}
		if got := w.runAction("find_replace", pairs...); got.Get("changed").Int() != 1 {
			t.Errorf("%s: %s", c.k, got.Raw)
		}
		if text := strings.ReplaceAll(w.blockText(blocks[i]), "\u200b", ""); text != c.want {
			t.Errorf("%s: %q, want %q", c.k, text, c.want)
		}
	}
}

func TestFindReplacePaths(t *testing.T) {
	w := newWorkspace(t)
	block := w.children(w.doc)[1]
	path := w.fruit + "/" + w.doc + ".sy"
	for _, paths := range [][]string{{w.fruit}, {path}, {"/" + path}} {
		if got := w.runAction("find_replace", "k", "pie", "r", "pie!", "ids", block, "paths", paths); got.Get("changed").Int() != 1 {
			t.Errorf("%v: %s", paths, got.Raw)
		}
	}
	other := w.Doc(w.fruit, "/Other", "pie")
	w.checkRefused(tool.Conflicting, "find_replace", "k", "pie", "r", "x", "ids", block, "paths", []string{w.fruit + "/" + other + ".sy"})
	w.checkRefused(tool.NotFound, "find_replace", "k", "pie", "r", "x", "ids", block, "paths", []string{w.fruit + "/" + actiontest.Nowhere + ".sy"})
	w.checkRefused(tool.NotFound, "find_replace", "k", "pie", "r", "x", "ids", block, "paths", []string{actiontest.Nowhere})
	w.checkRefused(tool.NotFound, "find_replace", "k", "pie", "r", "x", "ids", block, "paths", []string{w.fruit, w.secret + "/" + other + ".sy"})
	w.checkRefused(tool.Invalid, "find_replace", "k", "pie", "r", "x", "ids", block, "paths", []string{"/Fruit"})
	w.Levels[idOf(w.secret)] = access.Read
	w.checkRefused(tool.Denied, "find_replace", "k", "pie", "r", "x", "ids", block, "paths", []string{w.fruit, w.secret})
	w.checkHiddenLikeMissing("find_replace", w.secret, "k", "pie", "r", "x", "ids", block, "paths", []string{w.secret})
}

func TestFindReplaceRefuses(t *testing.T) {
	w := newWorkspace(t)
	block := w.children(w.doc)[1]
	secret := w.children(w.secretDoc)[0]
	w.checkRefused(tool.Invalid, "find_replace", "k", "([", "r", "x", "ids", block, "method", "regex")
	w.checkRefused(tool.Invalid, "find_replace", "k", "a*", "r", "x", "ids", block, "method", "regex")
	w.checkRefused(tool.Conflicting, "find_replace", "k", "a", "r", "a", "ids", block)
	w.checkRefused(tool.Invalid, "find_replace", "k", "a", "r", "b", "ids", block, "replaceTypes", map[string]bool{"bold": true})
	w.checkRefused(tool.Invalid, "find_replace", "k", "a", "r", "b", "ids", block, "replaceTypes", map[string]bool{"text": false})
	w.checkRefused(tool.NotFound, "find_replace", "k", "a", "r", "b", "ids", []string{block, actiontest.Nowhere})
	w.Levels[idOf(w.secret)] = access.Read
	w.checkRefused(tool.Denied, "find_replace", "k", "a", "r", "b", "ids", []string{block, secret})
	w.checkHiddenLikeMissing("find_replace", secret, "k", "a", "r", "b", "ids", []string{block, secret})
	for _, p := range findAction(t, "find_replace").Params() {
		if p.Name == "method" && strings.Contains(string(p.Schema()), "sql") {
			t.Error("method sql is offered")
		}
	}
}

func TestFindReplaceOfManyBlocksIsNotCounted(t *testing.T) {
	w := newWorkspace(t)
	doc := w.Doc(w.fruit, "/Many", strings.Repeat("many words\n\n", 51))
	got := w.runAction("find_replace", "k", "many", "r", "few", "ids", w.children(doc))
	if got.Get("changed").Exists() || !got.Get("replaced").Bool() || len(w.Asked("/api/block/getBlockKramdowns")) != 0 {
		t.Errorf("got %s", got.Raw)
	}
}
