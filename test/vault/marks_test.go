package vault

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/vault"
)

// singleMarkTexts are texts with single ^ and ~, which SiYuan would read as superscript and subscript.
var singleMarkTexts = []string{
	"A claim.[^1] Another claim.[^2]", "[^1]: Smith 2020.\n[^2]: Jones ~2021.", "2^10=1024 and 2^20=1M", "一般 3~5 天，最多 10~20 天",
	"x^x^y^y^z^k = 0^y^", "https://a.b/~one/~two?s=h~yT-8vb~Ak", "~a~ ~~gone~~ ~b~", "x<sup>2</sup> and H<sub>2</sub>O, 3^4^",
	"- item 3~5 and 6~7\n- 2^8 2^9", "> quoted 3~5, 6~7 ^x^", "## Heading 3~5, 6~7 ^x^", "|3~5|6~7|\n| -----| -----|\n|^a|b^|",
}

// TestSingleMarksStayText writes the texts of singleMarkTexts through several endpoints and reads them back unchanged. The
// vault treats single marks as text.
func TestSingleMarksStayText(t *testing.T) {
	t.Parallel()
	v := vault.New(filepath.Join(t.TempDir(), "vault.db"), vault.Options{})
	t.Cleanup(func() { _ = v.Close() })
	c := newClient(v)
	ask := func(endpoint string, body object) gjson.Result {
		t.Helper()
		answer, err := c.ask(t.Context(), endpoint, body)
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	box := ask("/api/notebook/createNotebook", object{"name": "N"}).Get("notebook.id").Str
	page := func(path, text string) string {
		return ask("/api/filetree/createDocWithMd", object{"notebook": box, "path": path, "markdown": text}).Str
	}
	read := func(id string) string {
		body := ask("/api/export/exportMdContent", object{"id": id, "yfm": false}).Get("content").Str
		_, body, _ = strings.Cut(body, "\n\n") // below the title
		return strings.TrimSpace(body)
	}
	target := page("/plain", "begin")
	first := ask("/api/block/getChildBlocks", object{"id": target}).Get("0.id").Str
	last := func() string {
		all := ask("/api/block/getChildBlocks", object{"id": target}).Array()
		return all[len(all)-1].Get("id").Str
	}
	for i, text := range singleMarkTexts {
		id := page("/p"+string(rune('a'+i)), text)
		if got := read(id); got != text {
			t.Errorf("created: %q is read as %q", text, got)
		}
		for _, way := range []object{{"dataType": "markdown", "data": text}, nil} {
			if way == nil { // the DOM that the editor shows
				way = object{"dataType": "dom", "data": ask("/api/block/getBlockDOM", object{"id": last()}).Get("dom").Str}
			} else {
				ask("/api/block/appendBlock", object{"dataType": "markdown", "data": text, "parentID": target})
			}
			way["id"] = last()
			ask("/api/block/updateBlock", way)
			if got := ask("/api/block/getBlockKramdown", object{"id": last()}).Get("kramdown").Str; !strings.HasPrefix(withoutAttributeLists(got), text) {
				t.Errorf("updated as %s: %q is read as %q", way["dataType"], text, got)
			}
		}
	}
	ask("/api/search/findReplace", object{"k": "begin", "r": "Satz 3~5, 6~7^", "ids": []string{first}, "replaceTypes": object{"text": true}})
	ask("/api/sqlite/flushTransaction", object{})
	for _, word := range []string{"3~5", "10~20", "2^10", "[^1]", "Satz 3~5"} {
		if ask("/api/search/fullTextSearchBlock", object{"query": word, "method": 0}).Get("blocks.#").Int() == 0 {
			t.Errorf("%s is not found", word)
		}
	}
}

// withoutAttributeLists removes the attribute lists of blocks from kramdown.
func withoutAttributeLists(text string) string {
	var kept []string
	for line := range strings.SplitSeq(text, "\n") {
		before, after, found := strings.Cut(line, "{: ")
		if _, behind, _ := strings.Cut(after, "}"); found {
			line = before + behind
		}
		if !found || strings.Trim(line, " >") != "" {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}
