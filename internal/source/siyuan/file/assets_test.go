package file_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/internal/tool"
)

// TestDeleteAsset: the kernel would delete any path, used or not.
func TestDeleteAsset(t *testing.T) {
	w := newWorkspace(t)
	w.wantRefused("delete_asset", args("path", shownAsset), tool.Conflicting)
	w.wantRefused("delete_asset", args("path", spacedAsset), tool.Conflicting) // SiYuan calls it unused, since it is written as %20
	w.wantRefused("delete_asset", args("path", "assets/sub"), tool.NotFound)
	w.mustRun("delete_asset", args("path", unusedAsset)).wantMembers(args("success", true, "path", unusedAsset))
	if w.hasFile(unusedAsset) || !w.hasFile(shownAsset) {
		t.Error("the wrong file is gone")
	}
	w.mustRun("delete_asset", args("path", strings.ReplaceAll(spacedAsset, " ", "%20"), "force", true))
	if w.hasFile(spacedAsset) {
		t.Error("a name with an escape was not found")
	}
	w.wantRefused("delete_asset", args("path", unusedAsset), tool.NotFound)
}

func TestDeleteAssetWithoutEffect(t *testing.T) {
	w := newWorkspace(t)
	w.Fail("/api/asset/removeUnusedAsset", 1, kerneltest.FailMessage("permission denied"))
	w.Failed(t, findAction(t, "delete_asset"), args("path", unusedAsset), kernel.API)
	w.Fail("/api/asset/removeUnusedAsset", 1, kerneltest.FailLost)
	w.Failed(t, findAction(t, "delete_asset"), args("path", unusedAsset), kernel.OutcomeUnknown)
}

func TestRenameAsset(t *testing.T) {
	w := newWorkspace(t)
	got := w.Must(t, findAction(t, "rename_asset"), args("oldPath", shownAsset, "newName", "新 plan.PNG"))
	renamed := got.Get("newPath").String()
	if !strings.HasPrefix(renamed, "assets/新 plan-") || !strings.HasSuffix(renamed, ".png") || !w.hasFile(renamed) || w.hasFile(shownAsset) {
		t.Errorf("renamed: %s", got.Raw)
	}
	w.wantRefused("rename_asset", args("oldPath", shownAsset, "newName", "x"), tool.NotFound) // the kernel would answer code 0
}

// TestRenameAssetOverNone: a name that ends in an id must not overwrite the asset that has that name.
func TestRenameAssetOverNone(t *testing.T) {
	w := newWorkspace(t).hideOther()
	for _, name := range []string{"CANARY-20240101120000-ddddddd", "CANARY-20240101120000-ddddddd.png", "CANARY_2024010112000#0-ddddddd"} {
		if strings.Contains(name, "#") {
			w.wantRefused("rename_asset", args("oldPath", shownAsset, "newName", name), tool.Invalid)
			continue
		}
		got := w.Must(t, findAction(t, "rename_asset"), args("oldPath", shownAsset, "newName", name))
		if now := got.Get("newPath").Str; now == otherAsset || !strings.HasPrefix(now, "assets/CANARY-") || strings.Contains(now, "ddddddd") {
			t.Errorf("%s: %s", name, got.Raw)
		}
		w.Must(t, findAction(t, "rename_asset"), args("oldPath", got.Get("newPath").Str, "newName", "plan"))
		w.File("/data/"+shownAsset, []byte("again"))
	}
	if raw, err := w.Client.ReadFile(t.Context(), "/data/"+otherAsset); err != nil || string(raw) != "content of "+otherAsset {
		t.Errorf("an asset of a hidden notebook was written over: %q %v", raw, err)
	}
}

