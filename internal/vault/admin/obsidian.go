package admin

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"collie/internal/tool"
	"collie/internal/vault/folder"
	"collie/internal/vault/workspace"
)

// ExportObsidian writes a notebook, given by id or name, as a folder for Obsidian: wiki links, #tags, ^names of blocks and
// plain front matter. An empty name means the only notebook. dir must be new or empty. The vault is only read.
func (v *Vault) ExportObsidian(ctx context.Context, dir, notebook string, progress func(done, total int, name string)) (report FolderReport, err error) {
	const op = "export for Obsidian"
	w, err := v.open(ctx, op)
	if err != nil {
		return report, err
	}
	id, err := v.resolveNotebook(ctx, op, notebook)
	if err != nil {
		return report, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return report, notWritable(op, dir, err)
	}
	if entries, err := os.ReadDir(dir); err != nil {
		return report, notWritable(op, dir, err)
	} else if len(entries) > 0 {
		return report, &tool.Error{
			Op: op, Kind: tool.Exists, Subject: dir, Message: "the folder is not empty",
			Hint: "name a new one; collie vault sync keeps a folder equal",
		}
	}
	tmp, cleanup, err := workspace.TempDir(os.TempDir(), "collie-obsidian-")
	if err != nil {
		return report, FileError(op, os.TempDir(), err)
	}
	defer cleanup()
	// A copy, since a sync records what it wrote.
	if err := w.Backup(ctx, filepath.Join(tmp, "vault.db")); err != nil {
		return report, vaultError(op, v.Path(), err)
	}
	c, err := workspace.Open(ctx, filepath.Join(tmp, "vault.db"), workspace.Options{})
	if err != nil {
		return report, vaultError(op, tmp, err)
	}
	name := "notebook-" + id
	err = c.Update(ctx, func(tx *workspace.Tx) error {
		box := tx.Notebook(id)
		if box == nil {
			return &tool.Error{Op: op, Kind: tool.NotFound, Subject: notebook, Message: "there is no such notebook"}
		}
		box.Conf.Name, box.Conf.Closed = name, false // no other notebook has this name, by which the sync finds it
		return nil
	})
	if err == nil {
		var synced FolderSynced
		synced, err = folder.Sync(ctx, c, dir, folder.SyncOptions{Notebook: name, Plain: true, Progress: progress})
		report = synced.Report
		report.States, report.Notebooks = nil, 1
	}
	return report, folderError(ctx, op, dir, errors.Join(err, c.Close()))
}
