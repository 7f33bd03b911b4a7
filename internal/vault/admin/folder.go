package admin

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"collie/internal/atomicfile"
	"collie/internal/tool"
	"collie/internal/vault/folder"
)

// This file imports folders of Markdown into the vault and exports them, for commands and pages.

// Options and results of [Vault.Import] and the exports.
type (
	// FolderImport says how a folder is imported.
	FolderImport = folder.ImportOptions
	// FolderExport says how notebooks are exported.
	FolderExport = folder.ExportOptions
	// FolderReport is the result of an import or export.
	FolderReport = folder.Report
	// FolderProblem is one thing that could not be kept or was changed.
	FolderProblem = folder.Problem
)

// The states of files in the report of an import.
const (
	FileAdded       = folder.Added
	FileMoved       = folder.Moved
	FileOverwritten = folder.Overwritten
	FileRemoved     = folder.Removed
	FileGone        = folder.Gone
)

// Import imports a folder of Markdown or a SiYuan archive into the vault, or updates what an earlier import added. The
// vault must have been opened for importing. Only one import at a time works on a vault: if another one is running,
// Import calls waiting, unless it is nil, and waits. The report is valid even on an error: it covers what was done
// before.
func (v *Vault) Import(ctx context.Context, dir string, o FolderImport, waiting func()) (report FolderReport, err error) {
	const op = "import into the vault"
	importFrom := folder.Import
	if info, err := os.Stat(dir); err == nil && info.Mode().IsRegular() {
		importFrom = folder.ImportSiYuan
	} else if err := checkFolder(op, dir); err != nil {
		return report, err
	}
	if o.MovedFrom != "" {
		if o.MovedFrom, err = folder.PlaceOf(o.MovedFrom); err != nil {
			return report, err
		}
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
	if o.Theirs && !o.DryRun { // what the folder overwrites can be undone
		keep, end, err := v.opts.PrepareUndo(ctx, v.vault)
		if err != nil {
			return report, err
		}
		defer end()
		o.BeforeOverwrite = func(id, _ string) (func(error), error) { return keep(id) }
	}
	report, err = importFrom(ctx, w, dir, o)
	return report, importError(ctx, op, dir, vaultError(op, v.Path(), err))
}

// lockImports waits until no import, sync or restore works on the vault, and locks out others until unlock.
func (v *Vault) lockImports(ctx context.Context, waiting func()) (unlock func(), err error) {
	file := v.Path() + ".import.lock"
	unlock, free, err := atomicfile.TryLock(file)
	if err != nil || free {
		return unlock, err
	}
	if waiting != nil {
		waiting()
	}
	return atomicfile.Lock(ctx, file)
}

// importError adds to an import error what a person can do.
func importError(ctx context.Context, op, dir string, err error) error {
	conflict := func(hint string) error {
		return &tool.Error{Op: op, Kind: tool.Conflicting, Subject: dir, Err: err, Hint: hint}
	}
	switch {
	case errors.Is(err, folder.ErrCopy):
		return conflict("--moved-from DIR continues with the files imported from there; --copy imports everything once more")
	case errors.Is(err, folder.ErrNotebook):
		return conflict("leave --notebook out to bring that one up to date; --copy imports everything once more")
	case errors.Is(err, folder.ErrNoArchive):
		return &tool.Error{Op: op, Kind: tool.Invalid, Subject: dir, Err: err, Hint: "name a folder of Markdown, or an archive that SiYuan exported as .sy.zip"}
	case errors.Is(err, folder.ErrNoOrigin):
		return conflict("name the folder as it was when it was imported, or leave --moved-from out")
	}
	err = folderError(ctx, op, dir, err)
	if e, ok := errors.AsType[*tool.Error](err); ok && e.Kind == tool.Canceled {
		e.Hint = "the vault is intact; the same command continues from there"
	}
	return err
}

// Export writes notebooks as a folder of Markdown. o.Notebooks has ids or names; nil means all notebooks.
func (v *Vault) Export(ctx context.Context, dir string, o FolderExport) (FolderReport, error) {
	const op = "export the vault"
	w, err := v.open(ctx, op)
	if err != nil {
		return FolderReport{}, err
	}
	if o.Notebooks, err = v.resolveNotebooks(ctx, o.Notebooks); err != nil {
		return FolderReport{}, err
	}
	_, markerErr := os.Stat(filepath.Join(dir, folder.MarkerName))
	report, err := folder.Export(ctx, w, dir, o)
	err = vaultError(op, v.Path(), err)
	if isExport := markerErr == nil; err != nil && isExport && !o.Overwrite {
		return report, &tool.Error{
			Op: op, Kind: tool.Exists, Subject: dir, Message: "the folder holds an earlier export", Hint: "--overwrite brings it up to date",
		}
	}
	return report, folderError(ctx, op, dir, err)
}

// ExportSiYuan writes a notebook, given by id or name, as an archive that SiYuan can import. An empty name means the
// only notebook. The file appears whole or not at all; an existing file is replaced only with overwrite.
func (v *Vault) ExportSiYuan(ctx context.Context, file, notebook string, overwrite bool) (report FolderReport, err error) {
	const op = "export for SiYuan"
	w, err := v.open(ctx, op)
	if err != nil {
		return report, err
	}
	id, err := v.resolveNotebook(ctx, op, notebook)
	if err != nil {
		return report, err
	}
	if _, err := os.Lstat(file); err == nil && !overwrite {
		return report, &tool.Error{
			Op: op, Kind: tool.Exists, Subject: file, Message: "that file already exists", Hint: "name another one, or give --overwrite",
		}
	}
	part, err := os.CreateTemp(filepath.Dir(file), ".collie-export-")
	if err != nil {
		return report, notWritable(op, file, err)
	}
	defer func() { _ = os.Remove(part.Name()) }() // after success it has been renamed already
	report, err = folder.ExportSiYuan(ctx, w, id, part)
	if err = errors.Join(err, part.Close()); err == nil {
		err = os.Rename(part.Name(), file)
	}
	return report, folderError(ctx, op, file, vaultError(op, v.Path(), err))
}

// resolveNotebooks returns the ids of the notebooks that a person gives by ids or names; nil for no names.
func (v *Vault) resolveNotebooks(ctx context.Context, names []string) ([]string, error) {
	notebooks, err := v.opts.Notebooks(ctx, v.vault)
	if err != nil || len(names) == 0 {
		return nil, err
	}
	var out []string
	for _, name := range names {
		notebook, err := v.opts.Find(notebooks, name)
		if err != nil {
			return nil, vaultHint(err)
		}
		out = append(out, notebook.ID)
	}
	return out, nil
}

// resolveNotebook returns the id of the notebook that a person gives; an empty name means the only one.
func (v *Vault) resolveNotebook(ctx context.Context, op, name string) (string, error) {
	notebooks, err := v.opts.Notebooks(ctx, v.vault)
	switch {
	case err != nil:
		return "", err
	case name == "" && len(notebooks) == 1:
		return notebooks[0].ID, nil
	case name == "":
		return "", &tool.Error{
			Op: op, Kind: tool.Invalid, Message: "which notebook? an archive holds one", Hint: "name it: collie fs ls / shows them",
		}
	}
	notebook, err := v.opts.Find(notebooks, name)
	return notebook.ID, vaultHint(err)
}

// vaultHint changes an error about a missing notebook so that its text and hint are right for a vault, even if the
// tools work on another kernel.
func vaultHint(err error) error {
	e, ok := errors.AsType[*tool.Error](err)
	if !ok || e.Kind != tool.NotFound {
		return err
	}
	vaultErr := *e
	vaultErr.Message = "no notebook of the vault has that id or name"
	if vaultErr.Hint == "collie siyuan permission list shows them" {
		vaultErr.Hint = ""
	}
	return &vaultErr
}

// checkFolder returns an error if a path is not a folder that can be read.
func checkFolder(op, dir string) error {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &tool.Error{Op: op, Kind: tool.NotFound, Subject: dir, Message: "there is no such file or folder"}
	case err != nil:
		return &tool.Error{Op: op, Kind: tool.Invalid, Subject: dir, Message: "the folder cannot be read", Err: err}
	case !info.IsDir():
		return &tool.Error{Op: op, Kind: tool.Invalid, Subject: dir, Message: "it is a file, expected a folder", Hint: "name the folder it lies in"}
	}
	return nil
}

// folderError converts an error of work on a folder to one for people.
func folderError(ctx context.Context, op, path string, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return &tool.Error{Op: op, Kind: tool.Canceled, Subject: path, Message: "interrupted", Err: context.Cause(ctx)}
	}
	if _, ok := errors.AsType[*tool.Error](err); ok {
		return err
	}
	return notWritable(op, path, err)
}

func notWritable(op, path string, err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
		return FileError(op, path, err)
	}
	return &tool.Error{Op: op, Kind: tool.Invalid, Subject: path, Err: err}
}
