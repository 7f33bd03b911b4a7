package file_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// hostilePaths are ways to write a path that leads somewhere else, or to what is not an asset. NB stands
// for the id of a notebook.
var hostilePaths = []string{
	"", " ", ".", "..", "/", "assets", "assets/", "/assets/../conf/conf.json",
	"assets/..", "assets/../conf/conf.json", "assets/../../conf/conf.json", "assets/./../conf.json", "assets//x.png", "./assets/x.png",
	"assets/sub/../../20240101120000-abcdefg.sy", "../assets/x.png", "x/../assets/x.png",
	"/etc/passwd", "/conf/conf.json", "/data/../conf/conf.json", "//server/share/x.png", "/workspace/conf/conf.json",
	`C:\Windows\win.ini`, `C:/Windows/win.ini`, `\\server\share\x`, `assets\..\conf\conf.json`, `assets\plan.png`, `assets/..\..\conf\conf.json`,
	"file:///etc/passwd", "http://127.0.0.1/assets/x.png", "data:text/plain,x",
	"conf/conf.json", "../conf/conf.json", "data/conf/conf.json", "temp/siyuan.db", "storage/petal/x", "data/storage/av/x.json",
	"history/x", "repo/x", "plugins/x/index.js", "widgets/x", "snippets/conf.json", "public/x",
	"NB/20240101120000-abcdefg.sy", "NB/.siyuan/conf.json", "NB/20240101120000-abcdefg/x.png", "assets/a.sy", "assets/a.SY", "assets/a.sy/x.png",
	"assets/.hidden", "assets/.git/config", ".siyuan/assets/x.png", "NB/../assets/x.png", "notanid/assets/x.png",
	"NB/x/assets/y.png", "20240101120000-ABCDEFG/assets/x.png",
	"assets/%2e%2e/conf/conf.json", "assets/%2E%2E/%2E%2E/conf.json", "assets/..%2f..%2fconf%2fconf.json", "assets%2f..%2fconf.json", "assets%2Fplan.png",
	"assets/%252e%252e/conf.json", "assets/%5c..%5cconf.json", "assets/x%00.png", "assets/%c0%ae%c0%ae/conf.json", "assets/%0a.png", "%2fetc%2fpasswd",
	"assets/．．/conf/conf.json", "assets/‥/conf.json", "assets/..／..／conf.json", "assets/․․/conf.json", "assets/.\u200b./conf.json",
	"assets/..∕conf.json", "assets/\u202egnp.x", "assets/..＼conf.json", "assets/…/x", "assets/﹒﹒/x", "assets／..／conf.json",
	"assets/%EF%BC%8E%EF%BC%8E/conf.json", "assets/a.ｓy/../x", "assets/x\u2028.png", "assets/a．sy",
	"assets/x.png\x00", "assets/\x00", "assets/x\n.png", "assets/\x7f.png", "assets/\xff\xfe.png",
	"assets/x.png.", "assets/x.png ", "assets/x.png. .", "assets/... /x", "assets/ ../x", "assets/.. /conf.json", "assets /x.png", "assets./x.png",
	"assets/x.png:stream", "assets/x.png::$DATA", "assets/*", "assets/?", "assets/a|b", "assets/<x>", `assets/"x"`,
	"assets/CON", "assets/nul.png", "assets/com1.txt", "assets/LPT9/x",
	"assets/" + strings.Repeat("a", 256), "assets/" + strings.Repeat("a/", 1000) + "x.png", strings.Repeat("../", 400) + "etc/passwd",
	"assets/" + strings.Repeat("中", 100) + ".png",
	"Assets/x.png", "ASSETS/plan-20240101120000-aaaaaaa.png", "assets/PLAN-20240101120000-aaaaaaa.png",
	"~/.ssh/id_rsa", "$HOME/.ssh/id_rsa", "${HOME}/x", "assets/$(id)", "assets/link/passwd", "assets/link.png",
	"emojis/../../conf/conf.json", "templates/../storage/x", "templates/%2e%2e/x", "/data/emojis/../storage/x",
	"' OR '1'='1", "assets/x' OR 1=1 --.png",
}

// TestHostilePaths: every way to write a path that leads elsewhere is
// refused, by every action that takes a path, and nothing is written, read or made.
func TestHostilePaths(t *testing.T) {
	w := newWorkspace(t)
	w.Lenient() // some requests may be invalid for the kernel
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "passwd"), []byte("root"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(w.localDir, "link")); err != nil {
		t.Skip("no symbolic links here")
	}
	for _, p := range hostilePaths {
		w.checkPathRefused(strings.ReplaceAll(p, "NB", string(w.openNotebook)))
	}
	for name, make := range map[string]func(string) string{ // what writes to this machine, or names a folder
		"upload_asset":     func(p string) string { return args("localFilePath", w.writeLocal("x.png", "x"), "assetsDirPath", p) },
		"extract_doc":      func(p string) string { return args("id", w.openDoc, "outputDir", p) },
		"export_resources": func(p string) string { return args("paths", []string{shownAsset}, "outputPath", p) },
	} {
		for _, p := range hostileLocalPaths(outside, name == "upload_asset") {
			w.ResetCalls()
			if got, err := w.Do(t, findAction(t, name), make(p)); err == nil {
				t.Errorf("%s took %q: %s", name, p, got.Raw)
			}
			for _, c := range w.Writes() {
				t.Errorf("%s to %q wrote: %s", name, p, c.Path)
			}
		}
	}
	if list, err := os.ReadDir(outside); err != nil || len(list) != 1 {
		t.Errorf("something was written outside: %v, %v", list, err)
	}
	if !w.hasFile(shownAsset) {
		t.Error("an asset is gone")
	}
}

