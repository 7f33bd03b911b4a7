package action

import (
	"context"
	"slices"

	"collie/internal/source/siyuan/access"
)

// PathKind is what a human path may name besides a document.
type PathKind uint8

// The kinds.
const (
	PathRoot     PathKind = iota // "/"; has no target
	PathNotebook                 // "/<notebook>"; the target is the notebook
	PathVirtual                  // a virtual file; has no target
)

// OnPath returns a [Need] for a level on the document whose human path is in an argument. also lists what else the path may name.
// [Request.Target] returns the document or notebook; the root and virtual files have no target and need no level. A
// path that does not exist, or is hidden, is not found.
func OnPath(level access.Level, param string, also ...PathKind) Need {
	return pathNeed(level, param, also, (*Request).resolvePath)
}

// OnNewPath returns a [Need] for a level on the place that a human path names, whether something exists there or not. Its parent, a
// document or notebook, must exist. If a document has the path, it is the target. Otherwise the target has no ID: its
// Notebook, HPath and Title describe what is to be created, and its Root is the document above it, empty at the top
// of a notebook.
func OnNewPath(level access.Level, param string, also ...PathKind) Need {
	return pathNeed(level, param, also, (*Request).resolveNewPath)
}

// OnMemory reports whether the call is for [AgentsFile], which is not a target.
func (r *Request) OnMemory() bool {
	return slices.ContainsFunc(r.Action.Needs, func(n Need) bool {
		return slices.ContainsFunc(r.Strings(n.Param), func(given string) bool {
			path, err := NormalizePath(given)
			return err == nil && path == AgentsFile
		})
	})
}

func pathNeed(
	level access.Level, param string, also []PathKind,
	resolve func(r *Request, ctx context.Context, path string, level access.Level) (Target, error),
) Need {
	allows := func(k PathKind) bool {
		return slices.Contains(also, k)
	}
	return Need{Level: level, Of: "path " + param, Param: param, Targets: func(ctx context.Context, r *Request) ([]Target, error) {
		out := []Target{}
		paths := r.Strings(param)
		if len(paths) == 0 && r.Given(param) {
			return nil, badPathError("", "is empty")
		}
		for _, given := range paths {
			path, err := NormalizePath(given)
			if err != nil {
				return nil, err
			}
			switch {
			case path == "/" && allows(PathRoot), isVirtual(path) && allows(PathVirtual):
				continue
			case path == "/":
				return nil, badPathError(given, "is the list of notebooks, and a document is needed")
			case isVirtual(path):
				return nil, badPathError(given, "is a virtual file, which cannot be used here")
			}
			t, err := resolve(r, ctx, path, level)
			if err != nil {
				return nil, err
			}
			if t.What == access.Notebook && !allows(PathNotebook) {
				return nil, badPathError(given, "is a notebook, and a document is needed")
			}
			out = append(out, t)
		}
		return out, nil
	}}
}
