package admin

import (
	"context"
	"errors"

	"collie/internal/tool"
	"collie/internal/vault/folder"
)

// Options and results of [Vault.Sync].
type (
	// FolderSync says how a folder is kept equal with a notebook.
	FolderSync = folder.SyncOptions
	// FolderSynced is the result of a sync.
	FolderSynced = folder.SyncReport
	// FolderDeletions are what a sync would remove.
	FolderDeletions = folder.Deletions
)

// PlaceOf returns the path under which a folder is remembered: absolute, without symbolic links.
func PlaceOf(dir string) (string, error) { return folder.PlaceOf(dir) }

// Sync makes a folder and a notebook equal; see [folder.Sync]. The vault must have been opened for importing. Only one
// sync or import at a time works on a vault: if another one is running, Sync calls waiting, unless it is nil, and
// waits. The report is valid even on an error: it says what was done until then.
func (v *Vault) Sync(ctx context.Context, dir string, o FolderSync, waiting func()) (report FolderSynced, err error) {
	const op = "keep the folder equal"
	if err := checkFolder(op, dir); err != nil {
		return report, err
	}
	w, err := v.vault.Workspace(ctx)
	if err != nil {
		return report, vaultError(op, v.Path(), err)
	}
	unlock, err := v.lockImports(ctx, waiting)
	if err != nil {
		return report, folderError(ctx, op, dir, err)
	}
	defer unlock()
	report, err = folder.Sync(ctx, w, dir, o)
	return report, syncError(ctx, op, dir, vaultError(op, v.Path(), err))
}

// syncError adds to an error of a sync what a person can do.
func syncError(ctx context.Context, op, dir string, err error) error {
	hint := ""
	switch {
	case errors.Is(err, folder.ErrNotebookGone):
		hint = "no file was removed; collie vault sync stop ends it, and --notebook NAME starts again with another notebook"
	case errors.Is(err, folder.ErrNotebookClosed):
		hint = "open the notebook first"
	case errors.Is(err, folder.ErrNotebookTaken):
		hint = "name another notebook with --notebook, or end that one with collie vault sync stop"
	case errors.Is(err, folder.ErrNotebook):
		hint = "leave --notebook out to go on with that one"
	case errors.Is(err, folder.ErrNotSynced):
		hint = "collie vault import brings it in once; collie vault sync wants a folder of Markdown, such as a vault of Obsidian"
	}
	if hint != "" {
		return &tool.Error{Op: op, Kind: tool.Conflicting, Subject: dir, Err: err, Hint: hint}
	}
	err = folderError(ctx, op, dir, err)
	if e, ok := errors.AsType[*tool.Error](err); ok && e.Kind == tool.Canceled {
		e.Hint = "everything written so far is complete; the next sync continues from there"
	}
	return err
}

// CountRemoved counts what a sync removed.
func CountRemoved(r *FolderSynced) int {
	return r.Count(folder.FileDeleted) + r.Count(folder.DocDeleted)
}

// SyncDetail returns the detail of the audit record for a sync.
func SyncDetail(file, place string, r *FolderSynced) map[string]any {
	return map[string]any{
		"file": file, "place": place, "notebook": r.Notebook, "documents": r.Documents, "files": r.Files,
		"removed": CountRemoved(r), "conflicts": r.Count(folder.BothKept), "held": r.Held.Count(), "problems": len(r.Problems),
	}
}
