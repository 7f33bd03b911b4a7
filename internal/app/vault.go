package app

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"collie/internal/config"
	"collie/internal/source/siyuan/access"
	notesadmin "collie/internal/source/siyuan/admin"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/safety"
	"collie/internal/tool"
	"collie/internal/vault"
	vaultadmin "collie/internal/vault/admin"
	"collie/internal/vault/api"
	"collie/internal/vault/workspace"
)

// This file runs the built-in vault in place of a SiYuan kernel and connects the tools for notes to it, without a
// network.

// vaultAddress is the vault's address where a URL is required. Nothing listens there.
const vaultAddress = "http://vault.collie.invalid"

// vaultLevel is the default level of notebooks in the vault. It allows writing, since the notes there are the
// tools' own work, unlike those of a SiYuan that a person had before.
const vaultLevel = access.Write

// place is where notes are kept: in a kernel, or in the vault, which acts as a kernel in this process.
type place struct {
	client *kernel.Client
	key    string       // what workspaceKey makes the name of its folder in our state of
	level  access.Level // of notebooks that no settings name
}

// place returns the chosen kernel or else the vault. The caller holds n.mu.
func (n *Notes) place(cfg *config.Config) place {
	if n.choice.Configured {
		client := kernel.New(n.choice.URL, kernel.Options{Token: n.choice.Token.Reveal(), Logger: n.log})
		return place{client, n.choice.URL, access.Read}
	}
	if n.vault != nil && n.vault.Path() != cfg.Vault.File {
		n.closeVault()
	}
	if n.vault == nil {
		n.vault = newVault(cfg, n.env, n.log)
	}
	return place{vaultClientOf(vaultTransport{n.vault, n.opts.Computes}, n.log), vaultKey(cfg), vaultLevel}
}

// vaultKey returns the text that stands for the vault in workspaceKey, where a kernel has its address.
func vaultKey(cfg *config.Config) string { return "vault:" + cfg.Vault.File }

// vaultClient returns a kernel client that talks to a vault.
func vaultClient(v *vault.Vault, log *slog.Logger) *kernel.Client {
	return vaultClientOf(vaultTransport{vault: v}, log)
}

func vaultClientOf(t vaultTransport, log *slog.Logger) *kernel.Client {
	// No retries: the vault itself waits for other processes, and its errors do not go away by retrying.
	return kernel.New(vaultAddress, kernel.Options{Transport: t, Waits: []time.Duration{}, Logger: log})
}

// vaultTransport passes requests to a vault. The vault's file is created only when needed: while it does not
// exist, a request for a file in it is answered with "not found". Listing the tools makes such a request,
// because their switches may be in a file. If the vault's file cannot be read or written, RoundTrip returns
// an error that says so, which a kernel's answer could not.
type vaultTransport struct {
	vault    *vault.Vault
	computes func() // see [Options]
}

// notFound is the answer for a missing file. Its HTTP status is 202, as a kernel gives it.
const notFound = `{"code":404,"msg":"file does not exist","data":null}`

