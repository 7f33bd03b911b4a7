package document

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"collie/internal/lazyregexp"
	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file finds the documents and notebooks that arguments name, and the levels that they need.

// storagePath matches the storage path of a document: /<id>/<id>.sy.
var storagePath = lazyregexp.New(`^(?:/[0-9]{14}-[0-9a-z]{7})+\.sy$`)

// lastID returns the last id in a storage path, which is that of the document.
func lastID(path string) kernel.ID {
	return kernel.ID(strings.TrimSuffix(path[strings.LastIndex(path, "/")+1:], ".sy"))
}

// childrenPath returns the storage path of a document's children, without a trailing slash; "" for the top of a
// notebook.
func childrenPath(path string) string {
	if path == "/" {
		return ""
	}
	return strings.TrimSuffix(path, ".sy")
}

// notebookOf returns the notebook with an id. For a hidden notebook the error is not_found.
func notebookOf(ctx context.Context, r *action.Request, id string) (action.Target, error) {
	n, err := listedNotebook(ctx, r, id)
	if err != nil {
		return action.Target{}, err
	}
	return action.NotebookTarget(n), nil
}

// listedNotebook returns a notebook from the list of those that may be read; any other is not found.
func listedNotebook(ctx context.Context, r *action.Request, id string) (*kernel.Notebook, error) {
	visible, err := r.Levels.Visible(ctx)
	if err != nil {
		return nil, err
	}
	if n := kernel.FindNotebook(visible, kernel.ID(id)); n != nil {
		return n, nil
	}
	return nil, access.NotFound(access.Notebook, id)
}

// openNotebook is like [notebookOf] for actions on the documents of a notebook. It refuses a closed notebook, which would
// seem empty because the kernel does not show its documents.
func openNotebook(ctx context.Context, r *action.Request, id string) (action.Target, error) {
	n, err := listedNotebook(ctx, r, id)
	if err != nil {
		return action.Target{}, err
	}
	e := &tool.Error{Op: "open", Kind: kernel.API, Code: kernel.CodeNotebookClosed, Subject: id}
	switch {
	case n.Locked():
		e.Message = fmt.Sprintf("notebook %q is locked", n.Name)
		e.Hint = "a person has to unlock it in SiYuan"
		err = e
	case n.Closed:
		e.Message = fmt.Sprintf("notebook %q is closed, so its documents cannot be read", n.Name)
		e.Hint = fmt.Sprintf(`notebook(action="set_open_state", notebook="%s", opened=true) opens it`, n.ID)
		err = e
	}
	return action.NotebookTarget(n), err
}

// needsOpenNotebook returns an [action.Need] for a level on the notebook whose id is in an argument. The notebook must be open.
func needsOpenNotebook(level access.Level, param string) action.Need {
	need := action.OnNotebook(level, param)
	need.Targets = func(ctx context.Context, r *action.Request) ([]action.Target, error) {
		ids := r.Strings(param)
		if len(ids) == 0 {
			return nil, r.Invalid(param, "must not be empty")
		}
		t, err := notebookOf(ctx, r, ids[0])
		if err == nil && r.Levels.Of(t.ID) >= level { // otherwise the missing level is the error to report
			t, err = openNotebook(ctx, r, ids[0])
		}
		return []action.Target{t}, err
	}
	return need
}

// notebookPagePath returns the storage path of a notebook's own page, which has the notebook's id. An action on the page would
// affect the notebook.
func notebookPagePath(notebook kernel.ID) string { return "/" + string(notebook) + ".sy" }

// notebookName returns the name of a readable notebook.
func notebookName(ctx context.Context, r *action.Request, id kernel.ID) (string, error) {
	t, err := notebookOf(ctx, r, string(id))
	return t.Title, err
}

// wholeDocument returns the document with an id. It refuses blocks, and the page that every notebook has under its own
// id, because actions on it would affect the notebook.
func wholeDocument(ctx context.Context, r *action.Request, param, id string) (action.Target, error) {
	t, err := r.Place(ctx, access.Document, id)
	switch {
	case err != nil:
		return t, err
	case t.ID != t.Root:
		e := r.Invalid(param, fmt.Sprintf("%s is a block, not a document", id))
		e.Hint = fmt.Sprintf("its document is %s", t.Root)
		return t, e
	case t.Root == t.Notebook:
		e := r.Invalid(param, fmt.Sprintf("%s is a notebook, not a document", id))
		e.Hint = "the notebook tool works on notebooks"
		return t, e
	}
	return t, nil
}

// atPath returns the document at a storage path of an open notebook. For "/" and the path of the notebook's page it
// returns the notebook.
func atPath(ctx context.Context, r *action.Request, notebook, path string) (action.Target, error) {
	n, err := openNotebook(ctx, r, notebook)
	if err != nil || path == "/" || path == notebookPagePath(n.ID) {
		return n, err
	}
	t, err := byPath(ctx, r, path)
	if err == nil && t.Notebook != n.ID {
		err = access.NotFound(access.Path, path)
	}
	return t, err
}

