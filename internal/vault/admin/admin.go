// Package admin maintains the file of the built-in notes: it describes and checks it, backs it up and restores it,
// imports and exports notes, and salvages what can still be read of a damaged file.
package admin

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"collie/internal/tool"
	"collie/internal/vault"
	"collie/internal/vault/workspace"
)

// Types of the vault, for those who manage it through [Vault].
type (
	// Info describes the content of a vault.
	Info = workspace.Info
	// Problem is an inconsistency in its file.
	Problem = workspace.Problem
)

// Vault manages the file of the built-in notes, for people. It works on the file itself, whether or not a gateway has
// it open too, and whatever serves the tools for notes. It is safe for concurrent use. Close ends it.
type Vault struct {
	vault *vault.Vault
	opts  Options
}

// Options provide what package vault does not know.
type Options struct {
	// Notebooks returns the notebooks of a vault, including closed ones.
	Notebooks func(ctx context.Context, v *vault.Vault) ([]Notebook, error)
	// Find finds a notebook by the id or name that a person gives. If there is none, the error is of kind NotFound.
	Find func(all []Notebook, name string) (Notebook, error)
	// PrepareUndo prepares to save what an import overwrites, so that the import can be undone. The import calls keep
	// before it overwrites a document, and calls the function that keep returns with the outcome. The caller calls end.
	PrepareUndo func(ctx context.Context, v *vault.Vault) (keep func(id string) (func(error), error), end func(), err error)
}

// Notebook is one notebook of a vault.
type Notebook struct{ ID, Name string }

// New returns a Vault for v. Its Close closes v.
func New(v *vault.Vault, o Options) *Vault { return &Vault{v, o} }

// Path returns the file of the vault.
func (v *Vault) Path() string { return v.vault.Path() }

// Exists reports whether the file exists. The first use creates it.
func (v *Vault) Exists() bool {
	_, err := os.Stat(v.Path())
	return !errors.Is(err, fs.ErrNotExist)
}

// Info counts what is in the vault.
func (v *Vault) Info(ctx context.Context) (Info, error) {
	const op = "look at the vault"
	w, err := v.open(ctx, op)
	if err != nil {
		return Info{}, err
	}
	info, err := w.Info(ctx)
	return info, vaultError(op, v.Path(), err)
}

// Check returns the inconsistencies in the file. progress, unless it is nil, gets the number of documents checked.
func (v *Vault) Check(ctx context.Context, progress func(done, total int)) ([]Problem, error) {
	const op = "check the vault"
	w, err := v.open(ctx, op)
	if err != nil {
		return nil, err
	}
	problems, err := w.Check(ctx, progress)
	return problems, vaultError(op, v.Path(), err)
}

// Backup writes a consistent copy of the vault to path, which must not exist, while others read and write.
func (v *Vault) Backup(ctx context.Context, path string) error {
	const op = "back up the vault"
	w, err := v.open(ctx, op)
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Dir(path)); err != nil {
		return FileError(op, path, err)
	}
	err = w.Backup(ctx, path)
	switch {
	case err == nil:
		recordBackup(v.Path(), path)
		return nil
	case errors.Is(err, fs.ErrExist):
		err = nil
	case workspace.TroubleOf(err) == workspace.DiskFull:
		return FileError(op, path, errors.Join(syscall.ENOSPC, err))
	case workspace.TroubleOf(err) != "":
		return vaultError(op, v.Path(), err)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.ENOSPC):
		return FileError(op, path, err)
	}
	if err == nil {
		return &tool.Error{
			Op: "back up the vault", Kind: tool.Exists, Subject: path, Message: "that file already exists",
			Hint: "name a file that does not exist; a backup never overwrites one",
		}
	}
	return err
}

func (v *Vault) open(ctx context.Context, op string) (*workspace.Workspace, error) {
	if !v.Exists() {
		return nil, &tool.Error{
			Op: op, Kind: tool.NotFound, Subject: v.Path(), Message: "there is no vault yet",
			Hint: "the first use creates it, for example: collie fs tree /",
		}
	}
	w, err := v.vault.Workspace(ctx)
	return w, vaultError(op, v.Path(), err)
}

// Close closes the file. It may be called twice.
func (v *Vault) Close() error { return v.vault.Close() }