func (t vaultTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if t.computes != nil {
		t.computes()
	}
	if _, err := os.Stat(t.vault.Path()); r.URL.Path == "/api/file/getFile" && os.IsNotExist(err) {
		if r.Body != nil {
			_ = r.Body.Close()
		}
		return &http.Response{
			StatusCode: http.StatusAccepted, Header: http.Header{"Content-Type": {"application/json; charset=utf-8"}},
			Body: io.NopCloser(strings.NewReader(notFound)), ContentLength: int64(len(notFound)), Request: r,
		}, nil
	}
	// Creating a vault finishes, with its first notebook, even if the caller stops waiting. The answer to the
	// request reports any error.
	_, _ = t.vault.Workspace(context.WithoutCancel(r.Context()))
	resp, err := vault.Transport{Vault: t.vault}.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	trouble := workspace.Trouble(resp.Header.Get(api.TroubleHeader))
	if trouble == "" {
		return resp, nil
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body = io.NopCloser(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	e := vaultadmin.TroubleError("use the vault", t.vault.Path(), trouble, errors.New(gjson.GetBytes(body, "msg").Str))
	e.Kind = tool.Unavailable // no other request of a tool would be answered either
	return nil, e
}

// newVault returns the vault of the settings. The first use opens the file, or creates it with a welcome
// notebook in the language of env. The caller closes it.
func newVault(cfg *config.Config, env config.Env, log *slog.Logger) *vault.Vault {
	return vault.New(cfg.Vault.File, vault.Options{Log: log, Fill: vault.Welcome(language(env))})
}

// language returns zh for a Chinese locale, else en.
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

// vaultToRead returns the vault of the settings, read-only.
func vaultToRead(cfg *config.Config, log *slog.Logger) *vault.Vault {
	return vault.New(cfg.Vault.File, vault.Options{Log: log, Workspace: workspace.Options{ReadOnly: true}})
}

// OpenVault returns the management of the vault, read-only. The file need not exist.
func OpenVault(cfg *config.Config, log *slog.Logger) *vaultadmin.Vault {
	return vaultadmin.New(vaultToRead(cfg, log), vaultadmin.Options{Notebooks: vaultNotebooks, Find: findVaultNotebook})
}

// OpenVaultToFill returns the management of the vault for [vaultadmin.Vault.Import]. A missing file is
// created, without a welcome notebook, because notes are about to be imported.
func OpenVaultToFill(cfg *config.Config, env config.Env, log *slog.Logger) *vaultadmin.Vault {
	return vaultadmin.New(vault.New(cfg.Vault.File, vault.Options{Log: log}), vaultadmin.Options{
		Notebooks: vaultNotebooks, Find: findVaultNotebook, PrepareUndo: vaultKeeping(cfg, env, log),
	})
}

// vaultKeeping returns a function for [vaultadmin.Options]. It records documents before an import overwrites them, so that
// the import can be undone like a write of a tool.
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

// vaultNotebooks returns the notebooks of a vault.
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

// findVaultNotebook returns the notebook with that name or id.
func findVaultNotebook(all []vaultadmin.Notebook, name string) (vaultadmin.Notebook, error) {
	levels := make([]notesadmin.NotebookLevel, len(all))
	for i, n := range all {
		levels[i] = notesadmin.NotebookLevel{ID: n.ID, Name: n.Name}
	}
	found, err := notesadmin.FindNotebook(levels, name)
	return vaultadmin.Notebook{ID: found.ID, Name: found.Name}, err
}

// vaultSide returns a vault as the source or target of carrying notes over; the side closes it.
func vaultSide(v *vault.Vault) notesadmin.CarrySide {
	return notesadmin.CarrySide{
		Kernel: vaultClient(v, nil), Level: vaultLevel, Absent: !vaultadmin.New(v, vaultadmin.Options{}).Exists(),
		Close: func() { _ = v.Close() }, // the error does not matter: all writes are on disk
	}
}

// CarryToKernel finds out which notes the vault has and the kernel at address lacks. It returns nil if there
// is no vault. Nothing is written before Do.
func CarryToKernel(ctx context.Context, cfg *config.Config, address, token string) (*notesadmin.Carry, error) {
	v := vaultToRead(cfg, nil)
	if !vaultadmin.New(v, vaultadmin.Options{}).Exists() {
		return nil, nil //nolint:nilnil // the documented answer for none
	}
	return notesadmin.Compare(ctx, vaultSide(v), notesadmin.KernelSide(address, token))
}

// CarryToVault finds out which notes the kernel of a connection has and the vault lacks. Do creates the vault
// if it does not exist.
func CarryToVault(ctx context.Context, cfg *config.Config, env config.Env, choice notesadmin.KernelChoice) (*notesadmin.Carry, error) {
	return notesadmin.Compare(ctx, notesadmin.KernelSide(choice.URL, choice.Token.Reveal()), vaultSide(newVault(cfg, env, slog.New(slog.DiscardHandler))))
}

// ExamineNotes runs all checks of the notes that the settings configure.
func ExamineNotes(ctx context.Context, cfg *config.Config, env config.Env, flags KernelFlags) *notesadmin.Report {
	on := &notesadmin.Examined{Err: NotesMissing(ctx, cfg, env, flags)}
	if on.Err == nil {
		on.Choice, on.Warnings, on.Err = chooseKernel(ctx, cfg, env, flags)
	}
	if on.Name = connectionName(on.Choice); on.Err == nil && !on.Choice.Configured {
		file := vaultToRead(cfg, nil)
		defer file.Close()
		v := vaultadmin.New(file, vaultadmin.Options{})
		on.Vault = &notesadmin.ExaminedVault{
			Path: v.Path(), Exists: v.Exists(), Kernel: vaultClient(file, nil), Level: vaultLevel,
			Open: func(ctx context.Context) error { _, err := file.Workspace(ctx); return err },
		}
		defer on.Vault.Kernel.Close()
	}
	return notesadmin.Examine(ctx, on)
}

// InsteadOfVault says why the tools for notes do not work on the vault, as a sentence without a full stop;
// empty if they do. It contacts no kernel.
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
