package content

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file puts child documents in an order, and lists them.

// Reordered is the result of [Reorder]. Its JSON is that of document.reorder; fs.reorder has paths instead of ids.
type Reordered struct {
	ParentID kernel.ID `json:"parentID" about:"document or notebook"`
	Notebook kernel.ID `json:"notebook" about:"notebook id"`
	Changed  bool      `json:"changed" about:"whether anything changed"`
	// OrderChanged says that the custom order changed, SortModeChanged that the custom order was not shown before.
	OrderChanged    bool `json:"orderChanged" about:"whether the custom order did"`
	SortModeChanged bool `json:"sortModeChanged" about:"whether the custom order is shown only from now on"`
	// SortModeScope is "document", or "notebook" if the parent is a notebook, if the notebook is in custom order already, or if
	// the kernel has no order for a single document: then all of the notebook is shown in its custom order.
	SortModeScope string      `json:"sortModeScope" about:"what that holds for: document or notebook"`
	PreviousOrder []kernel.ID `json:"previousOrder" about:"the order before"`
	Order         []kernel.ID `json:"order" about:"the order now" verbose:"yes"`
}

const (
	scopeNotebook = "notebook"
	scopeDocument = "document"
	// sortModeAttr is the attribute of a document whose children have their own order.
	sortModeAttr = "custom-sy-subdoc-sort-mode"
)

// Reorder puts the direct child documents of parent, a document or a notebook, in an order and makes the custom order
// the one that is shown. ordered must have every visible child exactly once; otherwise the error has kind
// invalid_arguments and nothing is written. The caller has checked the levels.
func Reorder(
	ctx context.Context, r *action.Request, notebook kernel.ID, parent action.Target, ordered []kernel.ID,
) (Reordered, error) {
	out := Reordered{ParentID: parent.ID, Notebook: notebook, Order: ordered}
	children, err := r.Kernel.SortedDocuments(ctx, notebook, parent.Path, kernel.SortCustom)
	if err != nil {
		return out, err
	}
	out.PreviousOrder = documentIDs(children)
	if err := checkOrder(r, out.PreviousOrder, ordered); err != nil {
		return out, err
	}
	if !slices.Equal(out.PreviousOrder, ordered) {
		if err := writeOrder(ctx, r, notebook, parent.Path, children, ordered); err != nil {
			return out, err
		}
		out.OrderChanged = true
	}
	if out.SortModeChanged, out.SortModeScope, err = showCustomOrder(ctx, r, notebook, parent, ordered); err != nil {
		return out, err
	}
	if out.Changed = out.OrderChanged || out.SortModeChanged; out.Changed {
		r.RefreshTree()
	}
	return out, nil
}

func documentIDs(list []kernel.Document) []kernel.ID {
	ids := make([]kernel.ID, len(list))
	for i := range list {
		ids[i] = list[i].ID
	}
	return ids
}

