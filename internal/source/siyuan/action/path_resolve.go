package action

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file finds the notebook or document that a human path names.

// The kernel's limits for documents.
const (
	maxTitle = 512
	maxDepth = 7
)

// maxParallel bounds the parallel requests to the kernel for one path.
const maxParallel = 8

// Resolve returns the notebook or document that has a human path. A hidden one is not found; several with the same
// path are an error of kind ambiguous_path. The caller checks the level.
//
// A known path takes one request, besides the list of notebooks that each call reads once. The index is only asked if
// the kernel's tree does not know the path. Target.Path may be empty; see [Request.Located].
func (r *Request) Resolve(ctx context.Context, path string) (Target, error) {
	normal, err := NormalizePath(path)
	if err != nil {
		return Target{}, err
	}
	if normal == "/" || isVirtual(normal) {
		return Target{}, badPathError(path, "is neither a notebook nor a document")
	}
	return r.resolvePath(ctx, normal, access.Read)
}

// Located returns t with its storage path. It makes a request if the path is unknown.
func (r *Request) Located(ctx context.Context, t Target) (Target, error) {
	if t.Path != "" {
		return t, nil
	}
	notebook, path, err := r.Kernel.PathByID(ctx, t.ID)
	if err != nil {
		return t, err
	}
	if notebook != t.Notebook { // just moved to a notebook whose level was not checked
		return t, access.NotFound(t.What, t.Subject)
	}
	t.Path = path
	return r.cachePlace(t), nil
}

// HumanPath returns the path that callers use for the human path hpath of a notebook, "/" for the notebook itself:
// the notebook's name comes first, with its id if two have that name.
func (r *Request) HumanPath(ctx context.Context, notebook kernel.ID, hpath string) (string, error) {
	visible, err := r.Levels.Visible(ctx)
	if err != nil {
		return "", err
	}
	path := DocumentPath(visible, notebook, hpath)
	if path == "" {
		return "", access.NotFound(access.Notebook, string(notebook))
	}
	return path, nil
}

// DocumentPath is [Request.HumanPath] with the notebooks that may be read; "" if the notebook is not among them.
func DocumentPath(visible []kernel.Notebook, notebook kernel.ID, hpath string) string {
	i := slices.IndexFunc(visible, func(n kernel.Notebook) bool { return n.ID == notebook })
	if i < 0 {
		return ""
	}
	var path strings.Builder
	path.WriteString(NotebookPath(visible, &visible[i]))
	for title := range strings.SplitSeq(strings.Trim(hpath, "/"), "/") {
		if title != "" {
			path.WriteString("/" + EncodeName(title))
		}
	}
	return path.String()
}

// NotebookPath returns the human path of a notebook among those that may be read.
func NotebookPath(visible []kernel.Notebook, n *kernel.Notebook) string {
	path := joinPath(n.Name)
	sameName := 0
	for i := range visible {
		if visible[i].Name == n.Name {
			sameName++
		}
	}
	if sameName > 1 || isVirtual(path) || strings.TrimSpace(n.Name) != n.Name || n.Name == "" {
		path = "/" + EncodeName(n.Name) + "#" + string(n.ID)
	}
	return path
}

// resolvePath returns the one thing with a normalised path. If there are several and only one is in a notebook with the
// level, it returns that one.
func (r *Request) resolvePath(ctx context.Context, path string, level access.Level) (Target, error) {
	found, err := r.lookUpPath(ctx, path)
	if err != nil {
		return Target{}, err
	}
	return r.onlyTarget(ctx, path, found, level)
}

// onlyTarget returns the only target of found, or an error for none or several.
func (r *Request) onlyTarget(ctx context.Context, path string, found pathMatches, level access.Level) (Target, error) {
	targets := found.documents
	if found.notebooks != nil {
		targets = found.notebooks
	}
	allowed := slices.DeleteFunc(slices.Clone(targets), func(t Target) bool { return r.Levels.Of(t.Notebook) < level })
	switch {
	case len(allowed) == 1:
		return allowed[0], nil
	case len(targets) == 1:
		return targets[0], nil
	case len(targets) == 0 && found.closed != "":
		return Target{}, ClosedNotebookError(path, found.closed)
	case len(targets) == 0:
		return Target{}, r.pathNotFound(ctx, path)
	case found.notebooks != nil:
		return Target{}, ambiguousPathError(path, "notebooks", r.uniquePaths(ctx, targets))
	}
	return Target{}, ambiguousPathError(path, "documents", r.uniquePaths(ctx, targets))
}

