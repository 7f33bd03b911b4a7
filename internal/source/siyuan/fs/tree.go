package fs

import (
	"context"
	"sync"

	"golang.org/x/sync/errgroup"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/tool"
)

// This file has the action fs.tree, which shows notebooks and documents as a tree.

type treeArgs struct {
	Path     string `json:"path" about:"notebook or document; / for all notebooks" default:"/"`
	MaxDepth int    `json:"maxDepth" about:"levels below the first" default:"3" min:"0" max:"20"`
}

// node is a notebook or document in a tree.
type node struct {
	Name string `json:"name"`
	Path string `json:"path"`
	// Children are nodes. Below the last level, and for documents that cannot be listed, it is their number.
	Children any  `json:"children"`
	Virtual  bool `json:"virtual,omitempty"`
	Closed   bool `json:"closed,omitempty"`

	folder folder
	top    *node // ancestor of the first level, or the node itself; nil for a notebook
}

type treeError struct {
	Path    string `json:"path"`
	Message string `json:"message"`
}

type treeResult struct {
	Path     string      `json:"path" about:"the path that was listed"`
	Tree     []*node     `json:"tree" about:"nodes {name, path, children}; children is a number below maxDepth"`
	MaxDepth int         `json:"maxDepth" about:"levels shown below the first"`
	Partial  bool        `json:"partial" about:"something is missing: see errors"`
	Errors   []treeError `json:"errors" about:"what could not be listed: {path, message}"`
	Top      int         `json:"topLevelDocumentCount" about:"documents of the first level" verbose:"yes"`
	Failed   int         `json:"failedTopLevelDocumentCount" about:"those of them that are incomplete" verbose:"yes"`
}

// maxNodes bounds the documents in a tree.
const maxNodes = 10_000

// tree returns the action tree of the tool fs.
func tree() *action.Action {
	return action.New(action.Spec{
		Tool: "fs", Name: "tree", Purpose: "Show all documents below a path as a tree", Class: action.Reads, Risk: tool.RiskNone, Effects: tool.EffectRead,
		Guide:      "What cannot be listed is in errors, and the rest is shown. " + guidePaths,
		Needs:      []action.Need{action.OnPath(access.Read, "path", action.PathRoot, action.PathNotebook)},
		Endpoints:  []string{"notebook/lsNotebooks", "filetree/getPathByID", "filetree/listDocsByPath"},
		Positional: []string{"path", "maxDepth"},
		Result:     treeResult{},
		Example:    `{"path":"/Work notes","maxDepth":2}`,
	}, func(ctx context.Context, r *action.Request, a treeArgs) (any, error) {
		t := treeBuilder{r: r, result: treeResult{Path: "/", MaxDepth: a.MaxDepth, Errors: []treeError{}, Tree: []*node{}}}
		if err := t.addRoots(ctx); err != nil {
			return nil, err
		}
		if err := t.addLevels(ctx); err != nil {
			return nil, err
		}
		return t.result, nil
	})
}

// treeBuilder builds a tree level by level.
type treeBuilder struct {
	r      *action.Request
	level  []*node // nodes to list next
	nodes  int
	mu     sync.Mutex
	failed map[*node]bool
	result treeResult
}

// addRoots adds the first level.
func (t *treeBuilder) addRoots(ctx context.Context) error {
	t.failed = map[*node]bool{}
	targets := t.r.Targets("path")
	if len(targets) > 0 {
		f, err := folderOf(ctx, t.r, targets[0])
		if err != nil {
			return err
		}
		t.result.Path = f.human
		children, err := listFolder(ctx, t.r, f)
		if err != nil {
			return err
		}
		t.result.Tree = t.nodesOf(nil, f, children)
		t.result.Top = len(children)
		return nil
	}
	visible, err := t.r.Levels.Visible(ctx)
	if err != nil {
		return err
	}
	for i := range visible {
		n := &visible[i]
		f := notebookFolder(visible, n)
		root := &node{Name: n.Name, Path: f.human, Children: 0, folder: f, Closed: n.Closed || n.Locked()}
		t.result.Tree = append(t.result.Tree, root)
		if !root.Closed {
			t.level = append(t.level, root)
		}
	}
	for _, v := range virtualItems() {
		t.result.Tree = append(t.result.Tree, &node{Name: v.Name, Path: v.Path, Children: []*node{}, Virtual: true})
	}
	return nil
}

// nodesOf converts documents to nodes, and queues those that have children.
func (t *treeBuilder) nodesOf(parent *node, f folder, children []child) []*node {
	out := make([]*node, len(children))
	for i, c := range children {
		n := &node{Name: c.Name, Path: c.human, Children: []*node{}, folder: folder{f.notebook, c.Path, c.human}}
		if n.top = n; parent != nil && parent.top != nil {
			n.top = parent.top
		}
		if c.SubFileCount > 0 {
			n.Children = c.SubFileCount
			t.level = append(t.level, n)
		}
		out[i] = n
	}
	t.nodes += len(out)
	return out
}

// addLevels adds the other levels.
func (t *treeBuilder) addLevels(ctx context.Context) error {
	for depth := 0; depth < t.result.MaxDepth && len(t.level) > 0 && t.nodes < maxNodes; depth++ {
		level := t.level
		t.level = nil
		lists := make([][]child, len(level))
		group, groupCtx := errgroup.WithContext(ctx)
		group.SetLimit(maxParallel)
		for i, n := range level {
			group.Go(func() error {
				children, err := listFolder(groupCtx, t.r, n.folder)
				if err != nil {
					t.addError(n, err.Error())
					return ctx.Err() // a document that cannot be listed does not make the call fail
				}
				lists[i] = children
				return nil
			})
		}
		if err := group.Wait(); err != nil {
			return err
		}
		for i, n := range level {
			if t.failed[n] {
				continue
			}
			n.Children = t.nodesOf(n, n.folder, lists[i])
			if n.top == nil { // it is a notebook
				t.result.Top += len(lists[i])
			}
		}
	}
	if t.nodes >= maxNodes && len(t.level) > 0 {
		t.addError(t.level[0], "the tree has too many documents; list this path by itself")
	}
	tops := map[*node]bool{}
	for n := range t.failed {
		if n.top != nil {
			tops[n.top] = true
		}
	}
	t.result.Failed = len(tops)
	return nil
}

func (t *treeBuilder) addError(n *node, message string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failed[n] = true
	t.result.Partial = true
	t.result.Errors = append(t.result.Errors, treeError{n.Path, message})
}