// byPath returns the document at a storage path, in any notebook.
func byPath(ctx context.Context, r *action.Request, path string) (action.Target, error) {
	if !storagePath.MatchString(path) {
		return action.Target{}, &tool.Error{
			Op: "find", Kind: kernel.InvalidPath, Subject: path,
			Message: fmt.Sprintf("%q is not a storage path, which looks like /20240101120000-abcdefg.sy", path),
			Hint:    `document(action="lookup", hpath="/…") turns a human path into one`,
		}
	}
	t, err := r.Place(ctx, access.Path, string(lastID(path)))
	switch {
	case tool.KindOf(err) == tool.NotFound, err == nil && t.Path != path:
		return t, access.NotFound(access.Path, path)
	case err != nil:
		return t, err
	}
	t.Subject = path
	return t, nil
}

// byUniquePath is like [byPath] for a path without a notebook. It must exist in exactly one.
func byUniquePath(ctx context.Context, r *action.Request, path string) (action.Target, error) {
	t, err := byPath(ctx, r, path)
	if err != nil {
		return t, err
	}
	boxes, err := kernel.SQL[struct{ Box kernel.ID }](ctx, r.Kernel,
		"SELECT DISTINCT box FROM blocks WHERE type = 'd' AND path = "+kernel.Quote(path)+" LIMIT 100")
	if err != nil {
		return t, err
	}
	for _, other := range boxes {
		if other.Box != t.Notebook && r.Readable(other.Box) {
			return t, &tool.Error{
				Op: "find", Kind: kernel.InvalidPath, Subject: path,
				Message: fmt.Sprintf("the storage path %s is in several notebooks", path),
				Hint:    "name the document by its id",
			}
		}
	}
	return t, nil
}

// needsDocument returns an [action.Need] for a level on the document that a required argument names.
func needsDocument(level access.Level, param string) action.Need {
	return action.On(level, "document "+param, param, func(ctx context.Context, r *action.Request) ([]action.Target, error) {
		ids := r.Strings(param)
		if len(ids) == 0 {
			return nil, r.Invalid(param, "must not be empty")
		}
		t, err := wholeDocument(ctx, r, param, ids[0])
		return []action.Target{t}, err
	})
}

// needsOneDocument returns an [action.Need] for a level on the document given by id, or by notebook and path.
func needsOneDocument(level access.Level) action.Need {
	return action.On(level, "the document", "id", func(ctx context.Context, r *action.Request) ([]action.Target, error) {
		var t action.Target
		var err error
		switch id, path := r.Strings("id"), r.Strings("path"); {
		case len(id) == 1 && len(path) == 0 && !r.Given("notebook"):
			t, err = wholeDocument(ctx, r, "id", id[0])
		case len(id) == 0 && len(path) == 1 && len(r.Strings("notebook")) == 1:
			t, err = documentAt(ctx, r, r.Text("notebook"), path[0])
		default:
			err = r.Conflicting("give either id, or notebook and path", "id", "notebook", "path")
		}
		return []action.Target{t}, err
	})
}

// documentAt is like [atPath], but does not accept notebooks.
func documentAt(ctx context.Context, r *action.Request, notebook, path string) (action.Target, error) {
	t, err := atPath(ctx, r, notebook, path)
	if err == nil && t.Root == "" {
		err = r.Invalid("path", `must be that of a document: "/" is the notebook, and the notebook tool works on it`)
	}
	return t, err
}

// parentTarget returns the document or open notebook with an id, as a parent of documents.
func parentTarget(ctx context.Context, r *action.Request, param, id string) (action.Target, error) {
	n, err := openNotebook(ctx, r, id)
	if tool.KindOf(err) != tool.NotFound || err == nil {
		return n, err
	}
	return wholeDocument(ctx, r, param, id)
}

// hpathOf returns the current human path of a target.
func hpathOf(ctx context.Context, r *action.Request, t action.Target) (string, error) {
	if t.What == access.Notebook || t.Root == t.Notebook {
		return "/", nil
	}
	return r.Kernel.HPathByID(ctx, t.Root)
}

// mismatchError returns the error for a write that the kernel accepted but that had no effect.
func mismatchError(id kernel.ID, message string) error {
	return &tool.Error{
		Op: "write document", Kind: kernel.Mismatch, Subject: string(id), Message: message,
		Hint: `document(action="lookup") shows where the document is now`,
	}
}

// currentPlace returns where a document or block is now, regardless of what was known before; nil if it is gone.
func currentPlace(ctx context.Context, r *action.Request, id kernel.ID) (*kernel.Place, error) {
	p, err := r.Kernel.Place(ctx, id)
	switch {
	case err == nil:
		return &p, nil
	case isKernelRefusal(err):
		return nil, nil //nolint:nilnil // gone is not an error
	}
	return nil, err
}

// isKernelRefusal reports whether the kernel itself refused a request. It reports an unknown id that way, in messages
// that vary.
func isKernelRefusal(err error) bool {
	e, ok := errors.AsType[*tool.Error](err)
	return ok && (e.Kind == tool.NotFound || e.Kind == kernel.API && e.Facts["kernelCode"] == -1)
}
