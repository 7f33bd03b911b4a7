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
	got := w.Must(t, act(t, "export_md"), args("id", w.doc))
	if got.Get("hPath").String() != "/Doc 文档" || !strings.Contains(got.Get("content").String(), "![plan]("+shown) {
		t.Errorf("exported: %s", got.Raw)
	}
	missing := w.refused("export_md", args("id", actiontest.Nowhere), tool.NotFound)
	w.hide()
	actiontest.SameRefusal(t, w.refused("export_md", args("id", w.their), tool.NotFound), missing, string(w.their), actiontest.Nowhere)
}

// TestExportHidesOthers: the kernel writes into an export what references point to and what
// queries find, from any notebook.
func TestExportHidesOthers(t *testing.T) {
	w := newWorkspace(t)
	embed := kernel.ID(w.Doc(string(w.nb), "/Embed", "{{select * from blocks where id='"+string(w.their)+"'}}"))
	w.ResetCalls()
	w.run("export_md", args("id", embed))
	w.run("export_md", args("id", w.doc))
	for _, c := range w.Calls() {
		if c.Path == "/api/export/exportMdContent" && c.Get("refMode").Exists() {
			t.Errorf("settings of the user are overruled though nothing is hidden: %s", c.Body)
		}
	}
	w.hide()
	w.refused("export_md", args("id", embed), tool.Denied)
	w.refused("extract_doc", args("id", embed), tool.Denied)
	w.ResetCalls()
	w.run("export_md", args("id", w.doc))
	i := slices.IndexFunc(w.Calls(), func(c kerneltest.Call) bool { return c.Path == "/api/export/exportMdContent" })
	if i < 0 || w.Calls()[i].Get("refMode").Int() != 2 {
		t.Errorf("references are not made links: %v", w.Calls())
	}
}

// TestExportResources: only assets, emojis and templates can be exported.
func TestExportResources(t *testing.T) {
	w := newWorkspace(t)
	got := w.Must(t, act(t, "export_resources"), args("paths", []string{"/data/" + shown, spacedAddress, "/data/emojis/a.png", "/data/templates"}, "name", "我的 zip"))
	if p := got.Get("path").String(); !strings.HasPrefix(p, "temp/export/") || !strings.HasSuffix(p, "-我的 zip.zip") {
		t.Errorf("exported: %s", got.Raw)
	}
	for _, p := range []string{
		"/conf/conf.json", "/data/storage/av/x.json", "/data/storage", "/data/" + string(w.nb), "/data/" + string(w.nb) + "/.siyuan/conf.json",
		"/data/" + string(w.nb) + "/" + string(w.doc) + ".sy", "/data", "/data/", "/", "/temp", "/data/plugins", "/data/widgets/x",
	} {
		w.refused("export_resources", args("paths", []string{"/data/" + shown, p}), kernel.InvalidPath)
	}
	for _, name := range []string{"a/b", "..", `a\b`, ".x", "%2e", "a:b"} {
		w.refused("export_resources", args("paths", []string{shown}, "name", name), tool.Invalid)
	}
	w.refused("export_resources", args("paths", []string{nothing}), tool.NotFound)
	// SiYuan packs files by name alone, so of two files of one name the second would replace the first.
	w.File("/data/emojis/sub/"+shown[len("assets/"):], []byte("another"))
	w.refused("export_resources", args("paths", []string{shown, "/data/emojis/sub/" + shown[len("assets/"):]}), tool.Conflicting)
	w.run("export_resources", args("paths", []string{shown, "/data/" + shown}))
}

