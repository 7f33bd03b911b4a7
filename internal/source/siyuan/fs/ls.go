package fs

import (
	"context"
	"errors"
	"strings"

	"golang.org/x/sync/errgroup"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the action fs.ls, which lists all notebooks, or the documents right below a notebook or document.

type lsArgs struct {
	Path string `json:"path" about:"notebook or document; / for all notebooks" default:"/"`
}

type lsItem struct {
	Name     string `json:"name" about:"title, or name of the notebook"`
	Path     string `json:"path" about:"path to go on with"`
	Children int    `json:"children" about:"how many documents are right below"`
	Virtual  bool   `json:"virtual,omitempty" about:"a file of this tool that is not a document"`
	Closed   bool   `json:"closed,omitempty" about:"a closed notebook, which shows no documents"`
}

type lsResult struct {
	Path  string   `json:"path" about:"the path that was listed"`
	Items []lsItem `json:"items" about:"what is there, in the order of the interface"`
}

// ls returns the action ls of the tool fs.
func ls() *action.Action {
	return action.New(action.Spec{
		Tool: "fs", Name: "ls", Purpose: "List what is right below a path", Common: true, Class: action.Reads, Risk: tool.RiskNone, Effects: tool.EffectRead,
		Guide:      guidePaths,
		Needs:      []action.Need{action.OnPath(access.Read, "path", action.PathRoot, action.PathNotebook)},
		Endpoints:  []string{"notebook/lsNotebooks", "filetree/getPathByID", "filetree/listDocsByPath"},
		Positional: []string{"path"},
		Result:     lsResult{},
		Example:    `{"path":"/Work notes"}`,
	}, func(ctx context.Context, r *action.Request, a lsArgs) (any, error) {
		targets := r.Targets("path")
		if len(targets) == 0 {
			items, err := rootItems(ctx, r)
			return lsResult{"/", items}, err
		}
		f, err := folderOf(ctx, r, targets[0])
		if err != nil {
			return nil, err
		}
		children, err := listFolder(ctx, r, f)
		if err != nil {
			return nil, err
		}
		out := lsResult{f.human, make([]lsItem, 0, len(children))}
		for _, c := range children {
			out.Items = append(out.Items, lsItem{Name: c.Name, Path: c.human, Children: c.SubFileCount})
		}
		return out, nil
	})
}

// rootItems returns the readable notebooks and the virtual files.
func rootItems(ctx context.Context, r *action.Request) ([]lsItem, error) {
	visible, err := r.Levels.Visible(ctx)
	if err != nil {
		return nil, err
	}
	items := make([]lsItem, len(visible), len(visible)+2)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(maxParallel)
	for i := range visible {
		n := &visible[i]
		f := notebookFolder(visible, n)
		items[i] = lsItem{Name: n.Name, Path: f.human, Closed: n.Closed || n.Locked()}
		if items[i].Closed {
			continue
		}
		group.Go(func() error {
			documents, err := r.Kernel.Documents(ctx, f.notebook, f.path)
			if e, ok := errors.AsType[*tool.Error](err); ok && e.Code == kernel.CodeNotebookClosed { // it was closed just now
				items[i].Closed, err = true, nil
			}
			items[i].Children = len(documents)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return append(items, virtualItems()...), nil
}

// maxParallel bounds the concurrent requests of one call.
const maxParallel = 8

// callerPath returns the path by which the caller can name a target again. It keeps the #ID that the caller wrote.
func callerPath(ctx context.Context, r *action.Request, t action.Target) string {
	path, err := r.HumanPath(ctx, t.Notebook, t.HPath)
	if err != nil {
		return t.Subject
	}
	if id := "#" + string(t.ID); t.ID != "" && strings.HasSuffix(t.Subject, id) && t.ID != t.Notebook {
		path += id
	}
	return path
}

// folder is a notebook or document whose children are listed.
type folder struct {
	notebook kernel.ID
	path     string // storage path
	human    string
}

// folderOf returns the folder that a target stands for.
func folderOf(ctx context.Context, r *action.Request, t action.Target) (folder, error) {
	t, err := r.Located(ctx, t)
	if err != nil {
		return folder{}, err
	}
	return folder{t.Notebook, t.Path, callerPath(ctx, r, t)}, nil
}

// child is a document in a folder.
type child struct {
	kernel.Document
	human string
}

// listFolder lists a folder. Documents with the same title get their ids appended to their paths.
func listFolder(ctx context.Context, r *action.Request, f folder) ([]child, error) {
	documents, err := r.Kernel.Documents(ctx, f.notebook, f.path)
	if err != nil {
		return nil, err
	}
	sameName := map[string]int{}
	for i := range documents {
		sameName[documents[i].Name]++
	}
	out := make([]child, len(documents))
	for i, d := range documents {
		human := f.human + "/" + action.EncodeName(d.Name)
		if sameName[d.Name] > 1 {
			human += "#" + string(d.ID)
		}
		out[i] = child{d, human}
	}
	return out, nil
}

// notebookFolder returns a notebook as a folder.
func notebookFolder(visible []kernel.Notebook, n *kernel.Notebook) folder {
	return folder{n.ID, "/", action.NotebookPath(visible, n)}
}
