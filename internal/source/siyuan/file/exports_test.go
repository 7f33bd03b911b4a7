package file_test

import (
	"archive/zip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/internal/tool"
)

func TestExportMD(t *testing.T) {
	w := newWorkspace(t)
	got := w.Must(t, findAction(t, "export_md"), args("id", w.openDoc))
	if got.Get("hPath").String() != "/Doc 文档" || !strings.Contains(got.Get("content").String(), "![plan]("+shownAsset) {
		t.Errorf("exported: %s", got.Raw)
	}
	missing := w.wantRefused("export_md", args("id", actiontest.Nowhere), tool.NotFound)
	w.hideOther()
	actiontest.SameRefusal(t, w.wantRefused("export_md", args("id", w.otherDoc), tool.NotFound), missing, string(w.otherDoc), actiontest.Nowhere)
}

// TestExportHidesOthers: the kernel writes into an export what references point to and what
// queries find, from any notebook.
func TestExportHidesOthers(t *testing.T) {
	w := newWorkspace(t)
	embed := kernel.ID(w.Doc(string(w.openNotebook), "/Embed", "{{select * from blocks where id='"+string(w.otherDoc)+"'}}"))
	w.ResetCalls()
	w.mustRun("export_md", args("id", embed))
	w.mustRun("export_md", args("id", w.openDoc))
	for _, c := range w.Calls() {
		if c.Path == "/api/export/exportMdContent" && c.Get("refMode").Exists() {
			t.Errorf("settings of the user are overruled though nothing is hidden: %s", c.Body)
		}
	}
	w.hideOther()
	w.wantRefused("export_md", args("id", embed), tool.Denied)
	w.wantRefused("extract_doc", args("id", embed), tool.Denied)
	w.ResetCalls()
	w.mustRun("export_md", args("id", w.openDoc))
	i := slices.IndexFunc(w.Calls(), func(c kerneltest.Call) bool { return c.Path == "/api/export/exportMdContent" })
	if i < 0 || w.Calls()[i].Get("refMode").Int() != 2 {
		t.Errorf("references are not made links: %v", w.Calls())
	}
}

// TestExportResources: only assets, emojis and templates can be exported.
func TestExportResources(t *testing.T) {
	w := newWorkspace(t)
	got := w.Must(t, findAction(t, "export_resources"), args("paths", []string{"/data/" + shownAsset, spacedAsset, "/data/emojis/a.png", "/data/templates"}, "name", "我的 zip"))
	if p := got.Get("path").String(); !strings.HasPrefix(p, "temp/export/") || !strings.HasSuffix(p, "-我的 zip.zip") {
		t.Errorf("exported: %s", got.Raw)
	}
	for _, p := range []string{
		"/conf/conf.json", "/data/storage/av/x.json", "/data/storage", "/data/" + string(w.openNotebook), "/data/" + string(w.openNotebook) + "/.siyuan/conf.json",
		"/data/" + string(w.openNotebook) + "/" + string(w.openDoc) + ".sy", "/data", "/data/", "/", "/temp", "/data/plugins", "/data/widgets/x",
	} {
		w.wantRefused("export_resources", args("paths", []string{"/data/" + shownAsset, p}), kernel.InvalidPath)
	}
	for _, name := range []string{"a/b", "..", `a\b`, ".x", "%2e", "a:b"} {
		w.wantRefused("export_resources", args("paths", []string{shownAsset}, "name", name), tool.Invalid)
	}
	w.wantRefused("export_resources", args("paths", []string{missingAsset}), tool.NotFound)
	// SiYuan packs files by name alone, so of two files of one name the second would replace the first.
	w.File("/data/emojis/sub/"+shownAsset[len("assets/"):], []byte("another"))
	w.wantRefused("export_resources", args("paths", []string{shownAsset, "/data/emojis/sub/" + shownAsset[len("assets/"):]}), tool.Conflicting)
	w.mustRun("export_resources", args("paths", []string{shownAsset, "/data/" + shownAsset}))
}

