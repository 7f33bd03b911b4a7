package kerneltest

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
)

// assets is what the kernel knows of assets beside their files.
type assets struct {
	texts map[string]string // what was recognised in images, by path
}

// assetFamily answers uploads and what becomes of assets. A document's use of an asset is looked up by the address as
// it stands there, so one with an escape in it counts as no use, as it was recorded.
func assetFamily(k *Kernel) {
	a := &assets{texts: map[string]string{}}
	k.handle("/api/asset/upload", upload)
	k.handle("/api/asset/getDocAssets", func(k *Kernel, req request) reply { return docAssets(k, req, "img", "a") })
	k.handle("/api/asset/getDocImageAssets", func(k *Kernel, req request) reply { return docAssets(k, req, "img") })
	k.handle("/api/asset/getUnusedAssets", func(k *Kernel, _ request) reply {
		items := []map[string]any{}
		for _, p := range k.unusedAssets() {
			items = append(items, map[string]any{"item": p, "name": path.Base(p)})
		}
		return ok(items)
	})
	k.handle("/api/asset/getMissingAssets", missingAssets)
	k.handle("/api/asset/removeUnusedAsset", func(k *Kernel, req request) reply {
		p := path.Join("/data", req.str("path")) // neither confined nor checked
		k.removeTree(p)
		return ok(map[string]any{"path": machineRoot + p})
	})
	k.handle("/api/asset/removeUnusedAssets", func(k *Kernel, _ request) reply {
		gone := []string{}
		for _, p := range k.unusedAssets() {
			k.removeTree("/data/" + p)
			gone = append(gone, machineRoot+"/data/"+p)
		}
		return ok(map[string]any{"paths": gone})
	})
	k.handle("/api/asset/renameAsset", renameAsset)
	k.handle("/api/asset/statAsset", statAsset)
	k.handle("/api/asset/getImageOCRText", func(_ *Kernel, req request) reply {
		return ok(map[string]any{"text": a.texts[req.optStr("path")]})
	})
	k.handle("/api/asset/setImageOCRText", func(_ *Kernel, req request) reply {
		a.texts[req.str("path")] = req.str("text")
		return done()
	})
}

// machineRoot is where the workspace lies on the kernel's machine.
const machineRoot = "/workspace"

