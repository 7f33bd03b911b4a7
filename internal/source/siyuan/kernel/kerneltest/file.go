package kerneltest

import (
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// storedFile is a file or folder of the workspace that is not part of the tree.
type storedFile struct {
	data    []byte
	dir     bool
	link    bool // a symbolic link
	changed time.Time
}

func newFiles() map[string]*storedFile {
	files := map[string]*storedFile{}
	for _, dir := range []string{"/", "/conf", "/conf/appearance", "/data", "/data/.siyuan", "/data/assets", "/data/emojis", "/data/plugins", "/data/public", "/data/storage", "/data/templates", "/data/widgets", "/history", "/temp"} {
		files[dir] = &storedFile{dir: true, changed: time.Now()}
	}
	for _, name := range []string{"/.lock", "/conf/ca.crt", "/conf/ca.key", "/conf/cert.pem", "/conf/conf.json", "/conf/key.pem"} {
		files[name] = &storedFile{changed: time.Now()}
	}
	return files
}

// fileFamily answers the file API. Notebooks and documents are seen through it as the files they would be, and go with
// them when these are removed; a .sy written this way is a file, and no
// document until upsertIndexes.
func fileFamily(k *Kernel) {
	k.handle("/api/file/getFile", getFile)
	k.handle("/api/file/putFile", putFile)
	k.handle("/api/file/readDir", readDir)
	k.handle("/api/file/removeFile", removeFile)
	k.handle("/api/file/renameFile", renameFile)
}

// confine makes a path absolute within the workspace; a way out of it is refused.
func confine(p string) string {
	depth := 0
	for part := range strings.SplitSeq(p, "/") {
		switch part {
		case "", ".":
		case "..":
			if depth--; depth < 0 {
				panic(fail(http.StatusForbidden, "permission denied"))
			}
		default:
			depth++
		}
	}
	return path.Clean("/" + p)
}

// all returns every file and folder of the workspace by path, those of the tree included.
func (k *Kernel) all() map[string]*storedFile {
	files := map[string]*storedFile{}
	for p, f := range k.files {
		files[p] = f
	}
	dir := func(p string) {
		if files[p] == nil {
			files[p] = &storedFile{dir: true, changed: time.Now()}
		}
	}
	for _, box := range k.notebooks {
		root := "/data/" + box.id
		dir(root)
		dir(root + "/.siyuan")
		files[root+"/.siyuan/conf.json"] = &storedFile{data: mustJSON(box.conf), changed: time.Now()}
		sorted := map[string]int{}
		for _, d := range k.documents {
			if d.box != box {
				continue
			}
			sorted[d.id()] = d.sort
			for up := path.Dir(root + d.path()); up != root; up = path.Dir(up) {
				dir(up)
			}
			if files[root+d.path()] == nil {
				files[root+d.path()] = &storedFile{data: syFile(d), changed: d.changed}
			}
		}
		files[root+"/.siyuan/sort.json"] = &storedFile{data: mustJSON(sorted), changed: time.Now()}
	}
	return files
}

// ofNotebook reports whether a path lies in the folder of a notebook, where the files of the tree are.
func (k *Kernel) ofNotebook(p string) bool {
	name, _, _ := strings.Cut(strings.TrimPrefix(p, "/data/"), "/")
	return k.notebooks[name] != nil
}

func getFile(k *Kernel, req request) reply {
	p := confine(req.needText("path"))
	f := k.files[p]
	if k.ofNotebook(p) {
		f = k.all()[p]
	}
	switch {
	case f == nil:
		return fail(http.StatusNotFound, "file does not exist")
	case f.dir:
		return fail(http.StatusConflict, "path is a directory")
	}
	data := f.data
	if data == nil {
		data = []byte{}
	}
	return file(data, contentType(p, data))
}

func contentType(p string, data []byte) string {
	if byName := mime.TypeByExtension(path.Ext(p)); byName != "" {
		return byName
	}
	return http.DetectContentType(data)
}

func putFile(k *Kernel, req request) reply {
	raw := strings.TrimSpace(req.field("path"))
	if raw == "" {
		return fail(http.StatusBadRequest, "path must not be empty")
	}
	p := confine(raw)
	if strings.ContainsAny(path.Base(p), `:?*"<>|\`) {
		return fail(http.StatusBadRequest, "invalid file path. For details, please check https://github.com/siyuan-note/siyuan/issues/14658")
	}
	if req.field("isDir") == "true" {
		k.makeDirs(p)
		return done()
	}
	if len(req.form.File["file"]) == 0 {
		return fail(http.StatusBadRequest, "Field [file] must not be empty")
	}
	if f := k.all()[p]; f != nil && f.dir {
		return fail(http.StatusBadRequest, "path is a directory")
	}
	k.makeDirs(path.Dir(p))
	f := &storedFile{data: partBytes(req.form.File["file"][0]), changed: time.Now()}
	k.files[p] = f
	if text := req.field("modTime"); text != "" {
		ms, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return fail(http.StatusInternalServerError, err.Error())
		}
		f.changed = time.UnixMilli(ms)
	}
	return done()
}

func (k *Kernel) makeDirs(p string) {
	for ; p != "/" && k.files[p] == nil; p = path.Dir(p) {
		k.files[p] = &storedFile{dir: true, changed: time.Now()}
	}
}

func partBytes(part *multipart.FileHeader) []byte {
	f, err := part.Open()
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	data, _ := io.ReadAll(f)
	return data
}

func readDir(k *Kernel, req request) reply {
	p := confine(req.needStr("path"))
	files := k.all()
	switch f := files[p]; {
	case f == nil:
		return fail(http.StatusNotFound, "path does not exist")
	case !f.dir:
		return fail(http.StatusConflict, "path is not a directory")
	}
	list := []map[string]any{}
	for name, f := range files {
		if name != "/" && path.Dir(name) == p {
			list = append(list, map[string]any{"isDir": f.dir, "isSymlink": f.link, "name": path.Base(name), "updated": f.changed.Unix()})
		}
	}
	slices.SortFunc(list, func(a, b map[string]any) int { return strings.Compare(a["name"].(string), b["name"].(string)) })
	return ok(list)
}

func removeFile(k *Kernel, req request) reply {
	p := confine(req.needStr("path"))
	if k.all()[p] == nil {
		return fail(http.StatusNotFound, "path does not exist")
	}
	within := func(name string) bool { return name == p || strings.HasPrefix(name, p+"/") }
	maps.DeleteFunc(k.files, func(name string, _ *storedFile) bool { return within(name) })
	k.removeFromTree(within)
	return done()
}

// removeFromTree drops the notebooks and documents whose files are removed behind the kernel's back.
func (k *Kernel) removeFromTree(within func(string) bool) {
	for _, d := range maps.Clone(k.documents) {
		if within("/data/" + d.box.id + d.path()) {
			k.forget(d.root)
			delete(k.documents, d.id())
		}
	}
	maps.DeleteFunc(k.notebooks, func(id string, _ *notebook) bool { return within("/data/" + id) })
}

func renameFile(k *Kernel, req request) reply {
	from, to := confine(req.needStr("path")), confine(req.needStr("newPath"))
	switch {
	case k.files[from] == nil:
		return fail(http.StatusNotFound, "Field [path]: path does not exist")
	case strings.HasPrefix(to, from+"/"):
		return fail(http.StatusConflict, "Field [newPath]: cannot rename a directory into its own subdirectory")
	case k.all()[to] != nil:
		return fail(http.StatusConflict, "Field [newPath]: path already exists")
	}
	k.makeDirs(path.Dir(to))
	moved := map[string]*storedFile{}
	for name, f := range k.files {
		if name == from || strings.HasPrefix(name, from+"/") {
			moved[to+strings.TrimPrefix(name, from)] = f
			delete(k.files, name)
		}
	}
	for name, f := range moved {
		k.files[name] = f
	}
	return done()
}

// assetHash is assets.hash: empty for a file that does not exist.
func (k *Kernel) assetHash(target string) string {
	f := k.files["/data/"+target]
	if f == nil {
		return ""
	}
	return fmt.Sprintf("%x", sha256.Sum256(f.data))
}
