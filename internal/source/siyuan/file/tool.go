// Package file is the tool of files: assets, templates and exports, and what goes between the
// workspace and the disk of this machine.
//
// The kernel checks next to nothing here: it packs and removes any path that it is given. So a
// path goes three steps before it is sent. Its text must be that of an asset or template
// ([parseAsset]); folder by folder, what it names must be there and must not be a link
// ([datafile.Locate]); and the notebooks that use it must have the level ([needsAsset]). Local
// paths have rules of their own, in local.go.
package file

import "collie/internal/source/siyuan/action"

// Tool returns the tool.
func Tool() action.Tool {
	return action.Tool{
		Name:  "file",
		About: "Assets (images, attachments), templates, exports. Paths are assets/NAME; local files only in allowed folders.",
		Actions: []*action.Action{
			uploadAsset(), listTemplates(), readTemplate(), render(), exportMD(), exportResources(), listUnusedAssets(),
			getDocAssets(), getImageOCRText(), removeUnusedAssets(), renameAsset(), deleteAsset(), extractDoc(),
		},
	}
}