// TestRenameAssetInFolder: SiYuan knows an asset in the folder of a notebook or document by the path that documents write.
func TestRenameAssetInFolder(t *testing.T) {
	w := newWorkspace(t)
	id := kernel.ID(w.Doc(string(w.otherNotebook), "/Show", "![x](assets/own-20240101120000-fffffff.png)"))
	got := w.Must(t, findAction(t, "rename_asset"), args("oldPath", w.otherFolderAsset, "newName", "自己的"))
	renamed := got.Get("newPath").Str
	if !strings.HasPrefix(renamed, string(w.otherNotebook)+"/assets/自己的-") || !w.hasFile(renamed) || w.hasFile(w.otherFolderAsset) {
		t.Errorf("%s", got.Raw)
	}
	if text, err := w.Client.Kramdown(t.Context(), id); err != nil || !strings.Contains(text, "](assets/自己的-") {
		t.Errorf("the document: %s %v", text, err)
	}
	w.File("/data/"+renamed[len(w.otherNotebook)+1:], []byte("another"))
	w.wantRefused("rename_asset", args("oldPath", renamed, "newName", "x"), tool.Conflicting)
}

// TestRenameAssetOfAnotherFolder: if documents write the paths of several files alike, SiYuan renames one of them, which
// may belong to another notebook.
func TestRenameAssetOfAnotherFolder(t *testing.T) {
	w := newWorkspace(t)
	alike := strings.Replace(w.otherFolderAsset, string(w.otherNotebook), string(w.openNotebook), 1)
	deep := string(w.openNotebook) + "/" + string(w.openDoc) + "/assets/own-20240101120000-fffffff.png"
	for _, p := range []string{alike, deep} {
		w.File("/data/"+p, []byte(p))
	}
	refused := 0
	for _, p := range []string{w.otherFolderAsset, alike, deep} {
		if _, err := w.Do(t, findAction(t, "rename_asset"), args("oldPath", p, "newName", "x")); tool.KindOf(err) == tool.Conflicting {
			refused++
			if !w.hasFile(p) {
				t.Errorf("%s was refused, and is gone", p)
			}
		} else if err != nil || w.hasFile(p) {
			t.Errorf("%s: %v", p, err)
		}
	}
	if refused == 0 {
		t.Error("each of three files of one name was the one that SiYuan renames")
	}
}

// TestChangesInClosedNotebooks: SiYuan rewrites closed notebooks, and no index shows which files they
// use.
func TestChangesInClosedNotebooks(t *testing.T) {
	w := newWorkspace(t)
	if err := w.Client.CloseNotebook(t.Context(), w.otherNotebook); err != nil {
		t.Fatal(err)
	}
	for _, level := range []access.Level{access.None, access.Read} {
		w.Levels[w.otherNotebook] = level
		w.wantRefused("rename_asset", args("oldPath", sharedAsset, "newName", "x"), tool.Denied)
		w.wantRefused("delete_asset", args("path", sharedAsset, "force", true), tool.Denied)
	}
	w.Levels[w.otherNotebook] = access.Delete
	w.mustRun("rename_asset", args("oldPath", sharedAsset, "newName", "x"))
}

// TestChangesInDatabases: a database of a notebook without the level uses the asset as well.
func TestChangesInDatabases(t *testing.T) {
	w := newWorkspace(t)
	const database = "20240801120000-avmain1"
	w.File("/data/storage/av/"+database+".json", []byte(`{"id":"`+database+`","spec":5,"name":"`+shownAsset+`","keyValues":[],"views":[]}`))
	show := func(doc kernel.ID, block string) {
		t.Helper()
		dom := `<div class="av" data-node-id="` + block + `" data-av-id="` + database + `" data-type="NodeAttributeView" data-av-type="table"></div>`
		if _, err := w.Client.Append(t.Context(), doc, "dom", dom); err != nil {
			t.Fatal(err)
		}
	}
	w.hideOther()
	w.wantRefused("rename_asset", args("oldPath", shownAsset, "newName", "x"), tool.Denied) // no block shows it: it may be anyone's
	show(w.openDoc, "20240801120000-blockav")
	got := w.Must(t, findAction(t, "rename_asset"), args("oldPath", shownAsset, "newName", "plan"))
	w.File("/data/storage/av/"+database+".json", []byte(`{"id":"`+database+`","spec":5,"name":"`+got.Get("newPath").Str+`","keyValues":[],"views":[]}`))
	show(w.otherDoc, "20240801120000-blocktw")
	w.wantRefused("rename_asset", args("oldPath", got.Get("newPath").Str, "newName", "x"), tool.NotFound)
	w.wantRefused("delete_asset", args("path", got.Get("newPath").Str, "force", true), tool.NotFound)
	w.wantRefused("get_image_ocr_text", args("path", got.Get("newPath").Str), tool.NotFound)
}

