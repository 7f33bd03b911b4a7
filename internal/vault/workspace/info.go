package workspace

import (
	"context"
	"os"
	"time"
)

// Info describes the content of a workspace.
type Info struct {
	Path string `json:"path"`
	// Size is the size of the file and its log, in bytes.
	Size      int64 `json:"size"`
	Version   int   `json:"version"`
	Notebooks int   `json:"notebooks"`
	Documents int   `json:"documents"` // without the pages of notebooks
	Blocks    int   `json:"blocks"`    // without documents
	Files     int   `json:"files"`
	FileBytes int64 `json:"fileBytes"`
	// Changed is the time of the last change to a document, the zero time if there is none.
	Changed time.Time `json:"changed,omitzero"`
}

// Info counts what is in the workspace.
func (w *Workspace) Info(ctx context.Context) (Info, error) {
	info := Info{Path: w.path, Version: w.version}
	for _, suffix := range []string{"", "-wal"} {
		if f, err := os.Stat(RealPath(w.path) + suffix); err == nil {
			info.Size += f.Size()
		}
	}
	err := w.View(ctx, func(tx *Tx) error {
		count := func(statement string) int64 {
			n, _ := tx.number(statement)
			return n
		}
		info.Notebooks = int(count("SELECT count(*) FROM notebook"))
		info.Documents = int(count("SELECT count(*) FROM document WHERE id <> box"))
		info.Blocks = int(count("SELECT count(*) FROM node WHERE parent <> 0"))
		info.Files = int(count("SELECT count(*) FROM file WHERE dir = 0"))
		info.FileBytes = count("SELECT coalesce(sum(size), 0) FROM file")
		if at := count("SELECT coalesce(max(changed), 0) FROM document"); at > 0 {
			info.Changed = time.UnixMilli(at)
		}
		return nil
	})
	return info, err
}
