package timeline

import (
	"context"
	"path"
	"strings"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
)

// historyOf reports whether a path is that of a copy of a document, made in the notebook where
// the document is: "/history/<time>-<op>/<notebook>/…/<document>.sy". A copy of another notebook
// may be one that must not be read.
func historyOf(p string, target *action.Target) bool {
	steps := strings.Split(p, "/")
	if path.Clean(p) != p || len(steps) < 5 || steps[0] != "" || steps[1] != "history" || steps[3] != string(target.Notebook) {
		return false
	}
	for _, parent := range steps[4 : len(steps)-1] {
		if !kernel.ID(parent).Valid() {
			return false
		}
	}
	return steps[len(steps)-1] == string(target.Root)+".sy" && !strings.ContainsAny(p, "\\\x00")
}

// pastOf reads a copy of a document.
func pastOf(ctx context.Context, r *action.Request, target *action.Target, historyPath string) (kernel.HistoryContent, error) {
	if !historyOf(historyPath, target) {
		return kernel.HistoryContent{}, access.NotFound(access.History, historyPath)
	}
	got, err := r.Kernel.HistoryContent(ctx, historyPath)
	switch {
	case err != nil:
		return got, err
	case got.ID != target.Root:
		return got, access.NotFound(access.History, historyPath)
	case got.Large:
		return got, tooLarge(target.Root, "its copy is kept as plain text")
	}
	return got, nil
}
