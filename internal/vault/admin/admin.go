// Package admin maintains the file of the built-in notes: it reports on it, checks it, backs it up and restores it,
// imports and exports notes, and salvages what a damaged file still holds.
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

// The vault's own types, for those who manage it through [Vault].
type (
	// Info says what a vault holds.
	Info = workspace.Info
	// Problem is something in its file that should not be.
	Problem = workspace.Problem
)

// Vault is the handle on the file of the built-in notes, for people. It works on the file itself,
// whether or not a gateway has it open too and whatever serves the tools for notes. It is safe for
// concurrent use. Close ends it.
type Vault struct {
	vault *vault.Vault
	opts  Options
}

// Options are what the vault itself does not know.
type Options struct {
	// Notebooks are those of a vault, closed ones too.
	Notebooks func(ctx context.Context, v *vault.Vault) ([]Notebook, error)
	// Find finds the one that a person calls by its id or its name. The error for none is of kind NotFound.
	Find func(all []Notebook, name string) (Notebook, error)
	// Keeping prepares to keep what an import overwrites, so that the import can be undone. The import calls keep
	// before it overwrites a document, and calls the function that keep returns with the outcome. The caller calls
	// end. keep is nil if nothing is written.
	Keeping func(ctx context.Context, v *vault.Vault) (keep func(id string) (func(error), error), end func(), err error)
}

// Notebook is one notebook of a vault.
type Notebook struct{ ID, Name string }

// New returns the handle on a vault, which its Close closes.
func New(v *vault.Vault, o Options) *Vault { return &Vault{v, o} }

// Path returns the file of the vault.
func (v *Vault) Path() string { return v.vault.Path() }

// Exists reports whether the file has been made, which the first use does.
func (v *Vault) Exists() bool {
	_, err := os.Stat(v.Path())
	return !errors.Is(err, fs.ErrNotExist)
}

// Info counts what the vault holds.
func (v *Vault) Info(ctx context.Context) (Info, error) {
	const op = "look at the vault"
	w, err := v.open(ctx, op)
	if err != nil {
		return Info{}, err
	}
	info, err := w.Info(ctx)
	return info, vaultError(op, v.Path(), err)
}

// Check looks for what is wrong in the file, and tells progress, unless it is nil, of documents.
func (v *Vault) Check(ctx context.Context, progress func(done, total int)) ([]Problem, error) {
	const op = "check the vault"
	w, err := v.open(ctx, op)
	if err != nil {
		return nil, err
	}
	found, err := w.Check(ctx, progress)
	return found, vaultError(op, v.Path(), err)
}

// Backup writes one state of the vault to a file that is not there yet, while others read and write.
func (v *Vault) Backup(ctx context.Context, path string) error {
	const op = "back up the vault"
	w, err := v.open(ctx, op)
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Dir(path)); err != nil {
		return fileError(op, path, err)
	}
	err = w.Backup(ctx, path)
	switch {
	case err == nil:
		noteBackup(v.Path(), path)
		return nil
	case errors.Is(err, fs.ErrExist):
		err = nil
	case workspace.TroubleOf(err) == workspace.DiskFull:
		return fileError(op, path, errors.Join(syscall.ENOSPC, err))
	case workspace.TroubleOf(err) != "":
		return vaultError(op, v.Path(), err)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.ENOSPC):
		return fileError(op, path, err)
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

// Close closes the file. Safe to call twice.
func (v *Vault) Close() error { return v.vault.Close() }
