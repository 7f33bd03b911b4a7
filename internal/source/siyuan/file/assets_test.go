package file_test

import (
	"encoding/json"
	"strings"
	"testing"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/internal/tool"
)

const ghost = "20990101000000-zzzzzzz"

// TestDeleteAsset covers R-1-19: the kernel would delete any path, used or not.
func TestDeleteAsset(t *testing.T) {
	w := newWorld(t)
	w.refused("delete_asset", args("path", shown), tool.Conflicting)
	w.refused("delete_asset", args("path", spaced), tool.Conflicting) // SiYuan calls it unused, since it is written as %20
	w.refused("delete_asset", args("path", "assets/sub"), tool.Unknown)
	w.run("delete_asset", args("path", loose)).is(args("success", true, "path", loose))
	if w.exists(loose) || !w.exists(shown) {
		t.Error("the wrong file is gone")
	}
	w.run("delete_asset", args("path", strings.ReplaceAll(spaced, " ", "%20"), "force", true))
	if w.exists(spaced) {
		t.Error("a name with an escape was not found")
	}
	w.refused("delete_asset", args("path", loose), tool.Unknown)
}

func TestDeleteAssetWithoutEffect(t *testing.T) {
	w := newWorld(t)
	w.Fail("/api/asset/removeUnusedAsset", 1, kerneltest.FailMessage("permission denied"))
	w.Refused(t, act(t, "delete_asset"), args("path", loose), tool.API)
	w.Fail("/api/asset/removeUnusedAsset", 1, kerneltest.FailLost)
	w.Refused(t, act(t, "delete_asset"), args("path", loose), tool.OutcomeUnknown)
}

func TestRenameAsset(t *testing.T) {
	w := newWorld(t)
	got := w.Must(t, act(t, "rename_asset"), args("oldPath", shown, "newName", "新 plan.PNG"))
	renamed := got.Get("newPath").String()
	if !strings.HasPrefix(renamed, "assets/新 plan-") || !strings.HasSuffix(renamed, ".png") || !w.exists(renamed) || w.exists(shown) {
		t.Errorf("renamed: %s", got.Raw)
	}
	w.refused("rename_asset", args("oldPath", shown, "newName", "x"), tool.Unknown) // the kernel would answer code 0
}

// TestRenameAssetNames covers R-1-24 for the new name: the kernel takes anything.
func TestRenameAssetNames(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{" ", "..", "../x", "a/b", `a\b`, ".hidden", "a\x00b", "a%2fb", "．．", "x.", "a:b", "x.sy", "con", strings.Repeat("a", 300), "#", ".png"} {
		w.refused("rename_asset", args("oldPath", shown, "newName", name), tool.Invalid)
	}
}

func TestListUnusedAssets(t *testing.T) {
	w := newWorld(t)
	// The folder assets/sub and the asset that is written as %20 are in the kernel's list.
	w.run("list_unused_assets", "{}").is(args("assets", []string{loose}, "count", 1))
	w.hide()
	w.run("list_unused_assets", "{}").is(args("assets", []string{loose}, "count", 1))
	if err := w.Client.CloseNotebook(t.Context(), w.other); err != nil {
		t.Fatal(err)
	}
	got := w.Must(t, act(t, "list_unused_assets"), "{}")
	if strings.Contains(got.Raw, "CANARY") || got.Get("count").Int() != 0 || !got.Get("partial").Bool() {
		t.Errorf("assets of a closed hidden notebook are listed: %s", got.Raw)
	}
	w.Fail("/api/asset/getUnusedAssets", 1, kerneltest.FailEmpty)
	w.refused("list_unused_assets", "{}", tool.NotInKernel)
}

// TestRemoveUnusedAssets covers R-1-24: d in every notebook, and what is used stays although
// the kernel calls it unused.
func TestRemoveUnusedAssets(t *testing.T) {
	w := newWorld(t)
	for _, low := range []access.Level{access.None, access.Read, access.Write} {
		w.Levels[w.other] = low
		e := w.refused("remove_unused_assets", "{}", tool.Denied)
		if low == access.None && strings.Contains(string(e.Payload()), string(w.other)) {
			t.Errorf("names the hidden notebook: %s", e.Payload())
		}
	}
	w.Levels[w.other] = access.Delete
	w.run("remove_unused_assets", "{}").is(args("removed", []string{loose}, "count", 1, "kept", []string{spaced}))
	if !w.exists(spaced) || w.exists(loose) {
		t.Error("the wrong files are gone")
	}
}

func TestRemoveUnusedAssetsAtOnce(t *testing.T) {
	w := newWorld(t)
	w.run("delete_asset", args("path", spaced, "force", true))
	w.Must(t, act(t, "remove_unused_assets"), "{}")
	w.run("remove_unused_assets", "{}").is(args("success", true, "removed", []string{}, "count", 0))
	if w.exists(loose) {
		t.Error("an unused asset is still there")
	}
}

func TestGetDocAssets(t *testing.T) {
	w := newWorld(t)
	escaped := strings.ReplaceAll(spaced, " ", "%20")
	w.run("get_doc_assets", args("id", w.doc)).is(args("id", w.doc, "assets", []string{shown, escaped, shared}, "count", 3, "assetType", "all"))
	w.run("get_doc_assets", args("id", w.doc, "assetType", "image")).is(args("assets", []string{shown, escaped}, "count", 2))
	blocks, err := w.Client.ChildBlocks(t.Context(), w.doc)
	if err != nil {
		t.Fatal(err)
	}
	w.run("get_doc_assets", args("id", blocks[0].ID)).is(args("id", w.doc, "count", 3))
	missing := w.refused("get_doc_assets", args("id", ghost), tool.Unknown)
	w.hide()
	same(t, w.refused("get_doc_assets", args("id", w.their), tool.Unknown), missing, string(w.their), ghost)
	w.refused("get_doc_assets", args("id", "x"), tool.Unknown)
}

func TestGetImageOCRText(t *testing.T) {
	w := newWorld(t)
	w.recognised(spaced, "识别 text")
	for _, p := range []string{spaced, strings.ReplaceAll(spaced, " ", "%20")} {
		w.run("get_image_ocr_text", args("path", p)).is(args("path", p, "text", "识别 text"))
	}
	w.run("get_image_ocr_text", args("path", shown)).is(args("text", ""))
	w.refused("get_image_ocr_text", args("path", nothing), tool.Unknown)
	w.refused("get_image_ocr_text", "{}", tool.Invalid)
}

// recognised sets the text of an image as SiYuan's interface does.
func (w *world) recognised(path, text string) {
	w.t.Helper()
	body, err := json.Marshal(map[string]string{"path": path, "text": text})
	if err != nil {
		w.t.Fatal(err)
	}
	w.post("/api/asset/setImageOCRText", string(body))
}