// TestRenameAssetKeepsBlocks: a block whose text would be parsed as several blocks stays one block.
func TestRenameAssetKeepsBlocks(t *testing.T) {
	w := newWorkspace(t)
	escaped := strings.ReplaceAll(spacedAsset, " ", "%20")
	id := kernel.ID(w.Doc(string(w.openNotebook), "/HTML", "first"))
	html := `<div data-node-id="20240801120000-htmlblk" data-type="NodeHTMLBlock" class="render-node" data-subtype="block"><div class="protyle-icons"></div><div>` +
		`<protyle-html data-content="&lt;div&gt;\n&lt;img src=&quot;` + escaped + `&quot;&gt;\n\nsecond\n\n&lt;b&gt;third&lt;/b&gt;\n&lt;/div&gt;"></protyle-html></div><div class="protyle-attr"></div></div>`
	text := `<div data-node-id="20240801120000-textblk" data-type="NodeParagraph" class="p" memo="kept"><div contenteditable="true">` +
		"# no heading " + escaped + "\n1. no list\n* no item</div></div>"
	if _, err := w.Client.Append(t.Context(), id, "dom", strings.ReplaceAll(html+text, "\\n", "\n")); err != nil {
		t.Fatal(err)
	}
	got := w.Must(t, findAction(t, "rename_asset"), args("oldPath", spacedAsset, "newName", "new name"))
	after, err := w.Client.Kramdown(t.Context(), id)
	if err != nil || got.Get("warning").Exists() || strings.Contains(after, "bbbbbbb") {
		t.Errorf("%s %v:\n%s", got.Raw, err, after)
	}
	for _, part := range []string{"second", "<b>third</b>\n</div>", "no list\n", "no item", `memo="kept"`} {
		if !strings.Contains(after, part) {
			t.Errorf("%q is gone:\n%s", part, after)
		}
	}
	if blocks, err := w.Client.ChildBlocks(t.Context(), id); err != nil || len(blocks) != 3 {
		t.Errorf("%d blocks, %v", len(blocks), err)
	}
}

// TestRenameAssetEverywhere: blocks that write the path with escapes follow as well.
func TestRenameAssetEverywhere(t *testing.T) {
	w := newWorkspace(t)
	escaped := strings.ReplaceAll(spacedAsset, " ", "%20")
	full := "assets/%E7%BA%A2%20plan-20240101120000-bbbbbbb.png"
	id := kernel.ID(w.Doc(string(w.openNotebook), "/Uses", strings.Join([]string{
		`<div><img src="` + escaped + `"></div>`, "- ![x](" + escaped + ` "标题") **b** [l](` + full + ")", "| h |\n| --- |\n| ![x](" + escaped + ") |",
		"![x](<" + spacedAsset + ">)",
	}, "\n\n")))
	uses, err := w.Client.BlocksContaining(t.Context(), []string{escaped, full})
	if err != nil || len(uses) < 4 {
		t.Fatalf("%v use it with escapes, %v", uses, err)
	}
	plain := w.Client
	w.Client = kernel.New(w.URL(), kernel.Options{Token: kerneltest.Token, Transport: literalRename{plain, uses}})
	t.Cleanup(w.Client.Close)
	got, err := w.Do(t, findAction(t, "rename_asset"), args("oldPath", spacedAsset, "newName", "新 名字"))
	if err != nil {
		t.Fatal(err)
	}
	renamed := got.Get("newPath").Str
	after, err := w.Client.Kramdown(t.Context(), id)
	if err != nil || got.Get("staleBlocks").Exists() || got.Get("warning").Exists() {
		t.Errorf("%s %v", got.Raw, err)
	}
	if strings.Contains(after, "bbbbbbb") || strings.Count(after, strings.ReplaceAll(renamed, " ", "%20")) < 3 {
		t.Errorf("renamed to %s:\n%s", renamed, after)
	}
}

