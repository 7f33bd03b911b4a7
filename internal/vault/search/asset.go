package search

import (
	"path"
	"slices"
	"strings"

	"collie/internal/lazyregexp"
	"collie/internal/sorting"
	"collie/internal/vault/api"
	"collie/internal/vault/workspace"
)

// assetsDir is the folder of assets in the workspace.
const assetsDir = "/data/assets"

// nameID matches the id at the end of an asset's name.
var nameID = lazyregexp.New(`-\d{14}-[0-9a-z]{7}$`)

// assetName is an asset in the answer of searchAsset.
type assetName struct {
	HName   string `json:"hName"` // HTML, without the id
	Path    string `json:"path"`  // assets/...
	Updated int64  `json:"updated"`
}

// searchAsset finds assets whose name contains k, ignoring case, newest first.
func searchAsset(tx *workspace.Tx, req api.Request) api.Reply {
	query := req.Str("k")
	exts := req.OptStrs("exts")
	mark := marker(func(name string) string { return name })
	if query != "" {
		mark = wordMarker([]string{query})
	}
	hits := []assetName{}
	for _, f := range assetFiles(tx) {
		name := shownName(f.Path)
		if !strings.Contains(foldCase(name), foldCase(query)) || len(exts) > 0 && !slices.Contains(exts, path.Ext(f.Path)) {
			continue
		}
		hits = append(hits, assetName{mark(name), strings.TrimPrefix(f.Path, "/data/"), f.Changed.Unix()})
	}
	return api.OK(hits)
}

// assetFiles returns the files below data/assets, newest first.
func assetFiles(tx *workspace.Tx) []workspace.File {
	list := slices.DeleteFunc(tx.FilesBelow(assetsDir), func(f workspace.File) bool { return f.Dir })
	sorting.Stable(list, func(a, b workspace.File) int { return b.Changed.Compare(a.Changed) })
	return list
}

// shownName returns the name of an asset without its id.
func shownName(p string) string {
	return nameID.ReplaceAllString(strings.TrimSuffix(path.Base(p), path.Ext(p)), "") + path.Ext(p)
}
