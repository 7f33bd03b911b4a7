package file_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// listFiles lists the files below a local folder, with slashes.
func listFiles(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(dir, p)
			out = append(out, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(out)
	return out
}

func TestExtractDoc(t *testing.T) {
	w := newWorkspace(t)
	name := "Doc 文档-" + string(w.openDoc[len(w.openDoc)-7:])
	dir := filepath.Join(w.localDir, "siyuan-extracted", name)
	want := []string{".collie-extract", "Doc 文档.md", sharedAsset, shownAsset, spacedAsset}
	slices.Sort(want)
	for range 2 { // the second time over the first
		w.mustRun("extract_doc", args("id", w.openDoc)).wantMembers(args("outputRoot", filepath.Dir(dir), "defaultOutputDirUsed", true, "extractedDir", dir,
			"docMdFile", filepath.Join(dir, "Doc 文档.md"), "extractedAssetCount", 3, "skippedAssetCount", 0,
			"structure", []string{"Doc 文档.md", shownAsset, spacedAsset, sharedAsset}))
		if got := listFiles(t, dir); !slices.Equal(got, want) {
			t.Errorf("extracted %q, want %q", got, want)
		}
	}
	raw, err := os.ReadFile(filepath.Join(dir, spacedAsset))
	if err != nil || string(raw) != "content of "+spacedAsset {
		t.Errorf("asset: %q, %v", raw, err)
	}
	missing := w.wantRefused("extract_doc", args("id", actiontest.Nowhere), tool.NotFound)
	w.hideOther()
	actiontest.SameRefusal(t, w.wantRefused("extract_doc", args("id", w.otherDoc), tool.NotFound), missing, string(w.otherDoc), actiontest.Nowhere)
	if got := listFiles(t, w.localDir); slices.ContainsFunc(got, func(p string) bool { return strings.Contains(p, "CANARY") }) {
		t.Errorf("a hidden document was written: %q", got)
	}
	w.mustRun("extract_doc", args("id", w.openDoc)).wantMembers(args("outputRoot", filepath.Dir(dir), "defaultOutputDirUsed", true, "extractedDir", dir,
		"docMdFile", filepath.Join(dir, "Doc 文档.md"), "extractedAssetCount", 2, "skippedAssetCount", 1,
		"skippedAssets", []any{map[string]any{"path": sharedAsset, "reason": "there is no such file"}}, "structure", []string{"Doc 文档.md", shownAsset, spacedAsset}))
}

// TestExtractDocAgain: a document is written over its earlier extraction whatever its title, and however long the list of its
// files.
func TestExtractDocAgain(t *testing.T) {
	w := newWorkspace(t)
	id := kernel.ID(w.Doc(string(w.openNotebook), "/foo／..／bar", "first ![a]("+shownAsset+")"))
	dir := w.Must(t, findAction(t, "extract_doc"), args("id", id)).Get("extractedDir").Str
	w.mustRun("extract_doc", args("id", id)).wantMembers(args("extractedDir", dir, "structure", []string{"foo／..／bar.md", shownAsset}))

	marker := filepath.Join(dir, ".collie-extract")
	raw, err := os.ReadFile(marker)
	if err != nil {
		t.Fatal(err)
	}
	gone := strings.Repeat("assets/"+strings.Repeat("x", 200)+"/", 4) + "gone.png\n" // the files of a much longer text
	if err := os.WriteFile(marker, append([]byte(strings.Repeat(gone, 1<<20/len(gone)+1)), raw...), 0o600); err != nil {
		t.Fatal(err)
	}
	w.mustRun("extract_doc", args("id", id)).wantMembers(args("extractedDir", dir, "structure", []string{"foo／..／bar.md", shownAsset}))
	if now, err := os.ReadFile(marker); err != nil || string(now) != string(raw) {
		t.Errorf("the marker is %q, %v, want %q", now, err, raw)
	}
}

// TestExtractDocKeeps: nothing that was not made by an extraction is ever removed
// or written over.
func TestExtractDocKeeps(t *testing.T) {
	w := newWorkspace(t)
	w.writeLocal("out/mine.txt", "mine")
	name := "out/Doc 文档-" + string(w.openDoc[len(w.openDoc)-7:])
	w.writeLocal(name+"/mine.txt", "mine") // somebody's own folder of the same name
	w.Refused(t, findAction(t, "extract_doc"), args("id", w.openDoc, "outputDir", "out"), tool.Exists)
	if err := os.Remove(filepath.Join(w.localDir, name, "mine.txt")); err != nil {
		t.Fatal(err)
	}
	w.mustRun("extract_doc", args("id", w.openDoc, "outputDir", "out"))

	w.writeLocal(name+"/mine.txt", "mine")
	w.writeLocal(name+"/.collie-extract", "../mine.txt\n../../mine2.txt\n/etc/hostname\n"+shownAsset+"\nDoc 文档.md\n"+spacedAsset+"\n")
	w.writeLocal("mine2.txt", "mine")
	w.mustRun("extract_doc", args("id", w.openDoc, "outputDir", "out")).wantMembers(args("extractedAssetCount", 2, "skippedAssetCount", 1)) // shared is not in the marker
	for _, p := range []string{"out/mine.txt", "mine2.txt", name + "/mine.txt"} {
		if raw, err := os.ReadFile(filepath.Join(w.localDir, filepath.FromSlash(p))); err != nil || string(raw) != "mine" {
			t.Errorf("%s: %q, %v", p, raw, err)
		}
	}
}

// TestExtractDocLinks: a folder that leads elsewhere is not written to.
func TestExtractDocLinks(t *testing.T) {
	w := newWorkspace(t)
	outside := t.TempDir()
	name := "Doc 文档-" + string(w.openDoc[len(w.openDoc)-7:])
	if err := os.Symlink(outside, filepath.Join(w.localDir, name)); err != nil {
		t.Skip("no symbolic links here")
	}
	w.Refused(t, findAction(t, "extract_doc"), args("id", w.openDoc, "outputDir", w.localDir), kernel.InvalidPath)
	if err := os.Remove(filepath.Join(w.localDir, name)); err != nil {
		t.Fatal(err)
	}
	w.writeLocal(name+"/.collie-extract", "")
	if err := os.Symlink(outside, filepath.Join(w.localDir, name, "assets")); err != nil {
		t.Fatal(err)
	}
	if got, err := w.Do(t, findAction(t, "extract_doc"), args("id", w.openDoc, "outputDir", w.localDir)); err == nil {
		t.Errorf("wrote through a link: %s", got.Raw)
	}
	if list, err := os.ReadDir(outside); err != nil || len(list) != 0 {
		t.Errorf("something was written outside: %v, %v", list, err)
	}
}

// TestExtractDocAssets: an asset is found however a text writes it, and no name leads anywhere
// else.
func TestExtractDocAssets(t *testing.T) {
	w := newWorkspace(t)
	w.File("/data/assets/tag-20240101120000-aaaaaaa.png", []byte("t"))
	w.File("/data/conf.json", []byte("token"))
	md := strings.Join([]string{
		`![x](` + shownAsset + ` "a title")`, `<img src="assets/tag-20240101120000-aaaaaaa.png" width="3">`, "[out](assets/../conf.json)",
		"[enc](assets/%2e%2e/conf.json)", "[gone](" + missingAsset + ")", "[web](https://example.com/assets/a.png)",
		"![h](" + w.otherFolderAsset + ")", "`![code](" + unusedAsset + ")`",
	}, "\n\n")
	id := kernel.ID(w.Doc(string(w.openNotebook), "/..", md))
	near := string(w.openNotebook) + "/" + string(w.openDoc) + "/assets/near-20240101120000-aaaaaaa.png"
	w.File("/data/"+near, []byte("near"))
	w.hideOther()
	got := w.Must(t, findAction(t, "extract_doc"), args("id", id))
	if got.Get("extractedAssetCount").Int() != 2 || got.Get("skippedAssetCount").Int() != 4 {
		t.Errorf("extracted: %s", got.Raw)
	}
	if dir := got.Get("extractedDir").String(); filepath.Dir(dir) != filepath.Join(w.localDir, "siyuan-extracted") || strings.HasPrefix(filepath.Base(dir), ".") {
		t.Errorf("extracted to %s", dir)
	}
	if p := filepath.Join(w.localDir, "siyuan-extracted", "conf.json"); localFileExists(p) {
		t.Error("a name led out of the folder")
	}
	child := kernel.ID(w.Doc(string(w.openNotebook), "/Doc 文档/Child", "![n](assets/near-20240101120000-aaaaaaa.png)"))
	w.mustRun("extract_doc", args("id", child)).wantMembers(args("extractedAssetCount", 1))
}

func localFileExists(p string) bool {
	_, err := os.Stat(p)
	return err == nil
}

func TestExtractDocLocalFilesOff(t *testing.T) {
	w := newWorkspace(t)
	w.Files.Allowed = false
	w.wantRefused("extract_doc", args("id", w.openDoc), tool.Denied)
	w.Files.Allowed = true
	w.Levels[w.openNotebook] = access.Read
	w.mustRun("extract_doc", args("id", w.openDoc))
}
