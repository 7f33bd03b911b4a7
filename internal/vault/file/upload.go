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

// upload stores the files of a form. A file that goes into data/assets, or below it, is not stored again if one with the
// same bytes and name is there already.
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

// storeAsset returns the path of the file with the same bytes and name, or of a new one. Empty files are never the
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

// nameID matches the id at the end of an asset's name.
var nameID = lazyregexp.New(`-\d{14}-[0-9a-z]{7}$`)

// sameAsset returns the file with the same bytes and name in or below data/assets, "" if there is none.
func sameAsset(tx *workspace.Tx, stem, ext string, data []byte) (found string) {
	sum := sha256.Sum256(data)
	tx.Rows(func(row workspace.Row) bool {
		base := path.Base(row.Text(0))
		if path.Ext(base) == ext && nameID.ReplaceAllString(strings.TrimSuffix(base, ext), "") == stem {
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

// assetName splits the name of a file into stem and extension, without characters that a file name or link cannot have,
// and short enough that an id fits between them.
func assetName(name string) (stem, ext string) {
	name = foldName(name)
	ext = path.Ext(name)
	if len(ext) > maxExt {
		ext = ""
	}
	return tree.Cut(strings.TrimLeft(strings.TrimSuffix(name, ext), " "), maxStem), strings.TrimRight(ext, " .")
}

// foldName replaces the characters that cannot be in a name on some system or in Markdown.
func foldName(name string) string { return linkable.Replace(tree.PlainName(name)) }
