package file

import (
	"context"
	"path"
	"strings"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/datafile"
)

// This file decides which files of the workspace may be packed into an archive.

const resourceHint = `expected assets, emojis or templates: /data/assets/a.png, /data/NOTEBOOK/assets, /data/emojis, /data/templates/x.md`

// maxWalk bounds the folders below a folder that is packed.
const maxWalk = 500

// parseResource parses a path below data/ that may leave the workspace, given as "/data/assets/…" or as the path of an
// asset. a is set for a file or folder of assets. Everything else is refused: documents, settings, databases, plugins.
func parseResource(text string) (below string, a *assetPath, wrong string) {
	below = strings.TrimPrefix(text, "/")
	if strings.HasPrefix(text, "/") && !strings.HasPrefix(text, "/data/") {
		return "", nil, "is not below /data/"
	}
	below = strings.TrimSuffix(strings.TrimPrefix(below, "data/"), "/")
	names, wrong := datafile.Check(below)
	if wrong != "" {
		return "", nil, wrong
	}
	switch names[0] {
	case "emojis", "templates":
		if datafile.HasEncodedChar(below) {
			return "", nil, "has an encoded character"
		}
		return below, nil, ""
	}
	inner := below
	if names[len(names)-1] == "assets" {
		inner += "/x" // the folder itself: its content decides whether it is a folder of assets
	}
	got, wrong := parseAsset(inner)
	if wrong != "" {
		return "", nil, wrong
	}
	if inner != below {
		got.given, got.plain = below, below
	}
	return below, &got, ""
}

// needsResources returns an [action.Need] for a level on what each path of an argument packs: for an asset as usual; for a folder of a notebook
// in that notebook; for the common folder of assets in every notebook, since its files may belong to any of them. Emojis
// and templates belong to the workspace.
func needsResources(level access.Level, param string) action.Need {
	return action.On(level, "the notebooks of "+param, param, func(ctx context.Context, r *action.Request) ([]action.Target, error) {
		var out []action.Target
		for _, text := range r.Strings(param) {
			targets, err := resourceTargets(ctx, r, level, text)
			if err != nil {
				return nil, err
			}
			out = append(out, targets...)
		}
		return out, nil
	})
}

func resourceTargets(ctx context.Context, r *action.Request, level access.Level, text string) ([]action.Target, error) {
	e, a, err := locateResource(ctx, r, text)
	if err != nil || a == nil {
		return nil, err
	}
	if !e.Folder {
		return assetTargets(ctx, r, level, *a, e, text)
	}
	if a.notebook != "" {
		return []action.Target{{What: access.Asset, Subject: text, Notebook: a.notebook, Path: e.Path}}, nil
	}
	return nil, r.Levels.Everywhere(ctx, level)
}

// locateResource finds a file or folder of the workspace, and checks that it contains no link and no document.
func locateResource(ctx context.Context, r *action.Request, text string) (*datafile.Entry, *assetPath, error) {
	below, a, wrong := parseResource(text)
	if wrong != "" {
		return nil, nil, datafile.BadPathError(text, wrong, resourceHint)
	}
	missing := access.NotFound(access.Asset, text)
	tries := []string{below}
	if a != nil {
		if a.notebook != "" && !r.Readable(a.notebook) {
			return nil, nil, missing
		}
		tries = a.files()
	}
	for _, try := range tries {
		e, err := datafile.Locate(ctx, r.Kernel, try)
		if err != nil {
			return nil, nil, err
		}
		if e == nil {
			continue
		}
		if e.Folder {
			budget := maxWalk
			if err := plainFolder(ctx, r, text, "/data/"+e.Path, &budget); err != nil {
				return nil, nil, err
			}
		}
		return e, a, nil
	}
	return nil, nil, missing
}

// plainFolder checks that a folder contains no links and no documents, because the kernel packs everything in it.
func plainFolder(ctx context.Context, r *action.Request, text, at string, budget *int) error {
	if *budget--; *budget < 0 {
		return datafile.BadPathError(text, "has too many folders in it", "name smaller folders, or files")
	}
	list, err := r.Kernel.ReadDir(ctx, at)
	if err != nil {
		return err
	}
	for _, e := range list {
		switch {
		case e.IsSymlink:
			return datafile.BadPathError(text, "has a symbolic link in it", "name the files themselves")
		case datafile.Document(e.Name):
			return datafile.BadPathError(text, "has a document in it", "name the files themselves")
		case e.IsDir:
			if err := plainFolder(ctx, r, text, path.Join(at, e.Name), budget); err != nil {
				return err
			}
		}
	}
	return nil
}
