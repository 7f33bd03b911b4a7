package document

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the actions document.move and document.reorder.

type moveArgs struct {
	FromIDs    []kernel.ID `json:"fromIDs" about:"document ids, with toID" unique:"true" min:"1" list:"yes"`
	ToID       kernel.ID   `json:"toID" about:"document or notebook to move them below" list:"yes"`
	FromPaths  []string    `json:"fromPaths" about:"storage paths, with toNotebook and toPath" unique:"true" min:"1"`
	ToNotebook kernel.ID   `json:"toNotebook" about:"notebook id"`
	ToPath     string      `json:"toPath" about:"storage path of a document there, / for its top"`
}

type moveResult struct {
	Success  bool        `json:"success" about:"true"`
	FromIDs  []kernel.ID `json:"fromIDs" about:"the documents"`
	ToID     kernel.ID   `json:"toID" about:"document or notebook that they are below now"`
	Notebook kernel.ID   `json:"notebook" about:"notebook id"`
	Paths    []string    `json:"paths" about:"their storage paths now"`
	Count    int         `json:"count" about:"how many"`
}

// move returns the action move of the tool document.
func move() *action.Action {
	from, to := action.On(access.Write, "each document that moves", "fromIDs", movedTargets), action.On(access.Write, "where they go", "toID", newParentTarget)
	return action.New(action.Spec{
		Tool: "document", Name: "move", Purpose: "Move documents below another document or notebook",
		Guide: "Give fromIDs and toID, or fromPaths, toNotebook and toPath. Documents below come along, also where they are named too. " +
			"Into another notebook it needs rwd where they come from.",
		Dangerous: true,
		Class:     action.Structure, Risk: tool.RiskHigh, Effects: tool.EffectWrite,
		Needs:     []action.Need{action.Leaving("documents", from, to), from, to},
		Endpoints: []string{"filetree/moveDocsByID", "filetree/upsertIndexes", "block/getBlockInfo", "notebook/lsNotebooks", "query/sql"},
		Result:    moveResult{},
		Example:   `{"fromIDs":["20240101120000-abcdefg"],"toID":"20240101120000-hijklmn"}`,
		Effect: func(r *action.Request) string {
			return fmt.Sprintf("move %d document(s) with all below", len(r.Targets("fromIDs")))
		},
	}, func(ctx context.Context, r *action.Request, _ moveArgs) (any, error) {
		from, to := r.Targets("fromIDs"), r.Target("toID")
		ids := make([]kernel.ID, 0, len(from))
		for _, t := range from {
			if isWithin(to, t) {
				return nil, r.Conflicting(fmt.Sprintf("document %s cannot be moved into itself or below itself", t.Root), "fromIDs", "toID")
			}
			ids = append(ids, t.Root)
		}
		var moved []kernel.ID // the others move along with one of these
		for _, t := range topmost(from) {
			moved = append(moved, t.Root)
		}
		if err := r.Kernel.MoveDocuments(ctx, moved, to.ID); err != nil {
			return nil, explainTooDeep(err, strings.Count(childrenPath(to.Path), "/")+1)
		}
		paths := make([]string, 0, len(ids))
		for i, id := range ids {
			p, err := currentPlace(ctx, r, id)
			if err != nil {
				return nil, err
			}
			top := slices.Contains(moved, id)
			if p == nil || p.Notebook != to.Notebook || top && p.Path != childrenPath(to.Path)+"/"+string(id)+".sy" {
				return nil, mismatchError(id, "the kernel accepted the move, and the document is not there")
			}
			paths = append(paths, p.Path)
			if top && from[i].Notebook != to.Notebook {
				if err := r.Kernel.Reread(ctx, p.Notebook, p.Path); err != nil {
					return nil, err
				}
			}
		}
		for _, id := range ids {
			r.RefreshDocument(id)
		}
		r.RefreshTree()
		return moveResult{true, ids, to.ID, to.Notebook, paths, len(ids)}, nil
	})
}

// movedTargets returns the documents to move.
func movedTargets(ctx context.Context, r *action.Request) ([]action.Target, error) {
	ids, paths := r.Strings("fromIDs"), r.Strings("fromPaths")
	switch byID := r.Given("toID"); {
	case len(ids) > 0 && len(paths) == 0 && byID && !r.Given("toNotebook") && !r.Given("toPath"):
		return resolveEach(ctx, r, "fromIDs", ids, wholeDocument)
	case len(ids) == 0 && len(paths) > 0 && !byID && r.Given("toNotebook") && r.Given("toPath"):
		return resolveEach(ctx, r, "fromPaths", paths, wholeDocumentAtPath)
	}
	return nil, r.Conflicting("give either fromIDs and toID, or fromPaths, toNotebook and toPath",
		"fromIDs", "toID", "fromPaths", "toNotebook", "toPath")
}

// newParentTarget returns the new parent. [movedTargets] has checked that it is given.
func newParentTarget(ctx context.Context, r *action.Request) ([]action.Target, error) {
	var t action.Target
	var err error
	if id := r.Strings("toID"); len(id) == 1 {
		t, err = parentTarget(ctx, r, "toID", id[0])
	} else if to, path := r.Strings("toNotebook"), r.Strings("toPath"); len(to) == 1 && len(path) == 1 {
		t, err = atPath(ctx, r, to[0], path[0])
	} else {
		err = r.Conflicting("the place to move to is empty", "toID", "toNotebook", "toPath")
	}
	return []action.Target{t}, err
}

type reorderArgs struct {
	ParentID   kernel.ID   `json:"parentID" about:"document or notebook" req:"true"`
	OrderedIDs []kernel.ID `json:"orderedIDs" about:"every document right below it, once, in order" req:"true" min:"1"`
}

type reorderResult struct {
	Success bool `json:"success" about:"true"`
	content.Reordered
}

// reorder returns the action reorder of the tool document.
func reorder() *action.Action {
	return action.New(action.Spec{
		Tool: "document", Name: "reorder", Purpose: "Put the documents below a document or notebook in order",
		Guide: "orderedIDs must have every document right below the parent. A kernel before 3.8.1 has no order for a " +
			"single document: then all of the notebook is shown in its custom order (sortModeScope).",
		Class: action.Structure, Risk: tool.RiskMedium, Effects: tool.EffectWrite,
		Needs:     []action.Need{action.On(access.Write, "the parent", "parentID", reorderTarget)},
		Endpoints: []string{"notebook/getNotebookConf", "filetree/listDocsByPath", "filetree/changeSort", "filetree/setDocSortMode", "notebook/setNotebookConf", "attr/getBlockAttrs"},
		Result:    reorderResult{},
		Example:   `{"parentID":"20240101120000-abcdefg","orderedIDs":["20240102120000-hijklmn","20240103120000-opqrstu"]}`,
	}, func(ctx context.Context, r *action.Request, a reorderArgs) (any, error) {
		t := r.Target("parentID")
		done, err := content.Reorder(ctx, r, t.Notebook, t, a.OrderedIDs)
		if err != nil {
			return nil, err
		}
		return reorderResult{true, done}, nil
	})
}

// reorderTarget returns the parent whose children are reordered.
func reorderTarget(ctx context.Context, r *action.Request) ([]action.Target, error) {
	id := r.Strings("parentID")
	if len(id) == 0 {
		return nil, r.Invalid("parentID", "must not be empty")
	}
	t, err := parentTarget(ctx, r, "parentID", id[0])
	return []action.Target{t}, err
}
