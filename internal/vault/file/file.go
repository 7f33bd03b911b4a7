// Package file implements the endpoints that see the vault as a folder of files: the file API, assets, templates,
// archives, Markdown exports and the indexing of .sy files.
//
// Files are rows of the workspace; files of the machine are never accessed. Paths are those of the workspace: absolute,
// with slashes, taken literally (an escape such as %2e is three characters). Notebooks and documents appear as the
// files that they are in a SiYuan workspace, but are read-only: they are changed through their own endpoints. Where
// SiYuan removes any file (removeUnusedAsset), the vault refuses everything but assets.
//
// Entry point: [Register].
package file

import "collie/internal/vault/api"

// Register adds the routes of this package to mux.
func Register(mux *api.Mux) {
	mux.Read("/api/file/getFile", getFile)
	mux.Write("/api/file/putFile", putFile)
	mux.Read("/api/file/readDir", readDir)
	mux.Write("/api/file/removeFile", removeFile)

	mux.Write("/api/filetree/upsertIndexes", upsertIndexes)

	mux.Write("/api/asset/upload", upload)
	mux.Read("/api/asset/getDocAssets", getDocAssets)
	mux.Read("/api/asset/getDocImageAssets", getDocImageAssets)
	mux.Read("/api/asset/getUnusedAssets", getUnusedAssets)
	mux.Write("/api/asset/removeUnusedAsset", removeUnusedAsset)
	mux.Read("/api/asset/resolveAssetPath", resolveAssetPath)
	mux.Write("/api/asset/renameAsset", renameAsset)
	mux.Read("/api/asset/getImageOCRText", getImageOCRText)
	mux.Write("/api/asset/setImageOCRText", setImageOCRText)

	mux.Read("/api/search/searchTemplate", searchTemplate)
	mux.Read("/api/template/render", render)
	mux.Read("/api/template/renderSprig", renderSprig)

	mux.Read("/api/export/exportMdContent", exportMdContent)
	mux.Write("/api/export/exportResources", exportResources)
}
