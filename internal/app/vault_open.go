package app

import (
	"context"
	"log/slog"
	"path/filepath"
	"strings"

	"collie/internal/config"
	notesadmin "collie/internal/source/siyuan/admin"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/safety"
	"collie/internal/vault"
	vaultadmin "collie/internal/vault/admin"
	"collie/internal/vault/workspace"
)

// newVault is the vault of the settings. Its file is opened by the first use, and made then with a
// notebook of welcome in it, in the language of env, if it is not there. The caller closes it.
func newVault(cfg *config.Config, env config.Env, log *slog.Logger) *vault.Vault {
	return vault.New(cfg.Vault.File, vault.Options{Log: log, Fill: vault.Welcome(language(env))})
}

// language is zh for a Chinese locale, else en.
func language(env config.Env) string {
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		if value := env.Get(name); value != "" {
			if strings.HasPrefix(strings.ToLower(value), "zh") {
				return "zh"
			}
			return "en"
		}
	}
	return "en"
}

// vaultToRead is the vault of the settings, of which nothing is made or changed.
func vaultToRead(cfg *config.Config, log *slog.Logger) *vault.Vault {
	return vault.New(cfg.Vault.File, vault.Options{Log: log, Workspace: workspace.Options{ReadOnly: true}})
}

// OpenVault is the vault of the settings, for looking at it: nothing is made or changed, and the
// file need not be there.
func OpenVault(cfg *config.Config, log *slog.Logger) *vaultadmin.Vault {
	return vaultadmin.New(vaultToRead(cfg, log), vaultadmin.Options{Notebooks: vaultNotebooks, Find: findVaultNotebook})
}

// OpenVaultToFill is the vault of the settings for [vaultadmin.Vault.Import]. The file is made if it is not
// there, without a notebook of welcome: whoever brings notes needs none.
func OpenVaultToFill(cfg *config.Config, env config.Env, log *slog.Logger) *vaultadmin.Vault {
	return vaultadmin.New(vault.New(cfg.Vault.File, vault.Options{Log: log}), vaultadmin.Options{
		Notebooks: vaultNotebooks, Find: findVaultNotebook, Keeping: vaultKeeping(cfg, env, log),
	})
}

// vaultKeeping keeps what an import overwrites as a write of a tool is kept.
func vaultKeeping(cfg *config.Config, env config.Env, log *slog.Logger) func(context.Context, *vault.Vault) (func(string) (func(error), error), func(), error) {
	return func(ctx context.Context, v *vault.Vault) (keep func(id string) (func(error), error), end func(), err error) {
		set, err := readSiYuan(cfg)
		if err != nil {
			return nil, nil, err
		}
		key, err := undoKey(cfg, env, set.UndoKey)
		if err != nil {
			return nil, nil, err
		}
		dir := filepath.Join(cfg.Paths.State, "siyuan", workspaceKey(vaultKey(cfg)))
		keeper, k := safety.Open(safety.Options{Dir: dir, Key: key, Logger: log}), vaultClient(v, nil)
		return func(id string) (func(error), error) { return keeper.Keep(ctx, k, "vault", "import", kernel.ID(id)) }, k.Close, nil
	}
}

func vaultNotebooks(ctx context.Context, v *vault.Vault) ([]vaultadmin.Notebook, error) {
	k := vaultClient(v, nil)
	defer k.Close()
	list, err := k.Notebooks(ctx)
	out := make([]vaultadmin.Notebook, len(list))
	for i, n := range list {
		out[i] = vaultadmin.Notebook{ID: string(n.ID), Name: n.Name}
	}
	return out, err
}

func findVaultNotebook(all []vaultadmin.Notebook, name string) (vaultadmin.Notebook, error) {
	levels := make([]notesadmin.NotebookLevel, len(all))
	for i, n := range all {
		levels[i] = notesadmin.NotebookLevel{ID: n.ID, Name: n.Name}
	}
	found, err := notesadmin.FindNotebook(levels, name)
	return vaultadmin.Notebook{ID: found.ID, Name: found.Name}, err
}

// vaultSide is a vault as a side to carry from or to, which closes it.
func vaultSide(v *vault.Vault) notesadmin.CarrySide {
	return notesadmin.CarrySide{
		Kernel: vaultClient(v, nil), Level: vaultLevel, Absent: !vaultadmin.New(v, vaultadmin.Options{}).Exists(),
		Close: func() { _ = v.Close() }, // what was written is on disk already
	}
}

// CarryToKernel looks at what the vault has and the kernel at an address lacks. It is nil where
// there is no vault. Nothing is changed before Do.
func CarryToKernel(ctx context.Context, cfg *config.Config, address, token string) (*notesadmin.Carry, error) {
	v := vaultToRead(cfg, nil)
	if !vaultadmin.New(v, vaultadmin.Options{}).Exists() {
		return nil, nil //nolint:nilnil // the documented answer for none
	}
	return notesadmin.Compare(ctx, vaultSide(v), notesadmin.KernelSide(address, token))
}

// CarryToVault looks at what the kernel of a connection has and the vault lacks. A vault that is
// not there yet lacks everything, and Do may make it.
func CarryToVault(ctx context.Context, cfg *config.Config, env config.Env, choice KernelChoice) (*notesadmin.Carry, error) {
	return notesadmin.Compare(ctx, notesadmin.KernelSide(choice.URL, choice.Token.Reveal()), vaultSide(newVault(cfg, env, slog.New(slog.DiscardHandler))))
}

// ExamineNotes makes all checks of the notes that the settings ask for.
func ExamineNotes(ctx context.Context, cfg *config.Config, env config.Env, flags KernelFlags) *notesadmin.Report {
	on := &notesadmin.Examined{Err: NotesMissing(ctx, cfg, env, flags)}
	if on.Err == nil {
		on.Choice, on.Warnings, on.Err = ChooseKernel(ctx, cfg, env, flags)
	}
	if on.Name = connectionName(on.Choice); on.Err == nil && !on.Choice.Configured {
		file := vaultToRead(cfg, nil)
		defer file.Close() //nolint:errcheck // nothing was changed
		v := vaultadmin.New(file, vaultadmin.Options{})
		on.Vault = &notesadmin.ExaminedVault{
			Path: v.Path(), Exists: v.Exists(), Kernel: vaultClient(file, nil), Level: vaultLevel,
			Open: func(ctx context.Context) error { _, err := file.Workspace(ctx); return err },
		}
		defer on.Vault.Kernel.Close()
	}
	return notesadmin.Examine(ctx, on)
}

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
