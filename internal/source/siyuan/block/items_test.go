package block_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/internal/tool"
)

// childTypes returns the types of the blocks right below id.
func (w *workspace) childTypes(id kernel.ID) []string {
	w.t.Helper()
	list, err := w.Client.ChildBlocks(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	var out []string
	for _, b := range list {
		out = append(out, b.Type+b.SubType)
	}
	return out
}

// A kernel would put only the first item beside an item, and a paragraph or a list directly into a list.
func TestWhatGoesIntoAListIsItsItems(t *testing.T) {
	for _, c := range []struct{ name, action, anchor, data, want string }{
		{"behind an item", "insert", "previousID", "- x\n- y\n\n  - z\n- u", "- a\n- x\n- y\n\n  - z\n- u\n- b"},
		{"before an item", "insert", "nextID", "- x\n- y", "- x\n- y\n- a\n- b"},
		{"first", "insert", "parentID", "- x\n- y", "- x\n- y\n- a\n- b"},
		{"prepended", "prepend", "parentID", "1. x\n2. y", "- x\n- y\n- a\n- b"},
		{"appended", "append", "parentID", "* x\n* y", "- a\n- b\n- x\n- y"},
		{"text behind an item", "insert", "previousID", "x 文\n\ny", "- a\n- x 文\n\n  y\n- b"},
		{"text appended", "append", "parentID", "x", "- a\n- b\n- x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorkspace(t, "- a\n- b\n\nend")
			at := w.blocks[0]
			if c.anchor != "parentID" {
				at = w.Children(w.t, at)[0]
			}
			got := w.Must(t, findAction(t, c.action), args("dataType", "markdown", "data", c.data, c.anchor, at))
			if diff := cmp.Diff([]string{c.want, "end"}, w.Texts(w.t, w.doc)); diff != "" {
				t.Errorf("document (-want +got):\n%s", diff)
			}
			for _, typ := range w.childTypes(w.blocks[0]) {
				if typ != "iu" {
					t.Errorf("the list holds %v", w.childTypes(w.blocks[0]))
				}
			}
			now := w.Children(w.t, w.blocks[0])
			for _, id := range idsIn(got.Get("createdBlockIDs")) {
				if !slices.Contains(now, id) {
					t.Errorf("created %s, the list has %v", got.Get("createdBlockIDs"), now)
				}
			}
			if n := len(got.Get("createdBlockIDs").Array()); n != len(now)-2 {
				t.Errorf("%d created, the list has %d items more", n, len(now)-2)
			}
		})
	}
}

func TestNewItemsAreOfTheKindOfTheirList(t *testing.T) {
	w := newWorkspace(t, "1. a\n2. b\n\n- [ ] c\n- [X] d")
	numbered, tasks := w.blocks[0], w.blocks[1]
	w.Must(t, findAction(t, "append"), args("dataType", "markdown", "data", "e\n\nf", "parentID", numbered))
	w.Must(t, findAction(t, "append"), args("dataType", "markdown", "data", "- g", "parentID", numbered))
	w.Must(t, findAction(t, "append"), args("dataType", "markdown", "data", "h", "parentID", tasks))
	want := []string{"1. a\n2. b\n3. e\n\n   f\n4. g", "- [ ] c\n- [X] d\n- [ ] h"}
	if diff := cmp.Diff(want, w.Texts(w.t, w.doc)); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
}

func TestListsHoldItemsOnly(t *testing.T) {
	w := newWorkspace(t, "- a\n\npara")
	item := w.Children(w.t, w.blocks[0])[0]
	w.Refused(w.t, findAction(t, "insert"), args("dataType", "markdown", "data", "- x\n\ny", "previousID", item), tool.Invalid)
	const p = `<div data-node-id="20240801120000-aaaaaaa" data-type="NodeParagraph" class="p"><div contenteditable="true">x</div></div>`
	const li = `<div data-marker="*" data-subtype="u" data-node-id="20240801120000-bbbbbbb" data-type="NodeListItem" class="li">` + p + `</div>`
	w.Refused(w.t, findAction(t, "append"), args("dataType", "dom", "data", p, "parentID", w.blocks[0]), tool.Invalid)
	w.Refused(w.t, findAction(t, "update"), args("id", item, "dataType", "dom", "data", p), tool.Invalid)
	w.Refused(w.t, findAction(t, "insert"), args("dataType", "dom", "data", li, "previousID", w.blocks[1]), tool.Invalid)
	w.Refused(w.t, findAction(t, "update"), args("id", w.blocks[1], "dataType", "dom", "data", li), tool.Invalid)
	w.Must(t, findAction(t, "append"), args("dataType", "dom", "data", li, "parentID", w.blocks[0]))
	if diff := cmp.Diff([]string{"- a\n- x", "para"}, w.Texts(w.t, w.doc)); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
}