// ClosedNotebookError returns the error for a path into a closed notebook.
func ClosedNotebookError(path, name string) *tool.Error {
	return &tool.Error{
		Op: "resolve", Kind: kernel.API, Code: kernel.CodeNotebookClosed, Subject: path,
		Message: fmt.Sprintf("the notebook %q is closed", name),
		Hint:    `open it with notebook(action="set_open_state", notebook=…, opened=true)`,
	}
}

// uniquePaths returns unique paths of targets.
func (r *Request) uniquePaths(ctx context.Context, targets []Target) []string {
	out := make([]string, 0, len(targets))
	for _, t := range targets {
		path, err := r.HumanPath(ctx, t.Notebook, t.HPath)
		if err != nil {
			continue
		}
		if t.What == access.Document && slices.ContainsFunc(targets, func(o Target) bool {
			return o.ID != t.ID && o.Notebook == t.Notebook && o.HPath == t.HPath
		}) {
			path += "#" + string(t.ID)
		}
		out = append(out, path)
	}
	return out
}

// pathMatches is the result of looking up a path.
type pathMatches struct {
	// notebooks has the notebooks that a path of one name means. For a longer path it is set if the first name means
	// several notebooks.
	notebooks []Target
	documents []Target
	closed    string // name of the notebook, if it is closed
}

// lookUpPath finds what has a normalised path among what may be read.
func (r *Request) lookUpPath(ctx context.Context, path string) (pathMatches, error) {
	visible, err := r.Levels.Visible(ctx)
	if err != nil {
		return pathMatches{}, err
	}
	names := splitPath(path)
	named := namedNotebooks(visible, names[0])
	switch {
	case len(named) > 1 || len(named) == 1 && len(names) == 1:
		var out pathMatches
		for i := range named {
			t := NotebookTarget(&named[i])
			t.Subject = path
			out.notebooks = append(out.notebooks, t)
		}
		return out, nil
	case len(named) == 1:
		out := pathMatches{}
		if named[0].Closed || named[0].Locked() {
			out.closed = named[0].Name
			return out, nil
		}
		out.documents, err = r.findDocuments(ctx, path, named, names[1:])
		return out, err
	}
	open := slices.DeleteFunc(slices.Clone(visible), func(n kernel.Notebook) bool { return n.Closed || n.Locked() })
	documents, err := r.findDocuments(ctx, path, open, names)
	return pathMatches{documents: documents}, err
}

// namedNotebooks returns the notebooks of that name, or the one that name#id means.
func namedNotebooks(visible []kernel.Notebook, name string) []kernel.Notebook {
	var out []kernel.Notebook
	for i := range visible {
		if visible[i].Name == name {
			out = append(out, visible[i])
		}
	}
	rest, id, ok := cutID(name)
	if len(out) > 0 || !ok {
		return out
	}
	for i := range visible {
		if visible[i].ID == id && visible[i].Name == rest {
			out = append(out, visible[i])
		}
	}
	return out
}

// findDocuments returns the documents with a human path in notebooks: from the kernel's tree, else from its index,
// verified in the tree.
func (r *Request) findDocuments(ctx context.Context, subject string, notebooks []kernel.Notebook, names []string) ([]Target, error) {
	found, err := r.findInTree(ctx, subject, notebooks, names)
	if err != nil || len(found) > 0 {
		return found, err
	}
	last := len(names) - 1
	if title, id, ok := cutID(names[last]); ok {
		plain := append(slices.Clone(names[:last]), title)
		found, err := r.findInTree(ctx, subject, notebooks, plain)
		found = slices.DeleteFunc(found, func(t Target) bool { return t.ID != id })
		if err != nil || len(found) > 0 {
			return found, err
		}
	}
	return r.findInIndex(ctx, subject, notebooks, names)
}

