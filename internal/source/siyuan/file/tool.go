// Package file is the tool for files: assets, templates, exports, and transfers between the workspace and this machine's
// disk.
//
// The kernel checks almost nothing: it packs and removes any path it is given. So a path is checked in three steps
// before it is sent. Its text must be the path of an asset or template ([parseAsset]). The file and every folder above
// it must exist and must not be links ([datafile.Locate]). The notebooks that use the file must have the level
// ([needsAsset]). Rules for local paths are in local.go.
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