func TestUpdateOfAnItemIsAnItem(t *testing.T) {
	w := newWorkspace(t, "1. a\n2. b\n\n- [X] c\n- [ ] d")
	b, c := w.Children(w.t, w.blocks[0])[1], w.Children(w.t, w.blocks[1])[0]
	w.setAttrs(b, map[string]string{"memo": "m"})
	a := findAction(t, "update")
	w.Must(t, a, args("id", b, "dataType", "markdown", "data", "plain 文\n\nmore"))
	w.Must(t, a, args("id", c, "dataType", "markdown", "data", "done"))
	want := []string{"1. a\n2. plain 文\n\n   more", "- [X] done\n- [ ] d"}
	if diff := cmp.Diff(want, w.Texts(w.t, w.doc)); diff != "" || w.attrs(b)["memo"] != "m" {
		t.Errorf("attributes %v, document (-want +got):\n%s", w.attrs(b), diff)
	}
	w.Must(t, a, args("id", b, "dataType", "markdown", "data", "- bullet\n  - below"))
	w.Must(t, a, args("id", c, "dataType", "markdown", "data", "- [ ] not done"))
	want = []string{"1. a\n2. bullet\n\n   - below", "- [ ] not done\n- [ ] d"}
	if diff := cmp.Diff(want, w.Texts(w.t, w.doc)); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
}

// SiYuan 3.7.3 answers with all blocks of a text, but writes only the first, if the parent is a super block.
func TestInsertFirstIntoASuperBlock(t *testing.T) {
	w := newWorkspace(t, "{{{row\na\n\nb\n}}}")
	got := w.Must(t, findAction(t, "insert"), args("dataType", "markdown", "data", "x\n\ny", "parentID", w.blocks[0]))
	if diff := cmp.Diff([]string{"x", "y", "a", "b"}, w.Texts(w.t, w.blocks[0])); diff != "" || got.Get("createdBlockIDs.#").Int() != 2 {
		t.Errorf("result %s (-want +got):\n%s", got.Raw, diff)
	}
}

// droppingTransport is a transport behind which the kernel answers the first insertion with all blocks of its text, but keeps
// only the first of them.
type droppingTransport struct {
	w    *workspace
	once bool
	then func() // runs after that, unless nil
}

func (d *droppingTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil || d.once || req.URL.Path != "/api/block/insertBlock" {
		return resp, err
	}
	d.once = true
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(raw))
	var answer struct{ Data []kernel.Transaction }
	if err := json.Unmarshal(raw, &answer); err != nil {
		return nil, err
	}
	blocks := kernel.InsertedBlocks(answer.Data[0])
	if len(blocks) == 1 {
		blocks = blocks[0].Blocks
	}
	k := kernel.New(d.w.URL(), kernel.Options{Token: kerneltest.Token})
	defer k.Close()
	for _, b := range blocks[1:] {
		if err := k.Delete(req.Context(), b.ID); err != nil {
			return nil, err
		}
	}
	if d.then != nil {
		d.then()
	}
	return resp, k.Flush(req.Context())
}

func TestInsertAddsWhatTheKernelDropped(t *testing.T) {
	for _, c := range []struct{ name, data, want string }{
		{"blocks", "x\n\n- y\n- z\n\nu", "x|- y\n- z|u"},
		{"items", "- x\n- y\n\n  z\n- u", "- x\n- y\n\n  z\n- u"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorkspace(t, "- a\n\nend")
			w.Client = kernel.New(w.URL(), kernel.Options{Token: kerneltest.Token, Transport: &droppingTransport{w: w}})
			t.Cleanup(w.Client.Close)
			at := w.blocks[0]
			want := "- a|" + c.want + "|end"
			if c.name == "items" {
				at, want = w.Children(w.t, at)[0], "- a\n"+c.want+"|end"
			}
			got, err := w.Do(t, findAction(t, "insert"), args("dataType", "markdown", "data", c.data, "previousID", at))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, strings.Join(w.Texts(w.t, w.doc), "|")); diff != "" || got.Get("createdBlockIDs.#").Int() != 3 {
				t.Errorf("result %s (-want +got):\n%s", got.Raw, diff)
			}
		})
	}
}

func TestInsertReportsWhatItCouldNotAdd(t *testing.T) {
	w := newWorkspace(t, "a")
	d := &droppingTransport{w: w, then: func() { w.Fail("/api/block/insertBlock", 1, kerneltest.FailMessage("no")) }}
	w.Client = kernel.New(w.URL(), kernel.Options{Token: kerneltest.Token, Transport: d})
	t.Cleanup(w.Client.Close)
	e := asToolError(t, w.Failed(t, findAction(t, "insert"), args("dataType", "markdown", "data", "x\n\ny text\n\nz", "previousID", w.blocks[0]), kernel.API))
	rest, _ := e.Facts["notWritten"].(string)
	if len(kernel.ParseDOM(rest)) != 2 || len(e.Facts["createdBlockIDs"].([]kernel.ID)) != 1 {
		t.Errorf("error: %s", e.Payload())
	}
}
