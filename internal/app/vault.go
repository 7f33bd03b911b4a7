package app

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/tidwall/gjson"

	"collie/internal/config"
	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/kernel"
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

// place opens the way to the kernel that was chosen, else to the vault. n.mu is held.
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
	return place{vaultClientOf(sleeper{n.vault, n.opts.Computes}, n.log), vaultKey(cfg), vaultLevel}
}

// vaultKey names the folder of the vault in our state.
func vaultKey(cfg *config.Config) string { return "vault:" + cfg.Vault.File }

// vaultClient talks to a vault as to a kernel.
func vaultClient(v *vault.Vault, log *slog.Logger) *kernel.Client {
	return vaultClientOf(sleeper{vault: v}, log)
}

func vaultClientOf(s sleeper, log *slog.Logger) *kernel.Client {
	// A read is not tried again: the vault waits for other processes itself, and what it then cannot do stays so.
	return kernel.New(vaultAddress, kernel.Options{Transport: vaultTransport{s}, Waits: []time.Duration{}, Logger: log})
}

// sleeper is a vault whose file is not made for nothing: while it is not there a file in it that is
// asked for is answered to be missing. That is what listing the tools asks, as their switches may be
// in one.
type sleeper struct {
	vault    *vault.Vault
	computes func() // see [Options]
}

// notFound is the answer for a file that is not there, with status 202 as a kernel gives it.
const notFound = `{"code":404,"msg":"file does not exist","data":null}`

func (s sleeper) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.computes != nil {
		s.computes()
	}
	if _, err := os.Stat(s.vault.Path()); r.URL.Path == "/api/file/getFile" && os.IsNotExist(err) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.WriteHeader(http.StatusAccepted)
		_, _ = io.WriteString(w, notFound)
		return
	}
	// A vault that is being made gets its first notebook whoever stops waiting meanwhile. What is
	// wrong with the file the answer says.
	_, _ = s.vault.Workspace(context.WithoutCancel(r.Context()))
	s.vault.ServeHTTP(w, r)
}

// vaultTransport takes requests to a vault, and says what is the matter where its file cannot be read or written: a
// kernel's answer could not.
type vaultTransport struct{ sleeper }

func (t vaultTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := vault.Transport{Vault: t.sleeper}.RoundTrip(r)
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
