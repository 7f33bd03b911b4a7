package app

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"

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
	w, err := v.open(ctx, "look at the vault")
	if err != nil {
		return VaultInfo{}, err
	}
	return w.Info(ctx)
}

// Check looks for what is wrong in the file, and tells progress, unless it is nil, of documents.
func (v *Vault) Check(ctx context.Context, progress func(done, total int)) ([]VaultProblem, error) {
	w, err := v.open(ctx, "check the vault")
	if err != nil {
		return nil, err
	}
	return w.Check(ctx, progress)
}

// Backup writes one state of the vault to a file that is not there yet, while others read and write.
func (v *Vault) Backup(ctx context.Context, path string) error {
	w, err := v.open(ctx, "back up the vault")
	if err != nil {
		return err
	}
	err = w.Backup(ctx, path)
	if errors.Is(err, fs.ErrExist) {
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
	return v.vault.Workspace(ctx)
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
