package file_test

import (
	"net/http"
	"strings"
	"testing"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/internal/tool"
)

// missingAsset is an asset that no workspace has.
const missingAsset = "assets/nothing-20240101120000-zzzzzzz.png"

// assetActions are the actions on one asset, and the level they need.
var assetActions = []struct {
	name  string
	level access.Level
	args  func(path string) string
}{
	{"get_image_ocr_text", access.Read, func(p string) string { return args("path", p) }},
	{"export_resources", access.Read, func(p string) string { return args("paths", []string{"/data/" + p}) }},
	{"rename_asset", access.Write, func(p string) string { return args("oldPath", p, "newName", "new 新") }},
	{"delete_asset", access.Delete, func(p string) string { return args("path", p, "force", true) }},
}

// TestAssetLevels: all notebooks that use an asset need the level, and a hidden one among them hides the asset.
func TestAssetLevels(t *testing.T) {
	for _, need := range assetActions {
		for open := access.None; open <= access.Delete; open++ {
			for other := access.None; other <= access.Delete; other++ {
				t.Run(need.name+" "+open.String()+" "+other.String(), func(t *testing.T) {
					w := newWorkspace(t)
					w.Levels[w.openNotebook], w.Levels[w.otherNotebook] = open, other
					allowed := min(open, other) >= need.level
					switch {
					case allowed:
						w.mustRun(need.name, need.args(sharedAsset))
					case open == access.None || other == access.None:
						w.wantRefused(need.name, need.args(sharedAsset), tool.NotFound)
					default:
						w.wantRefused(need.name, need.args(sharedAsset), tool.Denied)
					}
				})
			}
		}
	}
}

// TestHiddenAsset: an asset that a hidden notebook uses, alone or with others, is treated like a missing one, and so is an
// asset in the folder of such a notebook.
func TestHiddenAsset(t *testing.T) {
	w := newWorkspace(t).hideOther()
	for _, need := range assetActions {
		missing := w.wantRefused(need.name, need.args(missingAsset), tool.NotFound)
		for _, p := range []string{otherAsset, w.otherFolderAsset, sharedAsset} {
			hidden := w.wantRefused(need.name, need.args(p), tool.NotFound)
			actiontest.SameRefusal(t, hidden, missing, p, missingAsset)
		}
	}
}

// TestSpellings makes sure that no way to write a name hides a use of it.
func TestSpellings(t *testing.T) {
	for _, markdown := range []string{
		"assets/%E7%BA%A2%20x.png", "assets/红%20x.png", "assets/%e7%ba%a2%20x.png", "assets/%E7%BA%A2%20x.png?page=1", "assets/红%20x.png#top",
	} {
		t.Run(markdown, func(t *testing.T) {
			w := newWorkspace(t)
			w.File("/data/assets/红 x.png", []byte("x"))
			w.Doc(string(w.otherNotebook), "/Use", "![x]("+markdown+")")
			w.hideOther()
			for _, p := range []string{"assets/红 x.png", "assets/红%20x.png", "assets/%E7%BA%A2%20x.png"} {
				for _, need := range assetActions {
					w.wantRefused(need.name, need.args(p), tool.NotFound)
				}
			}
		})
	}
}

// TestMentionedAsset: a use that is not in the index of assets protects the asset too, such as the cover of a document in
// another notebook.
func TestMentionedAsset(t *testing.T) {
	w := newWorkspace(t)
	if err := w.Client.SetAttrs(t.Context(), w.otherDoc, map[string]string{"title-img": `background-image:url(` + shownAsset + `)`}); err != nil {
		t.Fatal(err)
	}
	w.Levels[w.otherNotebook] = access.Read
	w.wantRefused("rename_asset", args("oldPath", shownAsset, "newName", "x"), tool.Denied)
	w.hideOther()
	missing := w.wantRefused("get_image_ocr_text", args("path", missingAsset), tool.NotFound)
	actiontest.SameRefusal(t, w.wantRefused("get_image_ocr_text", args("path", shownAsset), tool.NotFound), missing, shownAsset, missingAsset) // though the open notebook shows it
	w.wantRefused("delete_asset", args("path", shownAsset, "force", true), tool.NotFound)
}

// TestUnownedAsset: an asset that no document shows, and that SiYuan does not list as unused, may belong to any notebook.
func TestUnownedAsset(t *testing.T) {
	w := newWorkspace(t)
	w.mustRun("get_image_ocr_text", args("path", unusedAsset))
	w.hideOther()
	w.mustRun("get_image_ocr_text", args("path", unusedAsset)) // unused, so it belongs to no notebook

	if err := w.Client.CloseNotebook(t.Context(), w.otherNotebook); err != nil {
		t.Fatal(err)
	}
	missing := w.wantRefused("get_image_ocr_text", args("path", missingAsset), tool.NotFound)
	for _, p := range []string{otherAsset, unusedAsset} { // both may belong to the closed notebook
		actiontest.SameRefusal(t, w.wantRefused("get_image_ocr_text", args("path", p), tool.NotFound), missing, p, missingAsset)
		w.wantRefused("delete_asset", args("path", p), tool.NotFound)
	}
	w.Levels[w.otherNotebook] = access.Read
	w.mustRun("get_image_ocr_text", args("path", otherAsset))
}

// TestLateUse: a use that the index does not have yet counts.
func TestLateUse(t *testing.T) {
	w := newWorkspace(t)
	w.DelayIndex(true)
	w.Doc(string(w.otherNotebook), "/Late", "![x]("+shownAsset+")") // as a person would write it, in the editor
	w.hideOther()
	w.wantRefused("delete_asset", args("path", shownAsset, "force", true), tool.NotFound)
}

// TestHiddenFolder: a path that begins with a hidden notebook does not exist, whoever shows it.
func TestHiddenFolder(t *testing.T) {
	w := newWorkspace(t)
	w.Doc(string(w.openNotebook), "/Show", "![x](assets/own-20240101120000-fffffff.png)")
	w.mustRun("get_image_ocr_text", args("path", w.otherFolderAsset))
	w.hideOther()
	w.wantRefused("get_image_ocr_text", args("path", w.otherFolderAsset), tool.NotFound)
}

func TestNotebookFolder(t *testing.T) {
	w := newWorkspace(t)
	w.Levels[w.otherNotebook] = access.Read
	w.mustRun("get_image_ocr_text", args("path", w.otherFolderAsset))
	w.wantRefused("rename_asset", args("oldPath", w.otherFolderAsset, "newName", "x"), tool.Denied)
	if kernel.ID(w.otherFolderAsset[:22]) != w.otherNotebook {
		t.Error("the fixture is not what it seems")
	}
}

// TestRemnants: the index keeps rows of a notebook that another program has removed. Such rows must not make an asset of a
// hidden notebook readable.
func TestRemnants(t *testing.T) {
	w := newWorkspace(t).hideOther()
	gone := w.Notebook("Gone")
	w.Doc(gone, "/Doc", "![c]("+otherAsset+")")
	w.DelayIndex(true)
	answer, err := http.Post(w.URL()+"/api/notebook/removeNotebook", "application/json", strings.NewReader(args("notebook", gone)))
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	w.Fail("/api/sqlite/flushTransaction", 2, kerneltest.FailEmpty) // on a real kernel a flush does not remove those rows
	missing := w.wantRefused("get_image_ocr_text", args("path", missingAsset), tool.NotFound)
	actiontest.SameRefusal(t, w.wantRefused("get_image_ocr_text", args("path", otherAsset), tool.NotFound), missing, otherAsset, missingAsset)
}
