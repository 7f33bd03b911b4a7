package app

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"

	"collie/internal/config"
	"collie/internal/source/siyuan/safety"
	"collie/internal/tool"
	"collie/internal/vault"
	"collie/internal/vault/workspace"
)

// The vault's own types, for those who manage it through [Vault].
type (
	// VaultInfo says what a vault holds.
	VaultInfo = workspace.Info
	// VaultProblem is something in its file that should not be.
	VaultProblem = workspace.Problem
)

// Vault is the handle on the file of the built-in notes, for people. It works on the file itself,
// whether or not a gateway has it open too and whatever serves the tools for notes. It is safe for
// concurrent use. Close ends it.
type Vault struct {
	vault *vault.Vault
	// keeper keeps what an import overwrites; nil where nothing is written.
	keeper func() (*safety.Coordinator, error)
}

// OpenVault is the vault of the settings, for looking at it: nothing is made or changed, and the
// file need not be there.
func OpenVault(cfg *config.Config, log *slog.Logger) *Vault {
	return &Vault{vault: vault.New(cfg.Vault.File, vault.Options{Log: log, Workspace: workspace.Options{ReadOnly: true}})}
}

// Path is the file of the vault.
func (v *Vault) Path() string { return v.vault.Path() }

// Exists reports whether the file has been made, which the first use does.
func (v *Vault) Exists() bool {
	_, err := os.Stat(v.Path())
	return !errors.Is(err, fs.ErrNotExist)
}

// Info counts what the vault holds.
func (v *Vault) Info(ctx context.Context) (VaultInfo, error) {
	const op = "look at the vault"
	w, err := v.open(ctx, op)
	if err != nil {
		return VaultInfo{}, err
	}
	info, err := w.Info(ctx)
	return info, vaultError(op, v.Path(), err)
}

// Check looks for what is wrong in the file, and tells progress, unless it is nil, of documents.
func (v *Vault) Check(ctx context.Context, progress func(done, total int)) ([]VaultProblem, error) {
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
			Op: "back up the vault", Kind: tool.Exists, Subject: path, Message: "that file is there already",
			Hint: "name one that is not; a backup is never written over another file",
		}
	}
	return err
}

func (v *Vault) open(ctx context.Context, op string) (*workspace.Workspace, error) {
	if !v.Exists() {
		return nil, &tool.Error{
			Op: op, Kind: tool.Unknown, Subject: v.Path(), Message: "there is no vault yet",
			Hint: "the first use makes it, such as: collie fs tree /",
		}
	}
	w, err := v.vault.Workspace(ctx)
	return w, vaultError(op, v.Path(), err)
}

// Close closes the file. Safe to call twice.
func (v *Vault) Close() error { return v.vault.Close() }

// InsteadOfVault says what keeps the vault from being what the tools for notes work in, a sentence
// without a full stop; empty if they do. It asks nobody.
func InsteadOfVault(cfg *config.Config, env config.Env, flags KernelFlags) string {
	switch {
	case !cfg.SiYuan.Enabled:
		return "the tools for notes are switched off: siyuan.enabled is false"
	case flags.URL != "":
		return "SiYuan at " + flags.URL + " is used instead"
	case flags.Connection != "":
		return "SiYuan is used instead: connection " + flags.Connection
	case env.Get("SIYUAN_API_URL") != "":
		return "SiYuan at " + env.Get("SIYUAN_API_URL") + " is used instead: SIYUAN_API_URL is set"
	case kernelNamed(cfg, env, flags):
		return "SiYuan is used instead: collie siyuan connection list shows it"
	case !cfg.Vault.Enabled:
		return "it is switched off: vault.enabled is false"
	}
	return ""
}
