package file_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/file"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// Assets of the test workspace. All but loose are shown by a document.
const (
	shownAsset  = "assets/plan-20240101120000-aaaaaaa.png"   // in the open notebook
	spacedAsset = "assets/红 plan-20240101120000-bbbbbbb.png" // in the open notebook, as %20
	sharedAsset = "assets/both-20240101120000-ccccccc.png"   // in the open and in the other notebook
	otherAsset  = "assets/CANARY-20240101120000-ddddddd.png"
	unusedAsset = "assets/sub/loose-20240101120000-eeeeeee.txt"
)

// workspace is a kernel with two notebooks, assets and templates, and an allowed folder.
type workspace struct {
	*actiontest.Kit
	t                           *testing.T
	openNotebook, otherNotebook kernel.ID
	openDoc, otherDoc           kernel.ID
	otherFolderAsset            string // an asset in the folder of the other notebook, that no document shows
	localDir                    string // the allowed folder
}

func newWorkspace(t *testing.T) *workspace {
	t.Helper()
	t.Parallel()
	w := &workspace{Kit: actiontest.New(t), t: t}
	w.openNotebook, w.otherNotebook = kernel.ID(w.Notebook("Open 打开")), kernel.ID(w.Notebook("Other CANARY"))
	for _, p := range []string{shownAsset, spacedAsset, sharedAsset, otherAsset, unusedAsset} {
		w.File("/data/"+p, []byte("content of "+p))
	}
	w.otherFolderAsset = string(w.otherNotebook) + "/assets/own-20240101120000-fffffff.png"
	w.File("/data/"+w.otherFolderAsset, []byte("own"))
	w.File("/data/templates/work/meeting 会议.md", []byte("# .action{.title}\n\n会议 notes"))
	w.File("/data/emojis/a.png", []byte("emoji"))
	w.openDoc = kernel.ID(w.Doc(string(w.openNotebook), "/Doc 文档", "![plan]("+shownAsset+` "title")`+"\n\n![red]("+strings.ReplaceAll(spacedAsset, " ", "%20")+
		")\n\n[both]("+sharedAsset+")"))
	w.otherDoc = kernel.ID(w.Doc(string(w.otherNotebook), "/CANARY", "![c]("+otherAsset+")\n\n![b]("+sharedAsset+")"))
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w.localDir = dir
	w.Files = action.LocalFiles{Allowed: true, Roots: []string{dir}}
	return w
}

// hideOther gives the other notebook level none.
func (w *workspace) hideOther() *workspace {
	w.Levels[w.otherNotebook] = access.None
	return w
}

// writeLocal writes a file below the allowed folder and returns its path.
func (w *workspace) writeLocal(name, content string) string {
	w.t.Helper()
	p := filepath.Join(w.localDir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(content), 0o600); err != nil {
		w.t.Fatal(err)
	}
	return p
}

// hasFile reports whether the workspace has a file.
func (w *workspace) hasFile(p string) bool {
	_, err := w.Client.ReadFile(w.t.Context(), "/data/"+p)
	return err == nil
}

// wantRefused runs an action that must be refused with kind and without a write.
func (w *workspace) wantRefused(name, args string, kind tool.ErrorKind) *tool.Error {
	w.t.Helper()
	return w.Refused(w.t, findAction(w.t, name), args, kind)
}

// mustRun runs an action.
func (w *workspace) mustRun(name, args string) (out result) {
	w.t.Helper()
	return result{w.Must(w.t, findAction(w.t, name), args).Raw, w.t}
}

// result is the result of an action.
type result struct {
	raw string
	t   *testing.T
}

// wantMembers compares members of the result with those of a JSON text.
func (r result) wantMembers(want string) {
	r.t.Helper()
	var got, wanted map[string]any
	if err := json.Unmarshal([]byte(want), &wanted); err != nil {
		r.t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(r.raw), &got); err != nil {
		r.t.Fatal(err)
	}
	for name := range got {
		if _, ok := wanted[name]; !ok {
			delete(got, name)
		}
	}
	if diff := cmp.Diff(wanted, got); diff != "" {
		r.t.Errorf("result (-want +got):\n%s", diff)
	}
}

// findAction returns an action of the tool by its name.
func findAction(t testing.TB, name string) *action.Action {
	t.Helper()
	return actiontest.Find(t, file.Tool(), name)
}

func TestTool(t *testing.T) {
	t.Parallel()
	actiontest.Tool(t, file.Tool(), actiontest.Told{
		Actions: []string{
			"upload_asset", "list_templates", "read_template", "render", "export_md", "export_resources", "list_unused_assets",
			"get_doc_assets", "get_image_ocr_text", "remove_unused_assets", "rename_asset", "delete_asset", "extract_doc",
		},
		Dangerous: []string{"upload_asset", "remove_unused_assets", "rename_asset", "delete_asset", "extract_doc"},
	})
	for _, a := range file.Tool().Actions {
		if len(a.Endpoints) == 0 {
			t.Errorf("%s does not say what it asks the kernel for", a.Name)
		}
	}
}

// args returns a JSON object made of alternating names and values.
func args(pairs ...any) string { return actiontest.Args(pairs...) }
