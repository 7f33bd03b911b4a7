package document

import (
	"context"
	"sync"

	"golang.org/x/sync/errgroup"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the action document.list_tree, which lists documents as a tree.

type listTreeArgs struct {
	Notebook kernel.ID `json:"notebook" about:"notebook id" req:"true"`
	Path     string    `json:"path" about:"storage path of a document, / for the whole notebook" req:"true"`
	MaxDepth int       `json:"maxDepth" about:"levels to list" default:"3" min:"1" max:"20"`
}

// node is a document in a tree.
type node struct {
	ID         kernel.ID `json:"id" about:"document id"`
	Name       string    `json:"name" about:"title"`
	Icon       string    `json:"icon,omitempty" about:"icon" verbose:"yes"`
	Path       string    `json:"path" about:"storage path"`
	Children   []*node   `json:"children,omitempty" about:"documents below it, in the same form"`
	ChildCount int       `json:"childCount,omitempty" about:"how many there are below it, where they are not listed"`
	Truncated  bool      `json:"childrenTruncated,omitempty" about:"true where they are not listed"`
}

// failure is a part of a tree that could not be listed.
type failure struct {
	Path    string `json:"path"`
	Message string `json:"message"`
}

type listTreeResult struct {
	Box       kernel.ID `json:"box" about:"notebook id"`
	Path      string    `json:"path" about:"storage path that the tree is below"`
	Tree      []*node   `json:"tree" about:"documents, each with those below it in children"`
	MaxDepth  int       `json:"maxDepth" about:"levels that are listed"`
	DepthHint string    `json:"depthHint,omitempty" about:"how to see deeper, where there is more"`
	Partial   bool      `json:"partial" about:"whether something could not be listed"`
	Errors    []failure `json:"errors" about:"what, and why"`
}

// listTree returns the action list_tree of the tool document.
func listTree() *action.Action {
	return action.New(action.Spec{
		Tool: "document", Name: "list_tree", Purpose: "Show the tree of documents of a notebook or below a document",
		Guide: "Below maxDepth the documents are only counted: list that path for them.",
		Class: action.Reads, Risk: tool.RiskNone, Effects: tool.EffectRead,
		Needs:      []action.Need{action.On(access.Read, "the notebook", "notebook", treeRoot)},
		Endpoints:  []string{"filetree/listDocsByPath", "block/getBlockInfo"},
		Positional: []string{"notebook", "path"},
		Result:     listTreeResult{},
		Example:    `{"notebook":"20240101120000-abcdefg","path":"/"}`,
	}, func(ctx context.Context, r *action.Request, a listTreeArgs) (any, error) {
		t := r.Target("notebook")
		w := treeWalk{r: r, notebook: t.Notebook}
		top, err := w.childrenOf(ctx, t.Path)
		if err != nil {
			return nil, err
		}
		if err := w.descend(ctx, top, a.MaxDepth); err != nil {
			return nil, err
		}
		hint := ""
		if w.truncated {
			hint = "documents further below are only counted; list_tree with the path of one, or a larger maxDepth, shows them"
		}
		return listTreeResult{t.Notebook, t.Path, top, a.MaxDepth, hint, len(w.failed) > 0, append([]failure{}, w.failed...)}, nil
	})
}

// treeRoot returns the document or notebook whose tree is listed.
func treeRoot(ctx context.Context, r *action.Request) ([]action.Target, error) {
	notebook, path := r.Strings("notebook"), r.Strings("path")
	if len(notebook) == 0 || len(path) == 0 {
		return nil, r.Invalid("path", `must not be empty: "/" is the whole notebook`)
	}
	t, err := atPath(ctx, r, notebook[0], path[0])
	return []action.Target{t}, err
}

// treeWalk lists a tree level by level.
type treeWalk struct {
	r         *action.Request
	notebook  kernel.ID
	truncated bool

	mu     sync.Mutex
	failed []failure
}

// maxParallel is how many requests run at once.
const maxParallel = 8

// descend lists the children of documents, down to a depth that counts their own level.
func (w *treeWalk) descend(ctx context.Context, level []*node, depth int) error {
	for ; depth > 1 && len(level) > 0; depth-- {
		var g errgroup.Group
		g.SetLimit(maxParallel)
		for _, n := range level {
			if n.ChildCount == 0 {
				continue
			}
			g.Go(func() error {
				children, err := w.childrenOf(ctx, n.Path)
				if err != nil {
					w.addFailure(n.Path, err)
					return ctx.Err()
				}
				n.Children, n.ChildCount = children, 0
				return nil
			})
		}
		if err := g.Wait(); err != nil {
			return err
		}
		var next []*node
		for _, n := range level {
			n.Truncated = n.ChildCount > 0
			next = append(next, n.Children...)
		}
		level = next
	}
	for _, n := range level {
		n.Truncated = n.ChildCount > 0
		w.truncated = w.truncated || n.Truncated
	}
	return nil
}

func (w *treeWalk) addFailure(path string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failed = append(w.failed, failure{path, err.Error()})
}

// childrenOf lists the children of a storage path.
func (w *treeWalk) childrenOf(ctx context.Context, path string) ([]*node, error) {
	docs, err := w.r.Kernel.Documents(ctx, w.notebook, path)
	if err != nil {
		return nil, err
	}
	out := make([]*node, 0, len(docs))
	for _, d := range docs {
		out = append(out, &node{ID: d.ID, Name: d.Name, Icon: d.Icon, Path: d.Path, ChildCount: d.SubFileCount})
	}
	return out, nil
}