// checkOrder refuses an order with missing, duplicate or foreign children.
func checkOrder(r *action.Request, children, ordered []kernel.ID) error {
	var foreign, twice, left []kernel.ID
	seen := map[kernel.ID]bool{}
	for _, id := range ordered {
		switch {
		case !slices.Contains(children, id):
			foreign = append(foreign, id)
		case seen[id]:
			twice = append(twice, id)
		}
		seen[id] = true
	}
	for _, id := range children {
		if !seen[id] {
			left = append(left, id)
		}
	}
	var wrong []string
	for _, w := range []struct {
		what string
		ids  []kernel.ID
	}{{"no child of the parent", foreign}, {"given twice", twice}, {"left out", left}} {
		if len(w.ids) > 0 {
			wrong = append(wrong, fmt.Sprintf("%s: %s", w.what, joinIDs(w.ids)))
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	e := r.Conflicting("the order must have every child exactly once; " + strings.Join(wrong, "; "))
	e.Hint = `document(action="get_child_docs") and notebook(action="get_child_docs") list the children`
	e.Facts = map[string]any{"children": children}
	return e
}

func joinIDs(ids []kernel.ID) string {
	texts := make([]string, 0, len(ids))
	for _, id := range ids {
		texts = append(texts, string(id))
	}
	const limit = 20
	if len(texts) > limit {
		texts = append(texts[:limit], fmt.Sprintf("and %d more", len(ids)-limit))
	}
	return strings.Join(texts, ", ")
}

// writeOrder writes the custom order and reads it back.
func writeOrder(
	ctx context.Context, r *action.Request, notebook kernel.ID, path string, children []kernel.Document, ordered []kernel.ID,
) error {
	paths := make([]string, 0, len(ordered))
	for _, id := range ordered {
		i := slices.IndexFunc(children, func(d kernel.Document) bool { return d.ID == id })
		paths = append(paths, children[i].Path)
	}
	if err := r.Kernel.ChangeSort(ctx, notebook, paths); err != nil {
		return err
	}
	now, err := r.Kernel.SortedDocuments(ctx, notebook, path, kernel.SortCustom)
	if err != nil {
		return err
	}
	if got := documentIDs(now); !slices.Equal(got, ordered) {
		return &tool.Error{
			Op: "reorder", Kind: kernel.Mismatch, Subject: path,
			Message: "the kernel accepted the order and has another one now",
			Hint:    "list the children again: one may have come or gone meanwhile", Facts: map[string]any{"order": got},
		}
	}
	return nil
}

// showCustomOrder makes the custom order the one that is shown below parent. Kernels before 3.8.1 can do that only for a
// whole notebook.
func showCustomOrder(
	ctx context.Context, r *action.Request, notebook kernel.ID, parent action.Target, ordered []kernel.ID,
) (changed bool, scope string, err error) {
	top := parent.What == access.Notebook
	if !top {
		attrs, err := r.Kernel.Attrs(ctx, parent.ID)
		if err != nil {
			return false, scopeDocument, err
		}
		if attrs[sortModeAttr] == fmt.Sprint(kernel.SortCustom) {
			return false, scopeDocument, nil
		}
	}
	mode, err := r.Kernel.NotebookSortMode(ctx, notebook)
	if err != nil {
		return false, scopeNotebook, err
	}
	if mode == kernel.SortCustom {
		documents, err := r.Kernel.Documents(ctx, notebook, parent.Path)
		if err != nil || slices.Equal(documentIDs(documents), ordered) {
			return false, scopeNotebook, err
		}
	}
	if !top {
		switch err := r.Kernel.SetDocSortMode(ctx, parent.ID, kernel.SortCustom); {
		case err == nil:
			return true, scopeDocument, nil
		case tool.KindOf(err) != kernel.NotInKernel:
			return false, scopeDocument, err
		}
	}
	if mode == kernel.SortCustom {
		return false, scopeNotebook, nil
	}
	_, err = r.Kernel.SetNotebookConf(ctx, notebook, map[string]any{"sortMode": kernel.SortCustom})
	return err == nil, scopeNotebook, err
}

// ListedDocument is a direct child document of a notebook or another document in a list.
type ListedDocument struct {
	ID           kernel.ID `json:"id" about:"document id"`
	Notebook     kernel.ID `json:"notebook" about:"notebook id" verbose:"yes"`
	Path         string    `json:"path" about:"storage path"`
	HPath        string    `json:"hPath" about:"human path in the notebook"`
	Name         string    `json:"name" about:"title"`
	Icon         string    `json:"icon" about:"icon" verbose:"yes"`
	SubFileCount int       `json:"subFileCount" about:"documents right below it"`
}

// ListDocuments converts the documents directly below a human path of a notebook; never nil.
func ListDocuments(notebook kernel.ID, above string, documents []kernel.Document) []ListedDocument {
	out := make([]ListedDocument, 0, len(documents))
	for _, d := range documents {
		out = append(out, ListedDocument{d.ID, notebook, d.Path, strings.TrimSuffix(above, "/") + "/" + d.Name, d.Name, d.Icon, d.SubFileCount})
	}
	return out
}
