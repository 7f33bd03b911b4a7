package file_test

import (
	"encoding/json"
	"net/http"
	"path"
	"slices"
	"strings"
	"testing"

	"collie/internal/vault/workspace"
)

// canary is in a file that no asset or template call may touch.
const canary = "canary 金丝雀"

// hostile are paths that lead out of the allowed folders, or that some operating system could not hold. NB stands for the id
// of a notebook.
var hostile = []string{
	"..", "../x", "/..", "/../../etc/passwd", "assets/../../temp/canary", "assets/../storage/canary", "/data/../../temp/canary",
	"assets/..", "assets/.", "assets", "assets/", "/assets/x", "assets//x", "./assets/x", "assets/./x", "assets/sub/..", "",
	"/temp/canary", "temp/canary", "/workspace/temp/canary", "/workspace/data/templates/../../temp/canary",
	"/workspace/data/templates/../../../etc/passwd", "/workspace/../workspace/temp/canary", "/workspace/data/templates",
	"/workspace/data/templates/", "/workspace/data/storage/canary.md", "/workspace/data/templates/../storage/canary.md",
	`assets\..\..\temp\canary`, `..\temp\canary`, `C:\Windows\win.ini`, `\\server\share\x`, `/workspace\data\templates\x.md`,
	"assets/..%2f..%2ftemp%2fcanary", "assets/%2e%2e/%2e%2e/temp/canary", "%2e%2e/%2e%2e/temp/canary", "assets%2f..%2fx",
	"assets/x\x00", "\x00", "assets/\x00/../../temp/canary", "/temp/canary\x00.md", "assets/\xff\xfe", "assets/x\n.png", "assets/\u202egnp.x",
	"assets/" + strings.Repeat("a", 300), "assets/" + strings.Repeat("中", 100), strings.Repeat("../", 2000) + "temp/canary",
	strings.Repeat("a/", 3000) + "x", "assets/" + strings.Repeat("a/", 3000) + "x",
	"assets/CON", "assets/nul.png", "assets/com1.txt", "assets/LPT9/x", "assets/x.", "assets/x ", "assets/x.png::$DATA", "assets/*", `assets/"`,
	"NB/NB.sy", "NB/.siyuan/conf.json", "/data/NB/NB.sy", "/data/NB/.siyuan/conf.json", "NB", "/data/NB", "NB/assets/../NB.sy",
	"．．/temp/canary", "assets/．．/x", "assets/..／..／x", "~/x", "$HOME/x", "file:///etc/passwd", "/dev/null", "/proc/self/environ",
	"' OR 1=1 --", "assets/x' OR '1'='1", "assets/%", "assets/_",
}

// newFixtureWithCanaries returns a vault with a document, and with the canary in files that hostile paths aim at.
func newFixtureWithCanaries(t testing.TB) (w *fixture, notebook string) {
	w = newFixture(t)
	notebook = w.createNotebook("Notes 笔记")
	w.createDoc(notebook, "/Doc", "text")
	for _, p := range []string{"/temp/canary", "/data/storage/canary", "/data/storage/canary.md", "/data/canary.md"} {
		if code := w.putFile(p, canary); code != 0 {
			t.Fatalf("put %s: %d", p, code)
		}
	}
	return w, notebook
}

// wantIntact fails unless everything outside of assets and templates is as it was.
func (w *fixture) wantIntact(notebook, after string) {
	w.t.Helper()
	for _, p := range []string{"/temp/canary", "/data/storage/canary", "/data/storage/canary.md", "/data/canary.md"} {
		if got, ok := w.readFile(p); !ok || got != canary {
			w.t.Fatalf("after %s: %s holds %q, %v", after, p, got, ok)
		}
	}
	if got, ok := w.readFile("/data/" + notebook + "/" + notebook + ".sy"); !ok || !json.Valid([]byte(got)) {
		w.t.Fatalf("after %s: the page of the notebook is %q", after, got)
	}
	w.update(func(tx *workspace.Tx) {
		for _, f := range append(tx.FilesBelow("/"), tx.Files("")...) {
			if p := f.Path; p != path.Clean(p) || !path.IsAbs(p) || strings.ContainsAny(p, "\x00\\") {
				w.t.Fatalf("after %s: there is a file %q", after, p)
			}
		}
		if tx.Notebook(notebook) == nil || len(tx.Documents(nil)) != 2 {
			w.t.Fatalf("after %s: the tree has changed", after)
		}
	})
}

