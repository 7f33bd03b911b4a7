package document

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

// This file has the action document.remove, which removes documents.

type removeArgs struct {
	ID       kernel.ID   `json:"id" about:"document id"`
	Notebook kernel.ID   `json:"notebook" about:"notebook id, with path"`
	Path     string      `json:"path" about:"storage path, with notebook"`
	IDs      []kernel.ID `json:"ids" about:"document ids" unique:"true" min:"1"`
	Paths    []string    `json:"paths" about:"storage paths" unique:"true" min:"1"`
}

// removeResult is what a removal returns.
type removeResult struct {
	Success bool        `json:"success" about:"true"`
	ID      kernel.ID   `json:"id,omitempty" about:"the document, of a single one"`
	IDs     []kernel.ID `json:"ids,omitempty" about:"the documents, of several"`
	Paths   []string    `json:"paths,omitempty" about:"their storage paths, where paths was given"`
	Count   int         `json:"count" about:"how many were named"`
}

// remove returns the action remove of the tool document.
func remove() *action.Action {
	return action.New(action.Spec{
		Tool: "document", Name: "remove", Purpose: "Delete documents with all documents below them",
		Guide:     "Give one of id, notebook and path, ids, paths. SiYuan keeps a copy in its history.",
		Off:       true,
		Dangerous: true,
		Class:     action.State, Risk: tool.RiskHigh, Effects: tool.EffectWrite | tool.EffectDelete, Saves: action.SavesTrees,
		Needs:      []action.Need{action.On(access.Delete, "each document", "id", removeTargets)},
		Endpoints:  []string{"filetree/removeDocByID", "block/getBlockInfo", "query/sql"},
		Result:     removeResult{},
		Positional: []string{"id"},
		Example:    `{"id":"20240101120000-abcdefg"}`,
		Effect: func(r *action.Request) string {
			return fmt.Sprintf("delete %d document(s) with all documents below", len(r.Targets("id")))
		},
	}, func(ctx context.Context, r *action.Request, a removeArgs) (any, error) {
		targets := r.Targets("id")
		var removed []kernel.ID
		for _, t := range topmost(targets) {
			if err := removeAndCheck(ctx, r, t.Root); err != nil {
				return nil, action.AddRemoved(err, removed)
			}
			removed = append(removed, t.Root)
			r.RefreshDocument(t.Root)
		}
		r.RefreshTree()
		out := removeResult{Success: true, Count: len(targets), Paths: a.Paths}
		for _, t := range targets {
			out.IDs = append(out.IDs, t.Root)
		}
		if len(a.IDs)+len(a.Paths) == 0 {
			out.ID, out.IDs = targets[0].Root, nil
		}
		return out, nil
	})
}

// removeAndCheck removes a document and checks that it is gone.
func removeAndCheck(ctx context.Context, r *action.Request, id kernel.ID) error {
	if err := r.Kernel.RemoveDocument(ctx, id); err != nil {
		return err
	}
	p, err := currentPlace(ctx, r, id)
	if err == nil && p != nil {
		err = mismatchError(id, "the kernel accepted the removal, and the document is still there")
	}
	return err
}

// removeTargets returns the documents to remove.
func removeTargets(ctx context.Context, r *action.Request) ([]action.Target, error) {
	ids, paths := r.Strings("ids"), r.Strings("paths")
	switch single := r.Given("id") || r.Given("path") || r.Given("notebook"); {
	case single && len(ids)+len(paths) == 0:
		return needsOneDocument(access.Delete).Targets(ctx, r)
	case !single && len(ids) > 0 && len(paths) == 0:
		return resolveEach(ctx, r, "ids", ids, wholeDocument)
	case !single && len(ids) == 0 && len(paths) > 0:
		return resolveEach(ctx, r, "paths", paths, wholeDocumentAtPath)
	}
	return nil, r.Conflicting("give one of id, notebook and path, ids, paths", "id", "notebook", "path", "ids", "paths")
}

// resolveEach resolves names one by one, after requesting all of them in one batch.
func resolveEach(
	ctx context.Context, r *action.Request, param string, names []string,
	resolve func(ctx context.Context, r *action.Request, param, name string) (action.Target, error),
) ([]action.Target, error) {
	ids := make([]kernel.ID, 0, len(names))
	for _, name := range names {
		ids = append(ids, lastID("/"+name))
	}
	if _, err := r.Places(ctx, ids); err != nil {
		return nil, err
	}
	out := make([]action.Target, 0, len(names))
	for _, name := range names {
		t, err := resolve(ctx, r, param, name)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// wholeDocumentAtPath adapts [byUniquePath] for [resolveEach].
func wholeDocumentAtPath(ctx context.Context, r *action.Request, param, path string) (action.Target, error) {
	t, err := byUniquePath(ctx, r, path)
	if err != nil {
		return t, err
	}
	if t, err = wholeDocument(ctx, r, param, string(t.Root)); err == nil {
		t.Subject = path
	}
	return t, err
}

// topmost returns targets without descendants of other targets, which are removed along with them.
func topmost(targets []action.Target) []action.Target {
	return slices.DeleteFunc(slices.Clone(targets), func(t action.Target) bool {
		return slices.ContainsFunc(targets, func(up action.Target) bool { return up.Root != t.Root && isWithin(t, up) })
	})
}

// isWithin reports whether t is up or a descendant of it.
func isWithin(t, up action.Target) bool {
	return t.Notebook == up.Notebook && (t.Path == up.Path || strings.HasPrefix(t.Path, childrenPath(up.Path)+"/"))
}