// literalRename makes the test kernel rewrite only blocks that write the path exactly as the file is called, as SiYuan does: it
// restores the other blocks.
type literalRename struct {
	kernel *kernel.Client
	uses   []kernel.ContainingBlock
}

func (l literalRename) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Path != "/api/asset/renameAsset" {
		return http.DefaultTransport.RoundTrip(r)
	}
	var ids []kernel.ID
	for _, u := range l.uses {
		ids = append(ids, u.ID)
	}
	texts, err := l.kernel.Kramdowns(r.Context(), ids, "md")
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	var back []kernel.Replacement
	for id, text := range texts {
		back = append(back, kernel.Replacement{ID: id, BlockContent: kernel.BlockContent{DataType: "markdown", Data: text}})
	}
	if _, err := l.kernel.BatchUpdate(r.Context(), back); err != nil {
		return nil, errors.Join(err, resp.Body.Close())
	}
	return resp, nil
}

// TestRenameAssetNames checks that invalid new names are refused, because the kernel takes any name.
func TestRenameAssetNames(t *testing.T) {
	w := newWorkspace(t)
	for _, name := range []string{" ", "..", "../x", "a/b", `a\b`, ".hidden", "a\x00b", "a%2fb", "．．", "x.", "a:b", "x.sy", "con", strings.Repeat("a", 300), "#", ".png"} {
		w.wantRefused("rename_asset", args("oldPath", shownAsset, "newName", name), tool.Invalid)
	}
}

func TestListUnusedAssets(t *testing.T) {
	w := newWorkspace(t)
	// The folder assets/sub and the asset that is written as %20 are in the kernel's list.
	w.mustRun("list_unused_assets", "{}").wantMembers(args("assets", []string{w.otherFolderAsset, unusedAsset}, "count", 2))
	w.hideOther()
	w.mustRun("list_unused_assets", "{}").wantMembers(args("assets", []string{unusedAsset}, "count", 1))
	if err := w.Client.CloseNotebook(t.Context(), w.otherNotebook); err != nil {
		t.Fatal(err)
	}
	got := w.Must(t, findAction(t, "list_unused_assets"), "{}")
	if strings.Contains(got.Raw, "CANARY") || got.Get("count").Int() != 0 || !got.Get("partial").Bool() {
		t.Errorf("assets of a closed hidden notebook are listed: %s", got.Raw)
	}
	w.Fail("/api/asset/getUnusedAssets", 1, kerneltest.FailEmpty)
	w.wantRefused("list_unused_assets", "{}", kernel.NotInKernel)
}

// TestRemoveUnusedAssets: the action needs rwd in every notebook, and assets in use stay even if the kernel calls them
// unused.
func TestRemoveUnusedAssets(t *testing.T) {
	w := newWorkspace(t)
	for _, low := range []access.Level{access.None, access.Read, access.Write} {
		w.Levels[w.otherNotebook] = low
		e := w.wantRefused("remove_unused_assets", "{}", tool.Denied)
		if low == access.None && strings.Contains(string(e.Payload()), string(w.otherNotebook)) {
			t.Errorf("names the hidden notebook: %s", e.Payload())
		}
	}
	w.Levels[w.otherNotebook] = access.Delete
	w.mustRun("remove_unused_assets", "{}").wantMembers(args("removed", []string{w.otherFolderAsset, unusedAsset}, "count", 2, "kept", []string{spacedAsset}))
	if !w.hasFile(spacedAsset) || w.hasFile(unusedAsset) || w.hasFile(w.otherFolderAsset) {
		t.Error("the wrong files are gone")
	}
}

