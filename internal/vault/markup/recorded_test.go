package markup_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/internal/vault/markup"
	"collie/internal/vault/tree"

	"github.com/google/go-cmp/cmp"
)

// decodeRecorded decodes row seq of a recorded scenario: the body of the request into request, and the data of the answer into data.
func decodeRecorded(t *testing.T, scenario string, seq int, request, data any) {
	t.Helper()
	for _, row := range kerneltest.Recordings(t) {
		if row.Scenario != scenario || row.Seq != seq {
			continue
		}
		envelope := struct {
			Data any `json:"data"`
		}{data}
		if err := json.Unmarshal(row.RespBody, &envelope); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(row.ReqBody, request); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Fatalf("no recording %s#%d", scenario, seq)
}

type kramdown struct {
	Kramdown string `json:"kramdown"`
}

// richDocument returns the recorded document with all kinds of blocks, and its kramdown in normal form.
func richDocument(t *testing.T) (root *tree.Block, text string) {
	t.Helper()
	var answer kramdown
	decodeRecorded(t, "blocks_rich", 6, &struct{}{}, &answer)
	root = &tree.Block{Kind: tree.Doc, ID: "20261121033049-1tkgc4j", Attrs: map[string]string{
		"id": "20261121033049-1tkgc4j", "title": "Rich 富文本", "type": "doc", "updated": "20261121033049",
	}}
	root.Insert(0, markup.Parse(answer.Kramdown)...)
	return root, normalize(answer.Kramdown)
}

var lists = regexp.MustCompile(`\{:(?: [\w-]+="[^"]*")+\}`)

// normalize sorts the attribute lists in kramdown, whose order may vary, and removes zero-width spaces.
func normalize(text string) string {
	text = strings.TrimSpace(strings.ReplaceAll(text, "\u200b", ""))
	return lists.ReplaceAllStringFunc(text, func(list string) string { return tree.IAL(tree.ParseIAL(list)) })
}

// withTags replaces marks that the kernel reads and the vault does not: superscript and subscript become tags, and the name of an
// emoji becomes the emoji.
var withTags = strings.NewReplacer("H~2~O", "H<sub>2</sub>O", "x^2^", "x<sup>2</sup>", ":smile:", "😄")

func TestParseAsRecorded(t *testing.T) {
	t.Parallel()
	var request struct{ Markdown string }
	var id string
	decodeRecorded(t, "blocks_rich", 4, &request, &id)
	type row struct{ Type, SubType, Content, Markdown string }
	var want, got []row
	decodeRecorded(t, "blocks_rich", 5, &struct{}{}, &want)
	for _, b := range markup.Parse(withTags.Replace(request.Markdown)) {
		r := row{b.Kind, b.Subtype(), "", markup.Markdown(b)}
		r.Content = markup.Content(b)
		got = append(got, r)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("children (-recorded +got):\n%s", diff)
	}
}

func TestKramdownAsRecorded(t *testing.T) {
	t.Parallel()
	root, want := richDocument(t)
	if diff := cmp.Diff(want, normalize(markup.Kramdown(root))); diff != "" {
		t.Errorf("kramdown (-recorded +got):\n%s", diff)
	}
	var answer kramdown
	decodeRecorded(t, "blocks_rich", 7, &struct{}{}, &answer)
	if diff := cmp.Diff(normalize(answer.Kramdown), normalize(markup.Textmark(root))); diff != "" {
		t.Errorf("kramdown with text marks (-recorded +got):\n%s", diff)
	}
}

func TestDOMAsRecorded(t *testing.T) {
	t.Parallel()
	root, _ := richDocument(t)
	var answer struct{ Content string }
	decodeRecorded(t, "blocks_rich", 8, &struct{}{}, &answer)
	place := regexp.MustCompile(` data-node-index="\d+"`) // getDoc counts blocks from 0
	lines := func(dom string) []string {
		return strings.SplitAfter(place.ReplaceAllString(dom, ""), ">")
	}
	dom := markup.DOMs(root.Children)
	if diff := cmp.Diff(lines(answer.Content), lines(dom)); diff != "" {
		t.Errorf("DOM (-recorded +got):\n%s", diff)
	}
	back := &tree.Block{Kind: tree.Doc, Attrs: root.Attrs, Children: markup.ParseDOM(dom)}
	if diff := cmp.Diff(markup.Kramdown(root), markup.Kramdown(back)); diff != "" {
		t.Errorf("the DOM is read as another document (-written +read):\n%s", diff)
	}
}

func TestSpinAsRecorded(t *testing.T) {
	t.Parallel()
	var request, answer struct{ DOM string }
	decodeRecorded(t, "blocks_rich", 20, &request, &answer)
	blocks := markup.ParseDOM(request.DOM)
	if len(blocks) != 1 || blocks[0].Text != "**typed** markdown" || blocks[0].ID != "20240707070707-spindom" {
		t.Errorf("read as %+v", blocks[0])
	}
	blocks[0].Attrs["updated"] = "20240707070707"
	if diff := cmp.Diff(answer.DOM, markup.DOM(blocks[0])); diff != "" {
		t.Errorf("DOM (-recorded +got):\n%s", diff)
	}
}

// TestFilesStayTheSame reads .sy files of a kernel and checks that they are written with the same bytes.
func TestFilesStayTheSame(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.sy")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	for _, name := range files {
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		root, err := markup.ReadSY(want, func(id, why string) { t.Errorf("%s: %s", id, why) })
		if err != nil {
			t.Fatal(err)
		}
		nodes := func(data []byte) []string { return strings.SplitAfter(string(data), "},") }
		if diff := cmp.Diff(nodes(want), nodes(markup.SY(&tree.Document{Root: root}))); diff != "" {
			t.Errorf("%s (-file +written):\n%s", name, diff)
		}
	}
}

func TestParseSYErrors(t *testing.T) {
	t.Parallel()
	for _, data := range []string{"", "[]", `{"Type":"NodeParagraph"}`, `{"Type":"NodeDocument","ID":"x"}`, `{"Children":[null]}`} {
		if root, err := markup.ParseSY([]byte(data)); err == nil {
			t.Errorf("%q was read as %+v", data, root)
		}
	}
}