// TestExportResourcesFolder: a folder may hold anyone's assets.
func TestExportResourcesFolder(t *testing.T) {
	w := newWorkspace(t)
	w.mustRun("export_resources", args("paths", []string{"/data/assets/", "/data/" + string(w.otherNotebook) + "/assets"}))
	w.hideOther()
	w.mustRun("export_resources", args("paths", []string{shownAsset, "/data/emojis"}))
	w.wantRefused("export_resources", args("paths", []string{shownAsset, "/data/assets"}), tool.Denied)
	w.wantRefused("export_resources", args("paths", []string{"/data/assets/sub"}), tool.Denied)
	missing := w.wantRefused("export_resources", args("paths", []string{"/data/" + actiontest.Nowhere + "/assets"}), tool.NotFound)
	hidden := w.wantRefused("export_resources", args("paths", []string{"/data/" + string(w.otherNotebook) + "/assets"}), tool.NotFound)
	actiontest.SameRefusal(t, hidden, missing, string(w.otherNotebook), actiontest.Nowhere)

	w.Levels[w.otherNotebook] = access.Delete
	w.Symlink("/data/assets/sub/link.json", []byte("token"))
	w.wantRefused("export_resources", args("paths", []string{"/data/assets"}), kernel.InvalidPath)
	w.File("/data/emojis/deep/x.sy", []byte("{}"))
	w.wantRefused("export_resources", args("paths", []string{"/data/emojis"}), kernel.InvalidPath)
}

func TestExportResourcesOutput(t *testing.T) {
	w := newWorkspace(t)
	out := filepath.Join(w.localDir, "out", "x.zip")
	got := w.Must(t, findAction(t, "export_resources"), args("paths", []string{"/data/" + shownAsset}, "outputPath", "out/x.zip"))
	info, err := os.Stat(out)
	if err != nil || got.Get("outputPath").String() != out || got.Get("bytes").Int() != info.Size() {
		t.Fatalf("exported: %s, %v", got.Raw, err)
	}
	z, err := zip.OpenReader(out)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	if len(z.File) != 1 || filepath.Base(z.File[0].Name) != filepath.Base(shownAsset) {
		t.Errorf("packed: %d files, the first %q", len(z.File), z.File[0].Name)
	}
	w.Refused(t, findAction(t, "export_resources"), args("paths", []string{shownAsset}, "outputPath", out), tool.Exists)
	w.Files.Allowed = false
	w.wantRefused("export_resources", args("paths", []string{shownAsset}, "outputPath", "y.zip"), tool.Denied)
	w.mustRun("export_resources", args("paths", []string{shownAsset})) // needs no local file
}

// TestExportShowsNoCopies: an export must not show text of hidden notes. The kernel prints the rows of databases, and
// prints anchors of references as links whose beginning cannot be found.
func TestExportShowsNoCopies(t *testing.T) {
	w := newWorkspace(t)
	base := kernel.ID(w.Doc(string(w.openNotebook), "/Base", `<div data-type="NodeAttributeView" data-av-id="20240101120000-avavava" data-av-type="table"></div>`))
	refs := kernel.ID(w.Doc(string(w.openNotebook), "/Refs", "# Top\n\nsee (("+string(w.otherDoc)+" 'a] [CANARY')) and (("+string(w.otherDoc)+` "own [words]")) and ((`+string(w.openDoc)+" 'Doc'))"))
	if got := w.Must(t, findAction(t, "export_md"), args("id", refs)); !strings.Contains(got.Raw, "CANARY") {
		t.Errorf("with nothing hidden: %s", got.Raw)
	}
	w.mustRun("export_md", args("id", base))
	w.hideOther()
	w.wantRefused("export_md", args("id", base), tool.Denied)
	w.wantRefused("extract_doc", args("id", base), tool.Denied)
	got := w.Must(t, findAction(t, "export_md"), args("id", refs)).Get("content").String()
	if strings.Contains(got, "CANARY") {
		t.Errorf("the export shows an anchor: %s", got)
	}
	for _, part := range []string{
		"---\ntitle: Refs\n", "# Top\n\nsee […](siyuan://blocks/" + string(w.otherDoc) + ") and [own \\[words\\]](siyuan://blocks/", "[Doc](siyuan://blocks/" + string(w.openDoc) + ")",
	} {
		if !strings.Contains(got, part) {
			t.Errorf("%q is not in %s", part, got)
		}
	}
	w.mustRun("extract_doc", args("id", refs))
	err := filepath.WalkDir(w.localDir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(p)
		if strings.Contains(string(raw), "CANARY") {
			t.Errorf("%s: %s", p, raw)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
