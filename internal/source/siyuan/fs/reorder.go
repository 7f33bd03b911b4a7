package fs

import (
	"context"
	"strings"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the action fs.reorder, which changes the order of documents.

type reorderArgs struct {
	Path         string   `json:"path" about:"notebook or document whose children are ordered" req:"true"`
	OrderedPaths []string `json:"orderedPaths" about:"every child exactly once, in the new order" req:"true" min:"1"`
}

type reorderResult struct {
	Success         bool      `json:"success" about:"always true"`
	Path            string    `json:"path" about:"the parent"`
	ParentID        kernel.ID `json:"parentID" about:"its id" verbose:"yes"`
	Notebook        kernel.ID `json:"notebook" about:"id of its notebook" verbose:"yes"`
	Changed         bool      `json:"changed" about:"something is different now"`
	OrderChanged    bool      `json:"orderChanged" about:"the custom order is another"`
	SortModeChanged bool      `json:"sortModeChanged" about:"the custom order is shown only from now on"`
	SortModeScope   string    `json:"sortModeScope" about:"what is shown in its custom order: document or notebook"`
	PreviousOrder   []string  `json:"previousOrder" about:"paths as they were" verbose:"yes"`
	Order           []string  `json:"order" about:"paths as they are"`
}

// reorder returns the action reorder of the tool fs.
func reorder() *action.Action {
	return action.New(action.Spec{
		Tool: "fs", Name: "reorder", Purpose: "Set the order of the documents below a path", Class: action.Structure, Risk: tool.RiskLow, Effects: tool.EffectWrite,
		Guide: "A kernel before 3.8.1 can only show all of a notebook in its custom order: sortModeScope says so.",
		Needs: []action.Need{action.OnPath(access.Write, "path", action.PathNotebook)},
		Endpoints: []string{
			"filetree/getPathByID", "filetree/listDocsByPath", "filetree/changeSort", "attr/getBlockAttrs", "notebook/getNotebookConf",
			"filetree/setDocSortMode", "notebook/setNotebookConf",
		},
		Positional: []string{"path"},
		Result:     reorderResult{},
		Example:    `{"path":"/Work notes","orderedPaths":["/Work notes/B","/Work notes/A"]}`,
		Inverse:    orderInverse,
	}, runReorder)
}

// orderInverse returns the call that restores the current order. It does not restore the sort mode.
func orderInverse(ctx context.Context, r *action.Request) (*action.Inverse, error) {
	f, err := folderOf(ctx, r, r.Target("path"))
	if err != nil {
		return nil, err
	}
	children, err := listFolder(ctx, r, f)
	if err != nil || len(children) == 0 {
		return nil, err
	}
	paths := make([]string, len(children))
	for i, c := range children {
		paths[i] = c.human
	}
	args, err := action.Encode(map[string]any{"path": f.human, "orderedPaths": paths})
	return &action.Inverse{Tool: "fs", Action: "reorder", Args: args}, err
}

func runReorder(ctx context.Context, r *action.Request, a reorderArgs) (any, error) {
	parent, err := r.Located(ctx, r.Target("path"))
	if err != nil {
		return nil, err
	}
	f, err := folderOf(ctx, r, parent)
	if err != nil {
		return nil, err
	}
	children, err := listFolder(ctx, r, f)
	if err != nil {
		return nil, err
	}
	ids, err := orderedIDs(r, f, children, a.OrderedPaths)
	if err != nil {
		return nil, err
	}
	done, err := content.Reorder(ctx, r, parent.Notebook, parent, ids)
	if err != nil {
		return nil, err
	}
	paths := map[kernel.ID]string{}
	for _, c := range children {
		paths[c.ID] = c.human
	}
	named := func(ids []kernel.ID) []string {
		out := make([]string, len(ids))
		for i, id := range ids {
			out[i] = paths[id]
		}
		return out
	}
	return reorderResult{
		Success: true, Path: f.human, ParentID: done.ParentID, Notebook: done.Notebook, Changed: done.Changed,
		OrderChanged: done.OrderChanged, SortModeChanged: done.SortModeChanged, SortModeScope: done.SortModeScope,
		PreviousOrder: named(done.PreviousOrder), Order: named(done.Order),
	}, nil
}

// orderedIDs returns the ids of children in the given order of paths or names. Each child must be given exactly once.
func orderedIDs(r *action.Request, f folder, children []child, ordered []string) ([]kernel.ID, error) {
	byPath := map[string]kernel.ID{}
	var all []string
	for _, c := range children {
		byPath[c.human] = c.ID
		all = append(all, c.human)
	}
	refuse := func(message string, path string) error {
		e := r.Conflicting(message+" "+path, "orderedPaths")
		e.Hint = `orderedPaths must have every child exactly once; fs(action="ls", path="` + f.human + `") lists them`
		e.Facts = map[string]any{"children": all}
		return e
	}
	seen := map[kernel.ID]bool{}
	out := make([]kernel.ID, 0, len(ordered))
	for _, given := range ordered {
		path, err := action.NormalizePath(given)
		if err != nil {
			return nil, err
		}
		id, ok := byPath[path]
		if !ok {
			id, ok = byPath[f.human+path] // a name, or a path without the notebook
		}
		if !ok && strings.HasPrefix(path, "/") {
			id, ok = byPath[f.human+path[strings.LastIndexByte(path, '/'):]]
			ok = ok && sameParent(path, r.Target("path").Subject)
		}
		switch {
		case !ok:
			return nil, refuse("there is no child", path)
		case seen[id]:
			return nil, refuse("this child is given twice:", path)
		}
		seen[id] = true
		out = append(out, id)
	}
	for _, c := range children {
		if !seen[c.ID] {
			return nil, refuse("this child is left out:", c.human)
		}
	}
	return out, nil
}

// sameParent reports whether a path is directly below parent.
func sameParent(path, parent string) bool {
	return path[:strings.LastIndexByte(path, '/')] == parent
}