// findInTree asks the kernel's tree of documents for all notebooks in parallel.
func (r *Request) findInTree(ctx context.Context, subject string, notebooks []kernel.Notebook, names []string) ([]Target, error) {
	hpath := "/" + strings.Join(names, "/")
	found := make([][]kernel.ID, len(notebooks))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(maxParallel)
	for i := range notebooks {
		group.Go(func() (err error) {
			found[i], err = r.Kernel.IDsByHPath(ctx, notebooks[i].ID, hpath)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	var out []Target
	for i, ids := range found {
		for _, id := range ids {
			if id == notebooks[i].ID || !id.Valid() || slices.ContainsFunc(out, func(t Target) bool { return t.ID == id }) {
				continue // a notebook's hidden document, or a duplicate
			}
			out = append(out, Target{
				What: access.Document, Subject: subject, ID: id, Notebook: notebooks[i].ID, Root: id, HPath: hpath, Title: names[len(names)-1],
			})
		}
	}
	return out, nil
}

// findInIndex asks the index, which may know what the tree has not loaded, but may be out of date.
func (r *Request) findInIndex(ctx context.Context, subject string, notebooks []kernel.Notebook, names []string) ([]Target, error) {
	if len(notebooks) == 0 {
		return nil, nil
	}
	boxes := make([]kernel.ID, len(notebooks))
	for i := range notebooks {
		boxes[i] = notebooks[i].ID
	}
	hpath := "/" + strings.Join(names, "/")
	rows, err := kernel.SQL[blockRow](ctx, r.Kernel, "SELECT DISTINCT id, root_id, box, path, hpath FROM blocks WHERE type = 'd' AND box IN ("+
		kernel.QuoteIDs(boxes)+") AND hpath = "+kernel.Quote(hpath)+" LIMIT 100")
	if isSQLRefused(err) {
		return nil, nil // the document tree was already searched
	}
	if err != nil {
		return nil, err
	}
	var out []Target
	for _, w := range rows {
		if w.ID == w.Box || !slices.Contains(boxes, w.Box) || slices.ContainsFunc(out, func(t Target) bool { return t.ID == w.ID }) {
			continue
		}
		notebook, path, err := r.Kernel.PathByID(ctx, w.ID)
		if err != nil || notebook != w.Box {
			continue // deleted or moved since
		}
		if now, err := r.Kernel.HPathByID(ctx, w.ID); err != nil || now != hpath {
			continue
		}
		out = append(out, Target{
			What: access.Document, Subject: subject, ID: w.ID, Notebook: notebook, Root: w.ID, Path: path, HPath: hpath, Title: names[len(names)-1],
		})
	}
	return out, nil
}

// resolveNewPath is like resolvePath for a path where something may have to be created: it needs the parent only.
func (r *Request) resolveNewPath(ctx context.Context, path string, level access.Level) (Target, error) {
	found, err := r.lookUpPath(ctx, path)
	if err != nil {
		return Target{}, err
	}
	if found.notebooks != nil || len(found.documents) > 0 || found.closed != "" {
		return r.onlyTarget(ctx, path, found, level)
	}
	parts := strings.Split(strings.TrimPrefix(path, "/"), "/")
	title := decodeName(parts[len(parts)-1])
	above := "/" + strings.Join(parts[:len(parts)-1], "/")
	switch trimmed := strings.TrimSpace(title); {
	case len(parts) == 1:
		return Target{}, badPathError(path, "has one name only, and no notebook is called that")
	case trimmed == "", trimmed == ".", trimmed == "..":
		return Target{}, badPathError(path, "ends in a title that SiYuan does not allow")
	case trimmed != title: // SiYuan would trim it
		return r.resolveNewPath(ctx, above+"/"+EncodeName(trimmed), level)
	case strings.Contains(title, "/"):
		return Target{}, badPathError(path, "ends in a title with a slash, which SiYuan does not allow")
	case utf8.RuneCountInString(title) > maxTitle:
		return Target{}, badPathError(path[:min(len(path), 80)]+"…", fmt.Sprintf("ends in a title of more than %d characters", maxTitle))
	}
	parent, err := r.resolvePath(ctx, above, level)
	if err != nil {
		return Target{}, err
	}
	t := Target{What: access.Path, Subject: path, Notebook: parent.Notebook, HPath: "/" + title, Title: title}
	if parent.What == access.Document {
		t.Root, t.HPath = parent.ID, parent.HPath+"/"+title
	}
	if strings.Count(t.HPath, "/") > maxDepth {
		return Target{}, badPathError(path, fmt.Sprintf("has more than %d levels of documents, which SiYuan does not allow", maxDepth))
	}
	return t, nil
}
