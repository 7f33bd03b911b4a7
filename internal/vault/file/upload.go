package file

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"strings"
	"time"

	"collie/internal/lazyregexp"
	"collie/internal/vault/api"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// upload stores the files of a form. A file that is there already, with the same name and bytes, is not stored twice,
// whatever the folder.
func upload(tx *workspace.Tx, req api.Request) api.Reply {
	if req.Form == nil {
		return api.Fail(-1, "request Content-Type isn't multipart/form-data")
	}
	dir := "/data/assets"
	if raw := req.Field("assetsDirPath"); raw != "" {
		dir = path.Join("/data", raw)
		if escapes(raw) || !storable(dir) || !inAssets(dir) || blockingFile(tx, dir+"/x") != "" {
			return api.Fail(-1, "Path ["+path.Join(api.Root, dir)+"] is not in workspace")
		}
	}
	var failed []string // null while there are none
	stored := map[string]string{}
	for _, part := range req.Form.File["file[]"] {
		name := path.Base(part.Filename)
		data, err := content(part)
		if err != nil {
			failed = append(failed, name)
			continue
		}
		stored[name] = strings.TrimPrefix(storeAsset(tx, dir, name, data), "/data/")
	}
	return api.OK(map[string]any{"errFiles": failed, "succMap": stored})
}

// storeAsset finds the file that holds the same bytes under the same name, or makes one. Empty files are never the
// same.
func storeAsset(tx *workspace.Tx, dir, name string, data []byte) string {
	stem, ext := assetName(name)
	if len(data) > 0 {
		if p := sameAsset(tx, stem, ext, data); p != "" && strings.HasPrefix(dir+"/", "/data/assets/") {
			return p
		}
	}
	p := dir + "/" + stem + "-" + tx.NewID() + ext
	tx.WriteFile(p, data, time.Time{})
	return p
}

// nameID is the id behind the name of an asset.
var nameID = lazyregexp.New(`-\d{14}-[0-9a-z]{7}$`)

// sameAsset returns a file in the folder of all assets or below it.
func sameAsset(tx *workspace.Tx, stem, ext string, data []byte) (found string) {
	sum := sha256.Sum256(data)
	tx.Rows(func(row workspace.Row) bool {
		held := path.Base(row.Text(0))
		if path.Ext(held) == ext && nameID.ReplaceAllString(strings.TrimSuffix(held, ext), "") == stem {
			found = row.Text(0)
		}
		return found == ""
	}, "SELECT path FROM file WHERE path > '/data/assets/' AND path < '/data/assets0' AND hash = ? AND dir = 0 ORDER BY path",
		hex.EncodeToString(sum[:]))
	return found
}

// linkable removes from a name the characters that have a meaning in an address.
var linkable = strings.NewReplacer("#", "", "%", "")

const (
	maxExt  = 32                        // bytes
	maxStem = maxName - maxExt - 1 - 22 // leaves room for -<id> and the extension
)

// assetName folds a name into what a file and a link may hold, cut to what fits with an id behind it.
func assetName(name string) (stem, ext string) {
	name = foldName(name)
	ext = path.Ext(name)
	if len(ext) > maxExt {
		ext = ""
	}
	return tree.Cut(strings.TrimLeft(strings.TrimSuffix(name, ext), " "), maxStem), strings.TrimRight(ext, " .")
}

// foldName replaces the characters that some system or Markdown cannot have in a name.
func foldName(name string) string { return linkable.Replace(tree.PlainName(name)) }
