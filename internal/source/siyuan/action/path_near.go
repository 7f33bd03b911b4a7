package action

import (
	"context"
	"fmt"
	"slices"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// pathNotFound returns the error for a path that does not exist. Its hint says which part of the path exists and which
// name there is similar to the next part. It uses only what may be read, so it reveals nothing hidden. The requests
// for it are made only after a failed call.
func (r *Request) pathNotFound(ctx context.Context, path string) error {
	e := access.NotFound(access.Path, path)
	folder, like := r.nearestExisting(ctx, path)
	if folder != "/" {
		e.Hint = fmt.Sprintf(`fs(action="ls", path=%q) shows what is there`, folder)
	}
	if like != "" {
		e.Hint = fmt.Sprintf("did you mean %q? ", like) + e.Hint
	}
	return e
}

// nearestExisting returns the deepest existing part of a path, and the path of a thing in it whose name is like the
// next name; empty if there is none.
func (r *Request) nearestExisting(ctx context.Context, path string) (folder, like string) {
	visible, err := r.Levels.Visible(ctx)
	names := splitPath(path)
	if err != nil || len(names) == 0 {
		return "/", ""
	}
	named := namedNotebooks(visible, names[0])
	if len(named) == 0 {
		i, ok := nearest(names[0], visible, func(n kernel.Notebook) string { return n.Name })
		if !ok {
			return "/", ""
		}
		return "/", NotebookPath(visible, &visible[i])
	}
	folder, storage := NotebookPath(visible, &named[0]), "/"
	for _, name := range names[1:min(len(names), maxDepth+1)] {
		documents, err := r.Kernel.Documents(ctx, named[0].ID, storage)
		if err != nil {
			break
		}
		i := slices.IndexFunc(documents, func(d kernel.Document) bool { return d.Name == name })
		if i < 0 {
			if i, ok := nearest(name, documents, func(d kernel.Document) string { return d.Name }); ok {
				like = folder + joinPath(documents[i].Name)
			}
			break
		}
		folder, storage = folder+joinPath(name), documents[i].Path
	}
	return folder, like
}

// nearest returns the thing whose name is most similar to name.
func nearest[T any](name string, of []T, named func(T) string) (int, bool) {
	known := make([]string, len(of))
	for i := range of {
		known[i] = named(of[i])
	}
	best, ok := tool.Nearest(name, known)
	return slices.Index(known, best), ok
}
