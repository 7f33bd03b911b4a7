package file

import (
	"context"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/datafile"
)

// locateAsset finds the file of an asset, by its literal name first. There may be a folder of
// the name, which is not an asset.
func locateAsset(ctx context.Context, r *action.Request, a asset) (*datafile.Entry, error) {
	if a.notebook != "" && !r.Readable(a.notebook) {
		return nil, access.NotFound(access.Asset, a.given)
	}
	for _, path := range a.files() {
		e, err := datafile.Locate(ctx, r.Kernel, path)
		if err != nil {
			return nil, err
		}
		if e != nil && !e.Folder {
			return e, nil
		}
	}
	return nil, access.NotFound(access.Asset, a.given)
}

// namedAsset is the path below data/ of the asset that an argument names; its Need has been met.
func namedAsset(ctx context.Context, r *action.Request, path string) (string, error) {
	a, wrong := parseAsset(path)
	if wrong != "" {
		return "", datafile.BadPath(path, wrong, assetHint)
	}
	e, err := locateAsset(ctx, r, a)
	if err != nil {
		return "", err
	}
	return e.Path, nil
}
