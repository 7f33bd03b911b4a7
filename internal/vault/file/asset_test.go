package file_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
)

// stringsIn returns the strings in a JSON array.
func stringsIn(list gjson.Result) []string {
	found := []string{}
	for _, item := range list.Array() {
		found = append(found, item.Str)
	}
	return found
}

// unusedAssets returns the addresses of the assets that the vault lists as unused.
func (w *fixture) unusedAssets() []string {
	w.t.Helper()
	found := []string{}
	for _, item := range w.call(0, "/api/asset/getUnusedAssets", object{}).Array() {
		found = append(found, item.Get("item").Str)
	}
	return found
}

// kramdown returns a block as Markdown with attribute lists.
func (w *fixture) kramdown(id string) string {
	w.t.Helper()
	return w.call(0, "/api/block/getBlockKramdown", object{"id": id}).Get("kramdown").Str
}

func TestUploadNames(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	for name, want := range map[string]string{
		"red square.png":                  "red square-ID.png",
		"蓝色.png":                          "蓝色-ID.png",
		"we?ird*:na#me%20.txt":            "we_ird__name20-ID.txt",
		"x.tar.gz":                        "x.tar-ID.gz",
		"noext":                           "noext-ID",
		"CON":                             "CON-ID",
		"tab\tname.txt":                   "tab_name-ID.txt",
		"\u202egnp.exe":                   "_gnp-ID.exe",
		"dot.":                            "dot-ID",
		strings.Repeat("长", 200) + ".png": strings.Repeat("长", 66) + "-ID.png",
	} {
		address := w.uploadAsset(name, name)
		if len(address) > len("assets/")+255 {
			t.Errorf("%s: a name of %d bytes", name, len(address))
		}
		at := strings.LastIndex(address, "-")
		at = strings.LastIndex(address[:at], "-")
		if got := strings.TrimPrefix(address[:at+1]+"ID"+address[at+23:], "assets/"); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestUploadTwice(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	first := w.uploadAsset("a.png", "bytes")
	if again := w.uploadAsset("a.png", "bytes"); again != first {
		t.Errorf("the same file is stored again: %s, %s", first, again)
	}
	if other := w.uploadAsset("a.png", "other"); other == first {
		t.Error("other bytes are taken for the same")
	}
	if other := w.uploadAsset("b.png", "bytes"); other == first {
		t.Error("another name is taken for the same")
	}
	if first, again := w.uploadAsset("empty", ""), w.uploadAsset("empty", ""); first == again {
		t.Error("empty files are taken for the same")
	}
}

// TestUnused uses assets in all ways that notes have: in links, HTML, covers, databases and closed notebooks. None of these
// may be removed, whatever their addresses look like in the text.
func TestUnused(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	open, closed := w.createNotebook("Open"), w.createNotebook("Closed 关")
	spaced, html, cover := w.uploadAsset("红 square.png", "1"), w.uploadAsset("v.mp4", "2"), w.uploadAsset("cover (1).png", "3")
	link, hidden, cell, loose := w.uploadAsset("l.txt", "4"), w.uploadAsset("h.png", "5"), w.uploadAsset("cell & co.png", "6"), w.uploadAsset("loose.png", "7")
	pdf := w.uploadAsset("p.pdf", "8")
	w.putFile("/data/"+pdf+".sya", "{}")
	doc := w.createDoc(open, "/Doc", "![x]("+strings.ReplaceAll(spaced, " ", "%20")+")\n\n[l]("+link+" \"t\")\n\n<video src=\""+html+"\"></video>\n\n"+
		"<<"+pdf+"/20240101000000-annota1 \"marked\">>")
	w.call(0, "/api/attr/setBlockAttrs", object{"id": doc, "attrs": object{"title-img": `background-image:url("` + cover + `")`}})
	w.createDoc(closed, "/Doc", "![x]("+hidden+")")
	w.call(0, "/api/notebook/closeNotebook", object{"notebook": closed})
	w.putFile("/data/storage/av/20240101000000-aaaaaaa.json", `{"mAsset":[{"content":"`+cell+`"}]}`)

	want := []string{loose, spaced} // SiYuan does not see escapes
	slices.Sort(want)
	if diff := cmp.Diff(want, w.unusedAssets()); diff != "" {
		t.Errorf("unused (-want +got):\n%s", diff)
	}
	w.call(0, "/api/asset/removeUnusedAsset", object{"path": loose})
	if diff := cmp.Diff([]string{spaced}, w.unusedAssets()); diff != "" {
		t.Errorf("unused after a removal (-want +got):\n%s", diff)
	}
	for _, a := range []string{spaced, html, cover, link, hidden, cell, pdf, pdf + ".sya"} {
		if _, ok := w.readFile("/data/" + a); !ok {
			t.Errorf("%s is gone although it is used", a)
		}
	}
}

func TestUnusedFolders(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	box := w.createNotebook("N")
	for _, p := range []string{"/data/assets/sub/a.png", "/data/assets/sub/deep/b c.png", "/data/assets/free/c.png"} {
		w.putFile(p, p)
	}
	w.createDoc(box, "/Doc", "![](assets/sub/deep/b%20c.png)")
	w.call(-1, "/api/asset/removeUnusedAsset", object{"path": "assets/sub"})
	for _, p := range []string{"assets/free", "assets/sub/a.png"} {
		w.call(0, "/api/asset/removeUnusedAsset", object{"path": p})
		if _, ok := w.readFile("/data/" + p); ok {
			t.Errorf("%s is still there", p)
		}
	}
	if _, ok := w.readFile("/data/assets/sub/deep/b c.png"); !ok {
		t.Error("a used asset went with its folder")
	}
	w.call(0, "/api/asset/removeUnusedAsset", object{"path": "assets/sub/deep/b c.png"})
	w.call(0, "/api/asset/removeUnusedAsset", object{"path": "assets/sub"})
}

// TestRename checks that every use of a renamed asset gets the new name, however it is written, and that nothing else changes.
func TestRename(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	open, closed := w.createNotebook("Open"), w.createNotebook("Closed")
	old := w.uploadAsset("红 a.png", "1")
	other := old[:len(old)-4] + "x.png"
	w.putFile("/data/"+other, "2")
	encoded := strings.ReplaceAll(strings.ReplaceAll(old, " ", "%20"), "红", "%e7%BA%a2")
	doc := w.createDoc(open, "/Doc", "![x]("+encoded+" \"t\")\n\n![y]("+strings.ReplaceAll(other, " ", "%20")+")\n\n```\n"+old+"\n```")
	w.call(0, "/api/attr/setBlockAttrs", object{"id": doc, "attrs": object{"title-img": "url(" + old + ")", "custom-x": other}})
	inside := w.createDoc(closed, "/In", "[z]("+encoded+")")
	w.call(0, "/api/notebook/closeNotebook", object{"notebook": closed})
	w.putFile("/data/storage/av/20240101000000-aaaaaaa.json", `{"content":"`+old+`"}`)
	w.call(0, "/api/asset/setImageOCRText", object{"path": old, "text": "文字"})

	renamed := w.call(0, "/api/asset/renameAsset", object{"oldPath": old, "newName": "new 新/b"}).Get("newPath").Str
	if !strings.HasPrefix(renamed, "assets/new 新_b-") || !strings.HasSuffix(renamed, ".png") {
		t.Fatalf("renamed to %q", renamed)
	}
	if got, _ := w.readFile("/data/" + renamed); got != "1" {
		t.Errorf("the file holds %q", got)
	}
	if _, ok := w.readFile("/data/" + old); ok {
		t.Error("the old file is still there")
	}
	text := w.kramdown(doc)
	escaped := "assets/new%20%E6%96%B0_b-" + strings.TrimPrefix(renamed, "assets/new 新_b-")
	for _, want := range []string{"![x](" + escaped + ` "t")`, strings.ReplaceAll(other, " ", "%20"), other} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if strings.Contains(text, old) || strings.Contains(text, encoded) {
		t.Errorf("the old name is still in\n%s", text)
	}
	if got, _ := w.readFile("/data/storage/av/20240101000000-aaaaaaa.json"); strings.Contains(got, old) || !strings.Contains(got, "new") {
		t.Errorf("the database holds %s", got)
	}
	if got := w.call(0, "/api/asset/getImageOCRText", object{"path": renamed}).Get("text").Str; got != "文字" {
		t.Errorf("the recognised text is %q", got)
	}
	w.call(0, "/api/notebook/openNotebook", object{"notebook": closed})
	if text := w.kramdown(inside); !strings.Contains(text, escaped) {
		t.Errorf("the closed notebook holds\n%s", text)
	}
	if diff := cmp.Diff([]string{escaped}, stringsIn(w.call(0, "/api/asset/getDocAssets", object{"id": inside}))); diff != "" {
		t.Errorf("assets (-want +got):\n%s", diff)
	}
}

// TestRenameKeepsLinks checks that an image can still be read when its new name has characters that must be escaped.
func TestRenameKeepsLinks(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	box := w.createNotebook("N")
	old := w.uploadAsset("a.png", "1")
	doc := w.createDoc(box, "/Doc", "![x]("+old+")")
	w.call(0, "/api/asset/renameAsset", object{"oldPath": old, "newName": "b c 改"})
	got := stringsIn(w.call(0, "/api/asset/getDocImageAssets", object{"id": doc}))
	if len(got) != 1 || !strings.Contains(got[0], "b") {
		t.Errorf("assets after the renaming: %q in %s", got, w.kramdown(doc))
	}
	w.call(0, "/api/asset/renameAsset", object{"oldPath": "assets/none.png", "newName": "x"})
	w.call(-1, "/api/asset/renameAsset", object{"oldPath": "", "newName": "x"})
}

// TestAnnotationsGoWithTheirAsset checks that the file of annotations (.sya) is removed with its PDF.
func TestAnnotationsGoWithTheirAsset(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	pdf := w.uploadAsset("p.pdf", "1")
	w.putFile("/data/"+pdf+".sya", `{"a":1}`)
	w.call(0, "/api/asset/removeUnusedAsset", object{"path": pdf})
	if _, ok := w.readFile("/data/" + pdf + ".sya"); ok {
		t.Error("what was marked in a PDF outlives it")
	}
}

func TestLargeAsset(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	data := bytes.Repeat([]byte("0123456789"), 300_000)
	address := w.uploadAsset("big.bin", string(data))
	if got, _ := w.readFile("/data/" + address); got != string(data) {
		t.Errorf("%d bytes came back", len(got))
	}
}