var (
	foldedInNames  = strings.NewReplacer("?", "_", "*", "_", ":", "_", "/", "_", `\`, "_", "|", "_", `"`, "_", "<", "_", ">", "_")
	droppedInNames = strings.NewReplacer("#", "", "%", "")
	nameID         = regexp.MustCompile(`-\d{14}-[0-9a-z]{7}$`)
)

func upload(k *Kernel, req request) reply {
	if req.form == nil {
		return fail(-1, "request Content-Type isn't multipart/form-data")
	}
	dir := "/data/assets"
	if raw := req.field("assetsDirPath"); raw != "" {
		dir = path.Join("/workspace/data", raw)
		if !strings.HasPrefix(dir, "/workspace/") {
			return fail(-1, "Path ["+dir+"] is not in workspace")
		}
		dir = strings.TrimPrefix(dir, machineRoot)
	}
	stored := map[string]any{}
	for _, part := range req.form.File["file[]"] {
		name, data := path.Base(part.Filename), partBytes(part)
		stored[name] = strings.TrimPrefix(k.storeAsset(dir, name, data), "/data/")
	}
	return ok(map[string]any{"errFiles": nil, "succMap": stored})
}

// storeAsset finds the file that holds the same bytes under the same name, or makes one.
func (k *Kernel) storeAsset(dir, name string, data []byte) string {
	name = droppedInNames.Replace(foldedInNames.Replace(name))
	ext := path.Ext(name)
	stem := strings.TrimSuffix(name, ext)
	for p, f := range k.files {
		held := strings.TrimSuffix(path.Base(p), path.Ext(p))
		if path.Dir(p) == dir && path.Ext(p) == ext && nameID.ReplaceAllString(held, "") == stem && len(data) > 0 && bytes.Equal(f.data, data) {
			return p
		}
	}
	k.makeDirs(dir)
	p := dir + "/" + stem + "-" + k.newID() + ext
	k.files[p] = &storedFile{data: data, changed: time.Now()}
	return p
}

// docAssets lists the assets that the spans of some kinds of a document name, each once.
func docAssets(k *Kernel, req request, kinds ...string) reply {
	b := k.openBlock(req.str("id"))
	if b == nil {
		return fail(-1, "tree not found")
	}
	found := []string{}
	b.doc.root.walk(func(b *block) {
		for _, s := range assetSpans(b) {
			if slices.Contains(kinds, s.kind) && !slices.Contains(found, s.target) {
				found = append(found, s.target)
			}
		}
	})
	return ok(found)
}

// assetSpans are the stretches of a leaf that name an asset.
func assetSpans(b *block) []span {
	if b.container() || b.kind == kindCode || b.kind == kindMath || b.kind == kindHTML || b.kind == kindEmbed {
		return nil
	}
	return slices.DeleteFunc(spansOf(b.text), func(s span) bool {
		return s.kind != "img" && s.kind != "a" || !strings.HasPrefix(s.target, "assets/")
	})
}

// assetUses maps each asset a document names to the blocks that do.
func (k *Kernel) assetUses() map[string][]string {
	uses := map[string][]string{}
	for id, b := range k.blocks {
		for _, s := range assetSpans(b) {
			uses[s.target] = append(uses[s.target], id)
		}
		if cover := b.attrs["title-img"]; cover != "" {
			if m := inBrackets.FindStringSubmatch(cover); m != nil {
				uses[m[1]] = append(uses[m[1]], id)
			}
		}
	}
	return uses
}

var inBrackets = regexp.MustCompile(`url\(["']?(assets/[^"')]+)`)

// unusedAssets are the files and folders below data/assets that no document names, folders after what is in them.
func (k *Kernel) unusedAssets() []string {
	uses := k.assetUses()
	var found []string
	for p := range k.files {
		rel := strings.TrimPrefix(p, "/data/")
		if !strings.HasPrefix(p, "/data/assets/") || slices.ContainsFunc(k.filesAt(p), func(q string) bool { return uses[strings.TrimPrefix(q, "/data/")] != nil }) {
			continue
		}
		found = append(found, rel)
	}
	slices.Sort(found)
	return found
}

// filesAt are a file and, if it is a folder, all that is in it.
func (k *Kernel) filesAt(p string) []string {
	found := []string{}
	for q := range k.files {
		if q == p || strings.HasPrefix(q, p+"/") {
			found = append(found, q)
		}
	}
	return found
}

func missingAssets(k *Kernel, _ request) reply {
	items := []map[string]any{}
	for target, blocks := range k.assetUses() {
		if k.files["/data/"+target] == nil {
			slices.Sort(blocks)
			items = append(items, map[string]any{"item": target, "name": path.Base(target), "blockIDs": blocks})
		}
	}
	slices.SortFunc(items, func(a, b map[string]any) int { return strings.Compare(a["item"].(string), b["item"].(string)) })
	return ok(items)
}

// renameAsset moves a file and rewrites the documents that name it. A file that is not there is no error.
func renameAsset(k *Kernel, req request) reply {
	old, name := req.str("oldPath"), req.str("newName")
	if name == "" {
		return ok(map[string]any{"newPath": ""})
	}
	name = droppedInNames.Replace(foldedInNames.Replace(name))
	renamed := path.Dir(old) + "/" + name + "-" + k.newID() + path.Ext(old)
	if f := k.files["/data/"+old]; f != nil {
		k.files["/data/"+renamed] = f
		delete(k.files, "/data/"+old)
	}
	for _, b := range k.blocks {
		if len(b.children) == 0 {
			b.text = strings.ReplaceAll(b.text, old, renamed)
		}
	}
	return ok(map[string]any{"newPath": renamed})
}

func statAsset(k *Kernel, req request) reply {
	f := k.files["/data/"+req.str("path")]
	if f == nil {
		return fail(1, "")
	}
	at := f.changed.UnixMilli()
	text := f.changed.Format("2006-01-02 15:04:05")
	return ok(map[string]any{
		"created": at, "updated": at, "hCreated": text, "hUpdated": text, "size": len(f.data), "hSize": fmt.Sprintf("%d B", len(f.data)),
	})
}

// removeTree removes a file, or a folder with all in it.
func (k *Kernel) removeTree(p string) {
	for _, q := range k.filesAt(p) {
		delete(k.files, q)
	}
}
