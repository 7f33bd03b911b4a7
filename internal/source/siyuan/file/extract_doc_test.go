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

// tree lists the files below a local folder, with slashes.
func tree(t *testing.T, dir string) []string {
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
	name := "Doc 文档-" + string(w.doc[len(w.doc)-7:])
	dir := filepath.Join(w.dir, "siyuan-extracted", name)
	want := []string{".collie-extract", "Doc 文档.md", shared, shown, spacedAddress}
	slices.Sort(want)
	for range 2 { // the second time over the first
		w.run("extract_doc", args("id", w.doc)).is(args("outputRoot", filepath.Dir(dir), "defaultOutputDirUsed", true, "extractedDir", dir,
			"docMdFile", filepath.Join(dir, "Doc 文档.md"), "extractedAssetCount", 3, "skippedAssetCount", 0,
			"structure", []string{"Doc 文档.md", shown, spacedAddress, shared}))
		if got := tree(t, dir); !slices.Equal(got, want) {
			t.Errorf("extracted %q, want %q", got, want)
		}
	}
	raw, err := os.ReadFile(filepath.Join(dir, spacedAddress))
	if err != nil || string(raw) != "content of "+spacedAddress {
		t.Errorf("asset: %q, %v", raw, err)
	}
	missing := w.refused("extract_doc", args("id", actiontest.Nowhere), tool.NotFound)
	w.hide()
	actiontest.SameRefusal(t, w.refused("extract_doc", args("id", w.their), tool.NotFound), missing, string(w.their), actiontest.Nowhere)
	if got := tree(t, w.dir); slices.ContainsFunc(got, func(p string) bool { return strings.Contains(p, "CANARY") }) {
		t.Errorf("a hidden document was written: %q", got)
	}
	w.run("extract_doc", args("id", w.doc)).is(args("outputRoot", filepath.Dir(dir), "defaultOutputDirUsed", true, "extractedDir", dir,
		"docMdFile", filepath.Join(dir, "Doc 文档.md"), "extractedAssetCount", 2, "skippedAssetCount", 1,
		"skippedAssets", []any{map[string]any{"path": shared, "reason": "there is no such file"}}, "structure", []string{"Doc 文档.md", shown, spacedAddress}))
}

// TestExtractDocKeeps: nothing that was not made by an extraction is ever removed
// or written over.
func TestExtractDocKeeps(t *testing.T) {
	w := newWorkspace(t)
	w.local("out/mine.txt", "mine")
	name := "out/Doc 文档-" + string(w.doc[len(w.doc)-7:])
	w.local(name+"/mine.txt", "mine") // somebody's own folder of the same name
	w.Refused(t, act(t, "extract_doc"), args("id", w.doc, "outputDir", "out"), tool.Exists)
	if err := os.Remove(filepath.Join(w.dir, name, "mine.txt")); err != nil {
		t.Fatal(err)
	}
	w.run("extract_doc", args("id", w.doc, "outputDir", "out"))

	w.local(name+"/mine.txt", "mine")
	w.local(name+"/.collie-extract", "../mine.txt\n../../mine2.txt\n/etc/hostname\n"+shown+"\nDoc 文档.md\n"+spacedAddress+"\n")
	w.local("mine2.txt", "mine")
	w.run("extract_doc", args("id", w.doc, "outputDir", "out")).is(args("extractedAssetCount", 2, "skippedAssetCount", 1)) // shared is not in the marker
	for _, p := range []string{"out/mine.txt", "mine2.txt", name + "/mine.txt"} {
		if raw, err := os.ReadFile(filepath.Join(w.dir, filepath.FromSlash(p))); err != nil || string(raw) != "mine" {
			t.Errorf("%s: %q, %v", p, raw, err)
		}
	}
}

// TestExtractDocLinks: a folder that leads elsewhere is not written to.
func TestExtractDocLinks(t *testing.T) {
	w := newWorkspace(t)
	outside := t.TempDir()
	name := "Doc 文档-" + string(w.doc[len(w.doc)-7:])
	if err := os.Symlink(outside, filepath.Join(w.dir, name)); err != nil {
		t.Skip("no symbolic links here")
	}
	w.Refused(t, act(t, "extract_doc"), args("id", w.doc, "outputDir", w.dir), kernel.InvalidPath)
	if err := os.Remove(filepath.Join(w.dir, name)); err != nil {
		t.Fatal(err)
	}
	w.local(name+"/.collie-extract", "")
	if err := os.Symlink(outside, filepath.Join(w.dir, name, "assets")); err != nil {
		t.Fatal(err)
	}
	if got, err := w.Do(t, act(t, "extract_doc"), args("id", w.doc, "outputDir", w.dir)); err == nil {
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
		`![x](` + shown + ` "a title")`, `<img src="assets/tag-20240101120000-aaaaaaa.png" width="3">`, "[out](assets/../conf.json)",
		"[enc](assets/%2e%2e/conf.json)", "[gone](" + nothing + ")", "[web](https://example.com/assets/a.png)",
		"![h](" + w.own + ")", "`![code](" + loose + ")`",
	}, "\n\n")
	id := kernel.ID(w.Doc(string(w.nb), "/..", md))
	near := string(w.nb) + "/" + string(w.doc) + "/assets/near-20240101120000-aaaaaaa.png"
	w.File("/data/"+near, []byte("near"))
	w.hide()
	got := w.Must(t, act(t, "extract_doc"), args("id", id))
	if got.Get("extractedAssetCount").Int() != 2 || got.Get("skippedAssetCount").Int() != 4 {
		t.Errorf("extracted: %s", got.Raw)
	}
	if dir := got.Get("extractedDir").String(); filepath.Dir(dir) != filepath.Join(w.dir, "siyuan-extracted") || strings.HasPrefix(filepath.Base(dir), ".") {
		t.Errorf("extracted to %s", dir)
	}
	if p := filepath.Join(w.dir, "siyuan-extracted", "conf.json"); exists(p) {
		t.Error("a name led out of the folder")
	}
	child := kernel.ID(w.Doc(string(w.nb), "/Doc 文档/Child", "![n](assets/near-20240101120000-aaaaaaa.png)"))
	w.run("extract_doc", args("id", child)).is(args("extractedAssetCount", 1))
}

func exists(p string) bool {
	_, err := os.Stat(p)
	return err == nil
}

func TestExtractDocLocalFilesOff(t *testing.T) {
	w := newWorkspace(t)
	w.Files.Allowed = false
	w.refused("extract_doc", args("id", w.doc), tool.Denied)
	w.Files.Allowed = true
	w.Levels[w.nb] = access.Read
	w.run("extract_doc", args("id", w.doc))
}