// TestRemoveUnusedAssetsKeeps: what a document names is never removed, however it writes the name, though the kernel
// sees none of these uses.
func TestRemoveUnusedAssetsKeeps(t *testing.T) {
	w := newWorkspace(t)
	kept := []string{"assets/f h.png", "assets/html b.png", "assets/link 中.pdf", "assets/video v.mp4"}
	for _, p := range append(kept, "assets/closed c.png") {
		w.File("/data/"+p, []byte(p))
	}
	w.Doc(string(w.openNotebook), "/Uses", strings.Join([]string{
		`<div><img src="assets/html%20b.png"></div>`, `<video controls src="assets/video%20v.mp4"></video>`,
		"[x](assets/link%20%E4%B8%AD.pdf)", "[x](assets/f%20h.png#top)",
	}, "\n\n"))
	closed := w.Notebook("Closed")
	w.Doc(closed, "/C", "![x](assets/closed%20c.png)")
	w.mustRun("remove_unused_assets", "{}").wantMembers(args("kept", append([]string{"assets/closed c.png"}, append(kept, spacedAsset)...)))
	if err := w.Client.CloseNotebook(t.Context(), kernel.ID(closed)); err != nil {
		t.Fatal(err)
	}
	w.mustRun("remove_unused_assets", "{}")
	w.wantRefused("delete_asset", args("path", "assets/closed c.png"), tool.Conflicting)
	for _, p := range append(kept, "assets/closed c.png", spacedAsset) {
		if !w.hasFile(p) {
			t.Errorf("%s is gone, and a document shows it", p)
		}
	}
}

// TestRemoveUnusedAssetsBeyondTheList: the kernel names 512 at most, and would remove the others as well.
func TestRemoveUnusedAssetsBeyondTheList(t *testing.T) {
	w := newWorkspace(t)
	const many = kernel.MaxUnusedAssets + 20
	for i := range many {
		if err := w.Client.WriteFile(t.Context(), fmt.Sprintf("/data/assets/data/many-%04d.txt", i), []byte{byte(i), byte(i >> 8)}); err != nil {
			t.Fatal(err)
		}
	}
	got := w.Must(t, findAction(t, "remove_unused_assets"), "{}")
	if got.Get("count").Int() != many+2 || !strings.HasPrefix(got.Get("removed.1").Str, "assets/data/many-") || !w.hasFile(spacedAsset) {
		t.Errorf("%d of %d are gone, and %s is there: %v", got.Get("count").Int(), many+2, spacedAsset, w.hasFile(spacedAsset))
	}
	reads := 0
	for _, c := range w.Calls() {
		if c.Path == "/api/file/readDir" {
			reads++
		}
	}
	if reads > 60 {
		t.Errorf("folders are read %d times", reads)
	}
}

// TestRemoveUnusedAssetsPartly: the removed files are listed although the rest failed.
func TestRemoveUnusedAssetsPartly(t *testing.T) {
	w := newWorkspace(t)
	w.File("/data/assets/first.txt", []byte("1"))
	before := w.Client
	w.Client = kernel.New(w.URL(), kernel.Options{Token: kerneltest.Token, Transport: failingRemoval{unusedAsset}})
	t.Cleanup(w.Client.Close)
	err := w.Failed(t, findAction(t, "remove_unused_assets"), "{}", kernel.API)
	e, ok := errors.AsType[*tool.Error](err)
	if removed, _ := e.Facts["removed"].([]string); !ok || !slices.Contains(removed, "assets/first.txt") {
		t.Errorf("%v: %v", err, e.Facts)
	}
	w.Client = before
	if w.hasFile("assets/first.txt") || !w.hasFile(unusedAsset) {
		t.Error("the wrong files are gone")
	}
}

// failingRemoval makes a kernel refuse to remove one asset.
type failingRemoval struct{ asset string }