// TestExportResourcesFolder: a folder may hold anyone's assets.
func TestExportResourcesFolder(t *testing.T) {
	w := newWorkspace(t)
	w.run("export_resources", args("paths", []string{"/data/assets/", "/data/" + string(w.other) + "/assets"}))
	w.hide()
	w.run("export_resources", args("paths", []string{shown, "/data/emojis"}))
	w.refused("export_resources", args("paths", []string{shown, "/data/assets"}), tool.Denied)
	w.refused("export_resources", args("paths", []string{"/data/assets/sub"}), tool.Denied)
	missing := w.refused("export_resources", args("paths", []string{"/data/" + actiontest.Nowhere + "/assets"}), tool.NotFound)
	hidden := w.refused("export_resources", args("paths", []string{"/data/" + string(w.other) + "/assets"}), tool.NotFound)
	actiontest.SameRefusal(t, hidden, missing, string(w.other), actiontest.Nowhere)

	w.Levels[w.other] = access.Delete
	w.Symlink("/data/assets/sub/link.json", []byte("token"))
	w.refused("export_resources", args("paths", []string{"/data/assets"}), kernel.InvalidPath)
	w.File("/data/emojis/deep/x.sy", []byte("{}"))
	w.refused("export_resources", args("paths", []string{"/data/emojis"}), kernel.InvalidPath)
}

func TestExportResourcesOutput(t *testing.T) {
	w := newWorkspace(t)
	out := filepath.Join(w.dir, "out", "x.zip")
	got := w.Must(t, act(t, "export_resources"), args("paths", []string{"/data/" + shown}, "outputPath", "out/x.zip"))
	info, err := os.Stat(out)
	if err != nil || got.Get("outputPath").String() != out || got.Get("bytes").Int() != info.Size() {
		t.Fatalf("exported: %s, %v", got.Raw, err)
	}
	z, err := zip.OpenReader(out)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	if len(z.File) != 1 || filepath.Base(z.File[0].Name) != filepath.Base(shown) {
		t.Errorf("packed: %d files, the first %q", len(z.File), z.File[0].Name)
	}
	w.Refused(t, act(t, "export_resources"), args("paths", []string{shown}, "outputPath", out), tool.Exists)
	w.Files.Allowed = false
	w.refused("export_resources", args("paths", []string{shown}, "outputPath", "y.zip"), tool.Denied)
	w.run("export_resources", args("paths", []string{shown})) // needs no local file
}

// TestExportShowsNoCopies: an export must not show text of hidden notes. The kernel prints the rows of databases, and
// prints anchors of references as links whose beginning cannot be found.
func TestExportShowsNoCopies(t *testing.T) {
	w := newWorkspace(t)
	base := kernel.ID(w.Doc(string(w.nb), "/Base", `<div data-type="NodeAttributeView" data-av-id="20240101120000-avavava" data-av-type="table"></div>`))
	refs := kernel.ID(w.Doc(string(w.nb), "/Refs", "# Top\n\nsee (("+string(w.their)+" 'a] [CANARY')) and (("+string(w.their)+` "own [words]")) and ((`+string(w.doc)+" 'Doc'))"))
	if got := w.Must(t, act(t, "export_md"), args("id", refs)); !strings.Contains(got.Raw, "CANARY") {
		t.Errorf("with nothing hidden: %s", got.Raw)
	}
	w.run("export_md", args("id", base))
	w.hide()
	w.refused("export_md", args("id", base), tool.Denied)
	w.refused("extract_doc", args("id", base), tool.Denied)
	got := w.Must(t, act(t, "export_md"), args("id", refs)).Get("content").String()
	if strings.Contains(got, "CANARY") {
		t.Errorf("the export shows an anchor: %s", got)
	}
	for _, part := range []string{
		"---\ntitle: Refs\n", "# Top\n\nsee […](siyuan://blocks/" + string(w.their) + ") and [own \\[words\\]](siyuan://blocks/", "[Doc](siyuan://blocks/" + string(w.doc) + ")",
	} {
		if !strings.Contains(got, part) {
			t.Errorf("%q is not in %s", part, got)
		}
	}
	w.run("extract_doc", args("id", refs))
	err := filepath.WalkDir(w.dir, func(p string, d os.DirEntry, err error) error {
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
