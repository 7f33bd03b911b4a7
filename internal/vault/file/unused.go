package file

import (
	"path"
	"slices"
	"strings"

	"collie/internal/vault/api"
	"collie/internal/vault/workspace"
)

// This file has the endpoints for assets that no text mentions.

// maxUnused bounds how many unused assets are listed and removed at a time.
const maxUnused = 512

func getUnusedAssets(tx *workspace.Tx, _ api.Request) api.Reply {
	items := []map[string]any{}
	for _, a := range unusedAssets(tx) {
		items = append(items, map[string]any{"item": a, "name": path.Base(a)})
	}
	return api.OK(items)
}

// unusedAssets returns the paths of files in asset folders, and of folders below data/assets, that no text mentions. As
// in SiYuan, an address written with an escape does not count. The annotations of a used PDF are used too.
func unusedAssets(tx *workspace.Tx) []string {
	var files, folders []string
	used := map[string]bool{} // by address as in documents; also the folders of used files
	tx.Rows(func(row workspace.Row) bool {
		a := strings.TrimPrefix(row.Text(0), "/data/")
		switch {
		case !inAssets(row.Text(0)):
		case row.Int(1) != 0:
			if address(a) == a {
				folders = append(folders, a)
			}
		case row.Int(2) != 0:
			markUsed(used, address(a))
		default:
			files = append(files, a)
		}
		return true
	}, `SELECT path, dir, EXISTS (SELECT 1 FROM asset WHERE asset.path = substr(file.path, instr(file.path, '/assets/') + 1))
			OR EXISTS (SELECT 1 FROM annotation WHERE annotation.path = substr(file.path, instr(file.path, '/assets/') + 1)) FROM file
		WHERE path > '/data/' AND path < '/data0' AND instr(path, '/assets/') > 0 ORDER BY path`)
	for a := range findMentioned(tx, addresses(files), false) {
		markUsed(used, a)
	}
	unused := slices.DeleteFunc(append(files, folders...), func(a string) bool {
		return used[address(a)] || used[strings.TrimSuffix(address(a), annotationExt)]
	})
	slices.Sort(unused)
	return unused[:min(len(unused), maxUnused)]
}

// address returns the address that documents use for the path of an asset: from the folder assets on.
func address(p string) string { return p[max(strings.Index("/"+p, "/assets/"), 0):] }

func addresses(paths []string) []string {
	list := make([]string, len(paths))
	for i, p := range paths {
		list[i] = address(p)
	}
	return list
}

// markUsed marks an asset and the folders above it as used.
func markUsed(used map[string]bool, asset string) {
	for ; asset != "."; asset = path.Dir(asset) {
		used[asset] = true
	}
}

// removeUnusedAsset removes an asset, whether it is used or not: callers use it for both. SiYuan removes any file; the
// vault accepts only a file among the assets, or a folder of assets of which none is used.
func removeUnusedAsset(tx *workspace.Tx, req api.Request) api.Reply {
	raw := req.Str("path")
	p, ok := assetFile(raw)
	if !ok {
		return api.Fail(-1, "Path ["+raw+"] is not an asset")
	}
	if f := tx.Stat(p); f != nil && f.Dir && len(findMentioned(tx, assetsBelow(tx, p), true)) > 0 {
		return api.Fail(-1, "Path ["+raw+"] holds assets that are used")
	}
	removeAsset(tx, p)
	return api.OK(map[string]any{"path": api.Root + p})
}

// assetsBelow returns the addresses of the files below a folder.
func assetsBelow(tx *workspace.Tx, p string) (assets []string) {
	for _, f := range tx.FilesBelow(p) {
		if !f.Dir {
			assets = append(assets, strings.TrimPrefix(f.Path, "/data/"))
		}
	}
	return assets
}

// removeAsset removes a file or folder, with its annotations and recognized text.
func removeAsset(tx *workspace.Tx, p string) {
	for _, f := range append(tx.FilesBelow(p), workspace.File{Path: p}) {
		tx.RemoveRecord(textRecord, f.Path)
	}
	tx.RemoveFile(p)
	tx.RemoveFile(p + annotationExt)
}