func (f failingRemoval) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Path != "/api/asset/removeUnusedAsset" {
		return http.DefaultTransport.RoundTrip(r)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	if strings.Contains(string(body), f.asset) {
		answer := `{"code":-1,"msg":"permission denied","data":null}`
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(answer)), Request: r}, nil
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return http.DefaultTransport.RoundTrip(r)
}

// TestUnusedAssetsOfDatabases: a database that writes a name with escapes uses the asset.
func TestUnusedAssetsOfDatabases(t *testing.T) {
	w := newWorkspace(t)
	w.File("/data/assets/data base.png", []byte("x"))
	w.File("/data/storage/av/20240801120000-avmain1.json", []byte(`{"id":"20240801120000-avmain1","spec":5,"name":"assets/data%20base.png","keyValues":[],"views":[]}`))
	w.wantRefused("delete_asset", args("path", "assets/data base.png"), tool.Conflicting)
	w.mustRun("remove_unused_assets", "{}").wantMembers(args("kept", []string{"assets/data base.png", spacedAsset}))
	if !w.hasFile("assets/data base.png") {
		t.Error("it is gone")
	}
}

func TestRemoveUnusedAssetsAtOnce(t *testing.T) {
	w := newWorkspace(t)
	w.mustRun("delete_asset", args("path", spacedAsset, "force", true))
	w.Must(t, findAction(t, "remove_unused_assets"), "{}")
	w.mustRun("remove_unused_assets", "{}").wantMembers(args("success", true, "removed", []string{}, "count", 0))
	if w.hasFile(unusedAsset) {
		t.Error("an unused asset is still there")
	}
}

func TestGetDocAssets(t *testing.T) {
	w := newWorkspace(t)
	escaped := strings.ReplaceAll(spacedAsset, " ", "%20")
	w.mustRun("get_doc_assets", args("id", w.openDoc)).wantMembers(args("id", w.openDoc, "assets", []string{shownAsset, escaped, sharedAsset}, "count", 3, "assetType", "all"))
	w.mustRun("get_doc_assets", args("id", w.openDoc, "assetType", "image")).wantMembers(args("assets", []string{shownAsset, escaped}, "count", 2))
	twice := w.Doc(string(w.openNotebook), "/Twice", "![a]("+shownAsset+")\n\n![b]("+shownAsset+")")
	w.mustRun("get_doc_assets", args("id", twice, "assetType", "image")).wantMembers(args("assets", []string{shownAsset}, "count", 1))
	blocks, err := w.Client.ChildBlocks(t.Context(), w.openDoc)
	if err != nil {
		t.Fatal(err)
	}
	w.mustRun("get_doc_assets", args("id", blocks[0].ID)).wantMembers(args("id", w.openDoc, "count", 3))
	missing := w.wantRefused("get_doc_assets", args("id", actiontest.Nowhere), tool.NotFound)
	w.hideOther()
	actiontest.SameRefusal(t, w.wantRefused("get_doc_assets", args("id", w.otherDoc), tool.NotFound), missing, string(w.otherDoc), actiontest.Nowhere)
	w.wantRefused("get_doc_assets", args("id", "x"), tool.NotFound)
}

func TestGetImageOCRText(t *testing.T) {
	w := newWorkspace(t)
	w.setOCRText(spacedAsset, "识别 text")
	for _, p := range []string{spacedAsset, strings.ReplaceAll(spacedAsset, " ", "%20")} {
		w.mustRun("get_image_ocr_text", args("path", p)).wantMembers(args("path", p, "text", "识别 text"))
	}
	w.mustRun("get_image_ocr_text", args("path", shownAsset)).wantMembers(args("text", ""))
	w.wantRefused("get_image_ocr_text", args("path", missingAsset), tool.NotFound)
	w.wantRefused("get_image_ocr_text", "{}", tool.Invalid)
}

// setOCRText sets the text of an image as SiYuan's interface does.
func (w *workspace) setOCRText(path, text string) {
	w.t.Helper()
	w.Post(w.t, "/api/asset/setImageOCRText", map[string]any{"path": path, "text": text})
}