// requestsWithPath returns functions that each send p in a different field of a request that may change something.
func requestsWithPath(w *fixture, doc, p string) []func() {
	send := func(endpoint string, body object) func() { return func() { w.post(endpoint, body) } }
	return []func(){
		send("/api/asset/removeUnusedAsset", object{"path": p}),
		send("/api/asset/renameAsset", object{"oldPath": p, "newName": "x"}),
		send("/api/asset/renameAsset", object{"oldPath": "assets/x.png", "newName": p}),
		send("/api/asset/setImageOCRText", object{"path": p, "text": "x"}),
		send("/api/template/render", object{"id": doc, "path": p}),
		send("/api/filetree/upsertIndexes", object{"paths": []string{p}}),
		send("/api/export/exportResources", object{"paths": []string{}, "name": p}),
		func() {
			w.sendForm("/api/asset/upload", map[string]string{"assetsDirPath": p}, "file[]", "x", []byte("x"))
		},
		func() {
			w.sendForm("/api/asset/upload", map[string]string{"assetsDirPath": "/assets/"}, "file[]", p, []byte("x"))
		},
	}
}

func TestHostilePaths(t *testing.T) {
	t.Parallel()
	w, notebook := newFixtureWithCanaries(t)
	for _, p := range hostile {
		p = strings.ReplaceAll(p, "NB", notebook)
		for _, send := range requestsWithPath(w, notebook, p) {
			send()
		}
		w.wantIntact(notebook, p)
	}
	for _, entry := range w.call(0, "/api/file/readDir", object{"path": "/data/storage"}).Array() {
		if name := entry.Get("name").Str; name != "canary" && name != "canary.md" {
			t.Errorf("there is a new %q beside the canary", name)
		}
	}
}

// TestHostileFiles checks that the file API, which may write most files of the workspace, refuses hostile paths too.
func TestHostileFiles(t *testing.T) {
	t.Parallel()
	w, notebook := newFixtureWithCanaries(t)
	for _, p := range hostile {
		p = "/data/" + strings.TrimPrefix(strings.ReplaceAll(p, "NB", notebook), "/data/")
		if strings.HasSuffix(path.Clean(p), "/canary") {
			continue // it names the canary without leaving the workspace, which is allowed
		}
		w.putFile(p, "x")
		w.sendForm("/api/file/putFile", map[string]string{"path": p, "isDir": "true"}, "", "", nil)
	}
	w.wantIntact(notebook, "putFile")
	for _, p := range []string{"/", "/data", "/data/" + notebook, "/data/assets", "/temp", "/conf", "/.lock", "/data/" + notebook + "/" + notebook + ".sy", "/data/" + notebook + "/.siyuan/conf.json"} {
		w.call(http.StatusForbidden, "/api/file/removeFile", object{"path": p})
		if code := w.putFile(p, "x"); code != http.StatusForbidden && code != http.StatusBadRequest {
			t.Errorf("put %s: %d", p, code)
		}
	}
	w.wantIntact(notebook, "removeFile")
}

func TestFileBelowFile(t *testing.T) {
	t.Parallel()
	w, _ := newFixtureWithCanaries(t)
	if code := w.putFile("/temp/canary/x", "x"); code != http.StatusConflict {
		t.Errorf("a file in a file: %d", code)
	}
	if got := w.sendForm("/api/file/putFile", map[string]string{"path": "/temp/canary", "isDir": "true"}, "", "", nil); got.Get("code").Int() != http.StatusConflict {
		t.Errorf("a folder in place of a file: %s", got.Raw)
	}
}

// FuzzConfinement sends a path in each request that takes one. No file outside of assets and templates may change.
func FuzzConfinement(f *testing.F) {
	for _, p := range hostile {
		if len(p) < 200 {
			f.Add(p)
		}
	}
	w, notebook := newFixtureWithCanaries(f)
	f.Fuzz(func(t *testing.T, p string) {
		inner := &fixture{t, w.Vault}
		p = strings.ReplaceAll(p, "NB", notebook)
		for _, take := range requestsWithPath(inner, notebook, p) {
			take()
		}
		inner.wantIntact(notebook, p)
		_, data := inner.post("/api/file/getFile", object{"path": p})
		if slices.Contains([]string{"root:x:0:0"}, string(data[:min(len(data), 10)])) {
			t.Fatalf("%q reads a file of the machine", p)
		}
	})
}
