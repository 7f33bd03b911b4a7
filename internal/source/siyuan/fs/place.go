package fs

import (
	"context"
	"strings"

	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
)

// shown is the path that callers use for a target.
func shown(ctx context.Context, r *action.Request, t action.Target) string {
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

// folderOf is the folder that a target stands for.
func folderOf(ctx context.Context, r *action.Request, t action.Target) (folder, error) {
	t, err := r.Located(ctx, t)
	if err != nil {
		return folder{}, err
	}
	return folder{t.Notebook, t.Path, shown(ctx, r, t)}, nil
}

// child is a document in a folder.
type child struct {
	kernel.Document
	human string
}

// list lists a folder. Documents of one title have their ids in their paths.
func list(ctx context.Context, r *action.Request, f folder) ([]child, error) {
	documents, err := r.Kernel.Documents(ctx, f.notebook, f.path)
	if err != nil {
		return nil, err
	}
	same := map[string]int{}
	for i := range documents {
		same[documents[i].Name]++
	}
	out := make([]child, len(documents))
	for i, d := range documents {
		human := f.human + "/" + action.EncodeName(d.Name)
		if same[d.Name] > 1 {
			human += "#" + string(d.ID)
		}
		out[i] = child{d, human}
	}
	return out, nil
}

// notebookFolder is a notebook as a folder.
func notebookFolder(visible []kernel.Notebook, n *kernel.Notebook) folder {
	return folder{n.ID, "/", action.NotebookPath(visible, n)}
}
