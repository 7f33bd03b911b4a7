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

// vaultAddress stands for the vault where an address is wanted. Nothing listens there.
const vaultAddress = "http://vault.collie.invalid"

// vaultLevel is the level of notebooks in the vault that no file lists: its notes are the tools' own
// work, other than those of a SiYuan that a person had before.
const vaultLevel = access.Write

// place is where notes are kept: a kernel, or the vault, which is one in this process.
type place struct {
	client *kernel.Client
	key    string       // names its folder in our state
	level  access.Level // of notebooks that no file lists
}

// place opens the way to the kernel that was chosen, else to the vault. The caller holds n.mu.
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

// vaultKey names the folder of the vault in our state.
func vaultKey(cfg *config.Config) string { return "vault:" + cfg.Vault.File }

// vaultClient talks to a vault as to a kernel.
func vaultClient(v *vault.Vault, log *slog.Logger) *kernel.Client {
	return vaultClientOf(vaultTransport{vault: v}, log)
}

func vaultClientOf(t vaultTransport, log *slog.Logger) *kernel.Client {
	// A read is not tried again: the vault waits for other processes itself, and what it then cannot do stays so.
	return kernel.New(vaultAddress, kernel.Options{Transport: t, Waits: []time.Duration{}, Logger: log})
}

// vaultTransport takes requests to a vault, whose file is not made for nothing: while it is not there a file in it that
// is asked for is answered to be missing. That is what listing the tools asks, as their switches may be in one. It
// says what is the matter where the file cannot be read or written: a kernel's answer could not.
type vaultTransport struct {
	vault    *vault.Vault
	computes func() // see [Options]
}

// notFound is the answer for a file that is not there, with status 202 as a kernel gives it.
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
	// A vault that is being made gets its first notebook whoever stops waiting meanwhile. What is
	// wrong with the file the answer says.
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
	e.Kind = tool.Unavailable // nothing else that a tool may ask would be answered either
	return nil, e
}

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
func CarryToVault(ctx context.Context, cfg *config.Config, env config.Env, choice notesadmin.KernelChoice) (*notesadmin.Carry, error) {
	return notesadmin.Compare(ctx, notesadmin.KernelSide(choice.URL, choice.Token.Reveal()), vaultSide(newVault(cfg, env, slog.New(slog.DiscardHandler))))
}

// ExamineNotes makes all checks of the notes that the settings ask for.
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