// TestSymlinks: a link in the workspace may lead to any file.
func TestSymlinks(t *testing.T) {
	w := newWorkspace(t)
	w.Symlink("/data/assets/link", nil)
	w.File("/data/assets/link/passwd", []byte("root"))
	w.Symlink("/data/assets/link.png", []byte("root"))
	w.Symlink("/data/templates/link.md", []byte("root"))
	for _, p := range []string{"assets/link/passwd", "assets/link.png", "assets/link", "link.md", "templates/link.md", "/data/templates/link.md"} {
		w.checkPathRefused(p)
	}
}

// checkPathRefused checks that every action that takes a path of the workspace, or a local one, refuses p.
func (w *workspace) checkPathRefused(p string) {
	w.t.Helper()
	for name, make := range map[string]func(path string) string{
		"delete_asset":       func(p string) string { return args("path", p, "force", true) },
		"rename_asset":       func(p string) string { return args("oldPath", p, "newName", "x") },
		"get_image_ocr_text": func(p string) string { return args("path", p) },
		"read_template":      func(p string) string { return args("path", p) },
		"render":             func(p string) string { return args("engine", "template", "id", w.openDoc, "path", p) },
		"export_resources":   func(p string) string { return args("paths", []string{p}) },
		"upload_asset":       func(p string) string { return args("localFilePath", p) },
	} {
		if name == "export_resources" && (p == "assets" || p == "assets/") {
			continue // the folder is allowed there, see TestExportResourcesFolder
		}
		w.ResetCalls()
		got, err := w.Do(w.t, findAction(w.t, name), make(p))
		if err == nil {
			w.t.Errorf("%s took %q: %s", name, p, got.Raw)
		}
		if kind := tool.KindOf(err); kind == tool.Internal || kind == kernel.API {
			w.t.Errorf("%s of %q got as far as %v", name, p, err)
		}
		for _, c := range w.Calls() {
			switch c.Path {
			case "/api/asset/removeUnusedAsset", "/api/asset/renameAsset", "/api/asset/getImageOCRText", "/api/asset/upload",
				"/api/export/exportResources", "/api/template/render", "/api/file/getFile", "/api/file/putFile", "/api/file/removeFile":
				w.t.Errorf("%s of %q sent %s %s", name, p, c.Path, c.Body)
			}
		}
	}
}

// hostileLocalPaths returns paths that are refused as local targets or, if upload, as folders for uploads.
func hostileLocalPaths(outside string, upload bool) []string {
	list := []string{
		"..", "../x", "a/../../x", "/", "/etc", outside, outside + "/x", ".ssh/x", "a/.hidden/x", "link", "link/x", "a/\x00", "a\n",
		`..\x`, `a\..\..\x`, "%2e%2e/x", "a/%2e%2e%2fx", "．．/x", "‥/x", "a/.\u200b./x", "..／x", "id_rsa", "a/server.pem", "a/x.sy", "a/ ../x", "a/.. /x",
		strings.Repeat("a", 300), strings.Repeat("a/", 3000), "\xff", "conf/conf.json", ".env", "a. ", "nul",
	}
	if upload {
		return append(list, "/storage/petal", "/data/assets/", "assets/a%20b", "assets/../storage", "/assets/../../x", "/assets/.git", "/assets/a%2f..", "templates")
	}
	return list
}

// TestSymlinkedTemplate: a symbolic link among the templates may lead to any file.
func TestSymlinkedTemplate(t *testing.T) {
	w := newWorkspace(t)
	w.Symlink("/data/templates/link.md", []byte("token"))
	w.wantRefused("read_template", args("path", "link.md"), kernel.InvalidPath)
	w.wantRefused("render", args("engine", "template", "id", w.openDoc, "path", "link.md"), kernel.InvalidPath)
}

// TestUnicodeNames makes sure that the rules against disguises let ordinary names through.
func TestUnicodeNames(t *testing.T) {
	w := newWorkspace(t)
	w.checkNamesAccepted(
		"assets/你好。世界.png", "assets/和／或-20240101120000-aaaaaaa.png", "assets/等等….png", "assets/a b c.png", "assets/naïve é.png",
		"assets/sub/deep/x.pdf", "assets/no-ending", string(w.openNotebook)+"/20240101120000-abcdefg/assets/x.png",
	)
}

// TestOddNames: a person may have put files with unusual names into the workspace.
func TestOddNames(t *testing.T) {
	w := newWorkspace(t)
	w.NeedsVault("its file API takes no such names")
	w.checkNamesAccepted("assets/100%.png", "assets/家族👨‍👩‍👧.png", "assets/O'Brien.png", "assets/(1) [2] {3}.png", "assets/a&b=c;d,e.png")
}

// checkNamesAccepted creates assets and requests them by their names.
func (w *workspace) checkNamesAccepted(paths ...string) {
	w.t.Helper()
	w.Levels[w.openNotebook] = access.Read
	for _, p := range paths {
		w.File("/data/"+p, []byte("x"))
		w.mustRun("get_image_ocr_text", args("path", p)).wantMembers(args("path", p, "text", ""))
	}
}
