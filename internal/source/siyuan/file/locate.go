package file

import (
	"context"
	"slices"
	"strings"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// entry is a file or folder of the workspace that is there.
type entry struct {
	path   string // below data/
	folder bool
}

// locate finds a path below data/, name by name as the folders list them, so that neither the
// case nor the form of a letter can be another. A symbolic link on the way may lead anywhere, so
// it is refused; only the first folder may be one, which is how people move their assets to
// another disk. Nil means that there is no such thing.
func locate(ctx context.Context, k *kernel.Client, path string) (*entry, error) {
	return newFolders(k).locate(ctx, path)
}

// folders are those of the workspace, each read once, for a call that looks for many files.
type folders struct {
	kernel *kernel.Client
	read   map[string][]kernel.DirEntry
}

func newFolders(k *kernel.Client) *folders { return &folders{k, map[string][]kernel.DirEntry{}} }

func (f *folders) list(ctx context.Context, dir string) ([]kernel.DirEntry, error) {
	if list, done := f.read[dir]; done {
		return list, nil
	}
	list, err := f.kernel.ReadDir(ctx, dir)
	if err == nil {
		f.read[dir] = list
	}
	return list, err
}

// locate is [locate].
func (f *folders) locate(ctx context.Context, path string) (*entry, error) {
	names := strings.Split(path, "/")
	at := "/data/" + names[0]
	found := &entry{path: path, folder: true}
	for i, name := range names[1:] {
		list, err := f.list(ctx, at)
		if tool.KindOf(err) == tool.Unknown {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		j := slices.IndexFunc(list, func(e kernel.DirEntry) bool { return e.Name == name })
		switch {
		case j < 0:
			return nil, nil
		case list[j].IsSymlink && !ownAssets(names[:i+2]):
			return nil, badPath(path, "leads through a symbolic link", "name the file itself")
		case !list[j].IsDir && i < len(names)-2:
			return nil, nil
		}
		found.folder = list[j].IsDir
		at += "/" + name
	}
	return found, nil
}

// ownAssets reports whether names are those of the assets folder of a notebook.
func ownAssets(names []string) bool { return len(names) == 2 && names[1] == "assets" }

// locateAsset finds the file of an asset, by its literal name first. There may be a folder of
// the name, which is no asset.
func locateAsset(ctx context.Context, r *action.Request, a asset) (*entry, error) {
	if a.notebook != "" && !r.Readable(a.notebook) {
		return nil, access.NotFound(access.Asset, a.given)
	}
	for _, path := range a.files() {
		e, err := locate(ctx, r.Kernel, path)
		if err != nil {
			return nil, err
		}
		if e != nil && !e.folder {
			return e, nil
		}
	}
	return nil, access.NotFound(access.Asset, a.given)
}

// namedAsset is the path below data/ of the asset that an argument names; its Need has been met.
func namedAsset(ctx context.Context, r *action.Request, path string) (string, error) {
	a, wrong := parseAsset(path)
	if wrong != "" {
		return "", badPath(path, wrong, assetHint)
	}
	e, err := locateAsset(ctx, r, a)
	if err != nil {
		return "", err
	}
	return e.path, nil
}
