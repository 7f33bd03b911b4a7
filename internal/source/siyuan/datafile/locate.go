package datafile

import (
	"context"
	"slices"
	"strings"

	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// Entry is an existing file or folder of the workspace.
type Entry struct {
	Path   string // below data/
	Folder bool
}

// Locate finds a path below data/ by listing each folder on the way, so that upper and lower case and the Unicode
// form of each name must match exactly. It refuses a symbolic link on the way, which may lead anywhere. Only the first
// folder, and the folder assets of a notebook, may be links, because people move their assets to another disk that way.
// It returns nil if the path does not exist.
func Locate(ctx context.Context, k *kernel.Client, path string) (*Entry, error) {
	return NewFolders(k).Locate(ctx, path)
}

// Folders lists folders of the workspace for a call that looks for many files, and reads each of them once.
type Folders struct {
	kernel *kernel.Client
	read   map[string][]kernel.DirEntry
}

// NewFolders returns the folders of a kernel's workspace, none of them read yet.
func NewFolders(k *kernel.Client) *Folders { return &Folders{k, map[string][]kernel.DirEntry{}} }

func (f *Folders) list(ctx context.Context, dir string) ([]kernel.DirEntry, error) {
	if list, done := f.read[dir]; done {
		return list, nil
	}
	list, err := f.kernel.ReadDir(ctx, dir)
	if err == nil {
		f.read[dir] = list
	}
	return list, err
}

// Locate is like the function [Locate], but looks only in these folders.
func (f *Folders) Locate(ctx context.Context, path string) (*Entry, error) {
	names := strings.Split(path, "/")
	at := "/data/" + names[0]
	found := &Entry{Path: path, Folder: true}
	for i, name := range names[1:] {
		list, err := f.list(ctx, at)
		if tool.KindOf(err) == tool.NotFound {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		j := slices.IndexFunc(list, func(e kernel.DirEntry) bool { return e.Name == name })
		switch {
		case j < 0:
			return nil, nil
		case list[j].IsSymlink && !isNotebookAssets(names[:i+2]):
			return nil, BadPathError(path, "leads through a symbolic link", "name the file itself")
		case !list[j].IsDir && i < len(names)-2:
			return nil, nil
		}
		found.Folder = list[j].IsDir
		at += "/" + name
	}
	return found, nil
}

// isNotebookAssets reports whether names are those of the assets folder of a notebook.
func isNotebookAssets(names []string) bool { return len(names) == 2 && names[1] == "assets" }
