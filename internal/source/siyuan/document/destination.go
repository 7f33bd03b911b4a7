package document

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file finds the place for a new document, and checks that it is free and may be used.

// destination is where a new document goes.
type destination struct {
	notebook kernel.ID
	hpath    string // human path of the new document
	title    string
	parent   *action.Target // nil if only its human path matters
}

// destinationOf determines where a new document goes, and checks that it may be created there.
func destinationOf(ctx context.Context, r *action.Request, a *createArgs) (*destination, error) {
	d := &destination{notebook: a.Notebook}
	var err error
	switch byParent := a.ParentPath != "" || a.Title != ""; {
	case byParent && a.Path != "", byParent && (a.ParentPath == "" || a.Title == ""), !byParent && a.Path == "":
		return nil, r.Conflicting("give either path, or parentPath and title", "path", "parentPath", "title")
	case byParent:
		err = d.setParent(ctx, r, a)
	default:
		err = d.setPath(r, a.Path)
	}
	if err != nil {
		return nil, err
	}
	if err := d.checkDepth(ctx, r); err != nil {
		return nil, err
	}
	return d, d.checkFree(ctx, r, a.AllowDuplicate)
}

// setPath sets the destination to a human path.
func (d *destination) setPath(r *action.Request, path string) error {
	if storagePath.MatchString(path) {
		return &tool.Error{
			Op: "create", Kind: kernel.InvalidPath, Subject: path,
			Message: "a new document needs a human path such as /Projects/Alpha, not a storage path",
			Hint:    "give parentPath (a storage path will do) and title instead",
		}
	}
	titles, err := titlesOf(r, "path", path)
	if err != nil {
		return err
	}
	if len(titles) == 0 {
		return r.Invalid("path", "must have a title after the slash")
	}
	d.hpath, d.title = "/"+strings.Join(titles, "/"), titles[len(titles)-1]
	return nil
}

// titlesOf splits a human path into titles.
func titlesOf(r *action.Request, param, path string) ([]string, error) {
	var titles []string
	for part := range strings.SplitSeq(path, "/") {
		if part == "" {
			continue
		}
		title, err := cleanTitle(r, param, part)
		if err != nil {
			return nil, err
		}
		titles = append(titles, title)
	}
	return titles, nil
}

// setParent sets the destination to below an existing parent.
func (d *destination) setParent(ctx context.Context, r *action.Request, a *createArgs) error {
	title, err := cleanTitle(r, "title", a.Title)
	if err != nil {
		return err
	}
	parent, err := d.parentAt(ctx, r, a.ParentPath)
	if err != nil {
		return err
	}
	hpath, err := hpathOf(ctx, r, parent)
	if err != nil {
		return err
	}
	d.parent, d.title, d.hpath = &parent, title, strings.TrimSuffix(hpath, "/")+"/"+title
	return nil
}

// parentAt returns the document with this id, storage path or human path. "/" is the notebook.
func (d *destination) parentAt(ctx context.Context, r *action.Request, path string) (action.Target, error) {
	if path == "/" || storagePath.MatchString(path) {
		return atPath(ctx, r, string(d.notebook), path)
	}
	if kernel.ID(path).Valid() {
		t, err := parentTarget(ctx, r, "parentPath", path)
		if err == nil && t.Notebook != d.notebook {
			err = r.Conflicting(fmt.Sprintf("%s is not in notebook %s", path, d.notebook), "parentPath", "notebook")
		}
		return t, err
	}
	titles, err := titlesOf(r, "parentPath", path)
	if err != nil {
		return action.Target{}, err
	}
	hpath := "/" + strings.Join(titles, "/")
	ids, err := r.Kernel.IDsByHPath(ctx, d.notebook, hpath)
	switch {
	case err != nil:
		return action.Target{}, err
	case len(ids) == 0:
		e := access.NotFound(access.Document, path)
		e.Hint = "create the parent first, or give path, which makes missing parents"
		return action.Target{}, e
	case len(ids) > 1:
		return action.Target{}, ambiguousPathError(hpath, ids)
	}
	return r.Place(ctx, access.Document, string(ids[0]))
}

// ambiguousPathError returns the error for a human path that several documents have.
func ambiguousPathError(hpath string, ids []kernel.ID) error {
	return &tool.Error{
		Op: "find", Kind: tool.Ambiguous, Subject: hpath,
		Message: fmt.Sprintf("%d documents have the path %s", len(ids), hpath),
		Hint:    "name the one that is meant by its id or storage path", Facts: map[string]any{"candidates": ids},
	}
}

// parentHPath returns the human path of the parent of the new document.
func (d *destination) parentHPath() string {
	if above := d.hpath[:strings.LastIndex(d.hpath, "/")]; above != "" {
		return above
	}
	return "/"
}

// maxLevels is the default maximum depth of documents in SiYuan.
const maxLevels = 7

// checkDepth refuses a path that is too deep before the kernel does, because the kernel would not remove the parents that it
// has created by then. If the parent exists already, the kernel decides.
func (d *destination) checkDepth(ctx context.Context, r *action.Request) error {
	if strings.Count(d.hpath, "/") <= maxLevels || d.parent != nil {
		return nil
	}
	above, err := r.Kernel.IDsByHPath(ctx, d.notebook, d.parentHPath())
	if err != nil || len(above) > 0 {
		return err
	}
	return r.Invalid("path", fmt.Sprintf("has %d levels of documents, SiYuan allows %d", strings.Count(d.hpath, "/"), maxLevels))
}

// explainTooDeep adds a hint to an error of the kernel if the document may have been too deep. The kernel's own message is in
// the language of its user interface.
func explainTooDeep(err error, level int) error {
	e, ok := errors.AsType[*tool.Error](err)
	if !ok || level <= maxLevels || e.Kind != kernel.API || e.Facts["kernelCode"] != -1 {
		return err
	}
	out := *e
	out.Hint = fmt.Sprintf("this would be level %d of documents, and SiYuan allows %d unless its settings say otherwise: choose a parent higher up", level, maxLevels)
	return &out
}

// checkFree refuses a human path that is in use, because the kernel would create a second document with it.
func (d *destination) checkFree(ctx context.Context, r *action.Request, duplicate bool) error {
	if duplicate {
		return nil
	}
	ids, err := r.Kernel.IDsByHPath(ctx, d.notebook, d.hpath)
	if err != nil || len(ids) == 0 {
		return err
	}
	return &tool.Error{
		Op: "create", Kind: tool.Exists, Code: "document_exists", Subject: d.hpath,
		Message: fmt.Sprintf("a document with the path %s already exists", d.hpath),
		Hint:    fmt.Sprintf(`block(action="append", parentID="%s") adds to it; allowDuplicate=true makes a second one`, ids[0]),
		Facts:   map[string]any{"id": ids[0], "ids": ids},
	}
}
