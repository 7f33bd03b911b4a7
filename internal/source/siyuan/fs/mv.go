package fs

import (
	"context"
	"errors"
	"strings"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the action fs.mv, which moves or renames a document.

type moveArgs struct {
	From string `json:"from" about:"document" req:"true"`
	To   string `json:"to" about:"its new path, or a notebook to put it into" req:"true"`
}

type moveResult struct {
	Success bool      `json:"success" about:"true unless partial"`
	Path    string    `json:"path" about:"where it was"`
	MovedTo string    `json:"movedTo" about:"where it is now"`
	ID      kernel.ID `json:"id" about:"its id, the same as before"`
	Partial bool      `json:"partial,omitempty" about:"it was moved and kept its old title"`
	Warning string    `json:"warning,omitempty" about:"why"`
}

// move returns the action mv of the tool fs.
func move() *action.Action {
	from, to := action.OnPath(access.Write, "from"), action.OnNewPath(access.Write, "to", action.PathNotebook)
	return action.New(action.Spec{
		Tool: "fs", Name: "mv", Purpose: "Move or rename a document with all below it", Class: action.Structure, Risk: tool.RiskHigh, Effects: tool.EffectWrite, Dangerous: true,
		Guide: "to is the whole new path; what is above it must exist, and nothing may be at it. Into another notebook it " +
			"needs rwd where the document comes from.",
		Needs:      []action.Need{action.Leaving("documents", from, to), from, to},
		Endpoints:  []string{"filetree/getPathByID", "filetree/moveDocsByID", "filetree/upsertIndexes", "filetree/renameDocByID", "filetree/getHPathByID"},
		Positional: []string{"from", "to"},
		Result:     moveResult{},
		Example:    `{"from":"/Work notes/Plan","to":"/Archive/Plan 2025"}`,
		Effect: func(r *action.Request) string {
			return "move this document and all below it to " + r.Target("to").Subject
		},
		Inverse: moveInverse,
	}, runMove)
}

func runMove(ctx context.Context, r *action.Request, _ moveArgs) (any, error) {
	from, to := r.Target("from"), r.Target("to")
	if to.What == access.Notebook { // move into the notebook, with the same title
		to = action.Target{What: access.Path, Subject: to.Subject, Notebook: to.Notebook, HPath: "/" + from.Title, Title: from.Title}
		hits, err := r.Kernel.IDsByHPath(ctx, to.Notebook, to.HPath)
		if err != nil {
			return nil, err
		}
		if len(hits) > 0 {
			to.ID = hits[0]
		}
	}
	from, err := r.Located(ctx, from)
	if err != nil {
		return nil, err
	}
	if title, own := strings.CutSuffix(to.Title, "#"+string(from.ID)); own && to.ID == "" {
		// The place is meant for this document, beside others of that title.
		to.Title, to.HPath = title, strings.TrimSuffix(to.HPath, "#"+string(from.ID))
	}
	parent, err := newParent(ctx, r, from, to)
	if err != nil {
		return nil, err
	}
	out := moveResult{Success: true, Path: callerPath(ctx, r, from), MovedTo: callerPath(ctx, r, to), ID: from.ID}
	if parent != "" {
		if err := r.Kernel.MoveDocuments(ctx, []kernel.ID{from.ID}, parent); err != nil {
			return nil, err
		}
		r.RefreshTree()
		path, err := verifyMoved(ctx, r, from, to, parent)
		if err != nil {
			return nil, err
		}
		if from.Notebook != to.Notebook {
			if err := r.Kernel.Reread(ctx, to.Notebook, path); err != nil {
				out.Warning = "it was moved, but SiYuan may show what it held when it was in that notebook before: " + err.Error()
			}
		}
	}
	if from.Title != to.Title {
		r.RefreshTree()
		r.RefreshDocument(from.ID)
		if err := renameMoved(ctx, r, from, to, &out); err != nil {
			if parent == "" {
				return nil, err
			}
			out.Success, out.Partial = false, true
			out.Warning = "it was moved, but its title stays as it was: " + err.Error()
		}
	}
	return out, nil
}

// newParent returns the id of the new parent, or "" if the document is there already.
func newParent(ctx context.Context, r *action.Request, from, to action.Target) (kernel.ID, error) {
	switch {
	case to.ID == from.ID:
		return "", r.Conflicting("from and to are the same document", "from", "to")
	case to.ID != "":
		return "", &tool.Error{
			Op: "move", Kind: tool.Exists, Subject: to.Subject, Message: "there is a document at the new path",
			Hint: "choose another title; to put it below that document, add the title: to=" + strings.TrimSuffix(callerPath(ctx, r, to), "/") + "/" + action.EncodeName(from.Title),
		}
	case to.Root == from.ID, to.Notebook == from.Notebook && strings.HasPrefix(to.HPath, from.HPath+"/") && to.Root != "":
		below, err := r.Place(ctx, access.Document, string(to.Root))
		if err != nil {
			return "", err
		}
		if below.ID == from.ID || strings.Contains(below.Path, "/"+string(from.ID)+"/") {
			return "", r.Conflicting("a document cannot be moved below itself", "from", "to")
		}
	}
	parent := to.Root
	if parent == "" {
		parent = to.Notebook
	}
	if parentOf(from) == parent {
		return "", nil
	}
	return parent, nil
}

// parentOf returns the parent of a located document, a document or a notebook.
func parentOf(t action.Target) kernel.ID {
	parts := strings.Split(strings.Trim(t.Path, "/"), "/")
	if len(parts) < 2 {
		return t.Notebook
	}
	return kernel.ID(parts[len(parts)-2])
}

// verifyMoved checks that a document was moved, and returns its storage path. The kernel reports success even if it does
// nothing.
func verifyMoved(ctx context.Context, r *action.Request, from, to action.Target, parent kernel.ID) (string, error) {
	notebook, path, err := r.Kernel.PathByID(ctx, from.ID)
	if err != nil || notebook == to.Notebook && parentOf(action.Target{Notebook: notebook, Path: path}) == parent {
		return path, err
	}
	return "", &tool.Error{
		Op: "move", Kind: kernel.Mismatch, Subject: from.Subject, Message: "the kernel accepted the move, and the document is where it was",
		Hint: `fs(action="ls") shows where it is`,
	}
}

// renameMoved sets the new title of a moved document, and reports where it is.
func renameMoved(ctx context.Context, r *action.Request, from, to action.Target, out *moveResult) error {
	err := r.Kernel.RenameDocument(ctx, from.ID, to.Title)
	now, look := r.Kernel.HPathByID(context.WithoutCancel(ctx), from.ID)
	if look != nil {
		return errors.Join(err, look)
	}
	// The kernel may normalize a title. If the title did not change at all, it was not written.
	if err == nil && now != to.HPath && strings.HasSuffix(now, "/"+from.Title) {
		err = &tool.Error{
			Op: "rename", Kind: kernel.Mismatch, Subject: from.Subject, Message: "the kernel accepted the title, and the document has the one that it had",
			Hint: "its path is " + now,
		}
	}
	to.HPath = now
	out.MovedTo = callerPath(ctx, r, to)
	return err
}

// moveInverse returns the call that moves the document back to its current place. It names both places anew: what the caller
// said may mean nothing, or something else, once the document is elsewhere.
func moveInverse(ctx context.Context, r *action.Request) (*action.Inverse, error) {
	from, to := r.Target("from"), r.Target("to")
	if to.What == access.Notebook {
		to.HPath = "/" + from.Title
	}
	dest, err := r.HumanPath(ctx, to.Notebook, to.HPath)
	if err != nil {
		return nil, err
	}
	home, err := uniquePlace(ctx, r, from)
	if err != nil {
		return nil, err
	}
	args, err := action.Encode(map[string]any{"from": dest + "#" + string(from.ID), "to": home})
	return &action.Inverse{Tool: "fs", Action: "mv", Args: args}, err
}

// uniquePlace returns the path of a document's place, with ids where others have the same path.
func uniquePlace(ctx context.Context, r *action.Request, t action.Target) (string, error) {
	above := strings.TrimSuffix(t.HPath, "/"+t.Title)
	if above != "" {
		same, err := r.Kernel.IDsByHPath(ctx, t.Notebook, above)
		if err != nil {
			return "", err
		}
		if len(same) > 1 {
			if t, err = r.Located(ctx, t); err != nil {
				return "", err
			}
			above += "#" + string(parentOf(t))
		}
	}
	same, err := r.Kernel.IDsByHPath(ctx, t.Notebook, t.HPath)
	if err != nil {
		return "", err
	}
	place, err := r.HumanPath(ctx, t.Notebook, above+"/"+t.Title)
	if err == nil && len(same) > 1 {
		place += "#" + string(t.ID)
	}
	return place, err
}

type removeArgs struct {
	Path string `json:"path" about:"document; those below it go with it" req:"true"`
}

type removeResult struct {
	Success bool      `json:"success" about:"always true"`
	Path    string    `json:"path" about:"what is gone"`
	ID      kernel.ID `json:"id,omitempty" about:"its id"`
}

// remove returns the action rm of the tool fs.
func remove() *action.Action {
	return action.New(action.Spec{
		Tool: "fs", Name: "rm", Purpose: "Remove a document and all below it", Class: action.State, Risk: tool.RiskHigh, Effects: tool.EffectWrite | tool.EffectDelete, Saves: action.SavesTrees, Dangerous: true,
		Guide:      "A copy stays in SiYuan's history. " + action.AgentsFile + " is emptied.",
		Needs:      []action.Need{action.OnPath(access.Delete, "path", action.PathVirtual)},
		Endpoints:  []string{"filetree/removeDocByID"},
		Positional: []string{"path"},
		Result:     removeResult{},
		Example:    `{"path":"/Work notes/Old plan"}`,
		Effect: func(r *action.Request) string {
			if len(r.Targets("path")) == 0 {
				return "empty " + action.AgentsFile
			}
			return "remove this document and all documents below it"
		},
	}, func(ctx context.Context, r *action.Request, a removeArgs) (any, error) {
		targets := r.Targets("path")
		if len(targets) == 0 {
			path, _ := virtualFile(r, a.Path)
			if err := checkWritable(path); err != nil {
				return nil, err
			}
			return removeResult{Success: true, Path: path}, changeMemory(ctx, r, func(string) (string, error) { return "", nil })
		}
		t := targets[0]
		if err := r.Kernel.RemoveDocument(ctx, t.ID); err != nil {
			return nil, err
		}
		r.RefreshDocument(t.ID)
		r.RefreshTree()
		return removeResult{true, callerPath(ctx, r, t), t.ID}, nil
	})
}
