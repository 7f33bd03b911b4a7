package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"collie/internal/config"
	llmadmin "collie/internal/llm/admin"
	"collie/internal/llm/client"
	"collie/internal/llm/keypool"
	"collie/internal/llm/keypool/keydb"
	"collie/internal/llm/models"
	secretadmin "collie/internal/secret/admin"
	serveradmin "collie/internal/source/upstream/admin"
	"collie/internal/source/upstream/entry"
	"collie/internal/store"
	"collie/internal/tool"
)

// This file joins the language models: the providers of the settings, their secrets, and the stored state of their
// keys.

// Models are the configured language models. It is safe for concurrent use.
type Models struct {
	*client.Client
	Keys *keypool.Pool

	env    config.Env
	store  *store.Store // closed with Models; nil if there is none or the agent host owns it
	secret atomic.Pointer[func(ctx context.Context, written string) (string, error)]
}

// openModels joins providers, keys and the stored state of keys; kept may be nil. It sends no request. hide is called
// with each secret that is read; it may be nil. The caller closes the Models before the store.
func openModels(ctx context.Context, cfg *config.Config, opts Options, kept keypool.Store, hide func(secrets []string)) (*Models, error) {
	m := &Models{env: opts.Env}
	secret := func(ctx context.Context, written string) (string, error) { return (*m.secret.Load())(ctx, written) }
	key := func(ctx context.Context, written string) (string, error) {
		value, err := secret(ctx, written)
		if hide != nil {
			hide([]string{value})
		}
		return value, err
	}
	header := func(ctx context.Context, written string) (string, error) {
		value, err := secret(ctx, written)
		if words := strings.Fields(value); hide != nil && value != written && len(words) > 0 {
			hide([]string{value, words[len(words)-1]}) // without the scheme, if there is one
		}
		return value, err
	}
	m.Keys = keypool.New(keypool.Options{Secret: key, Store: kept, Logger: opts.Logger})
	if err := m.Keys.Load(ctx); err != nil {
		return nil, err
	}
	c, err := client.New(client.Options{Pool: m.Keys, Secret: header})
	if err != nil {
		return nil, err
	}
	m.Client = c
	return m, m.use(cfg)
}

// use replaces the providers by those of cfg. Secrets are read again when needed.
func (m *Models) use(cfg *config.Config) error {
	read := secretReader(cfg, m.env)
	m.secret.Store(&read)
	list := make([]client.Provider, len(cfg.Providers))
	for i, p := range cfg.Providers {
		list[i] = client.Provider{Name: p.Name, Kind: p.Kind, BaseURL: p.BaseURL, Headers: p.Headers}
		for _, k := range p.Keys {
			list[i].Keys = append(list[i].Keys, keypool.Key{Label: k.Label, Secret: k.Secret, Weight: k.Weight, Models: k.Models, Disabled: !k.Enabled})
		}
	}
	overrides := make(map[string]client.Override, len(cfg.Models))
	for name, o := range cfg.Models {
		x := client.Override{Context: o.Context, Output: o.Output, Tools: o.Tools, Images: o.Images, Reasoning: o.Reasoning}
		if o.InputPrice != nil && o.OutputPrice != nil {
			x.Price = &models.Price{Input: *o.InputPrice, Output: *o.OutputPrice}
			if o.CachedInputPrice != nil {
				x.Price.Cached = *o.CachedInputPrice
			}
		}
		overrides[name] = x
	}
	return m.Apply(list, overrides)
}

// OpenModelsWithoutGateway opens the models for a command that runs without a gateway. It uses the database of the home if
// there is one. It sends no request. The caller closes the Models.
func OpenModelsWithoutGateway(ctx context.Context, cfg *config.Config, opts Options) (*Models, error) {
	if _, err := os.Stat(filepath.Join(cfg.Paths.Data, store.FileName)); err != nil {
		return openModels(ctx, cfg, opts, nil, nil)
	}
	s, err := store.Open(ctx, cfg.Paths.Data, keydb.Schema)
	if err != nil {
		path, _ := StoreFile(cfg)
		return nil, storeError(ctx, "keys", path, err)
	}
	m, err := openModels(ctx, cfg, opts, keydb.New(s), nil)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	m.store = s
	return m, nil
}

// Close saves the state of keys.
func (m *Models) Close(ctx context.Context) error {
	err := m.Keys.Close(ctx)
	if m.store != nil {
		err = errors.Join(err, m.store.Close())
	}
	return err
}

// secretReader returns a function that resolves a secret in the settings of a provider: env:NAME, file:PATH, ${…} as in
// server entries, or the secret itself.
func secretReader(cfg *config.Config, env config.Env) func(ctx context.Context, written string) (string, error) {
	secrets := secretadmin.NewLookup(cfg)
	return func(_ context.Context, written string) (string, error) {
		value, err := written, error(nil)
		name, isEnv := strings.CutPrefix(written, "env:")
		path, isFile := cfg.SecretFile(env, written)
		switch {
		case isEnv:
			if value = env.Get(name); value == "" {
				return "", fmt.Errorf("the variable %s is not set", name)
			}
		case isFile:
			raw, ferr := os.ReadFile(path)
			value, err = string(raw), ferr
		case strings.Contains(written, "${"):
			value, err = entry.Expand(written, entry.Options{Dir: cfg.Paths.Config, Env: env.Lookup, Secret: secrets.Get, ReadFile: os.ReadFile})
			err = secrets.Explain(err)
		}
		if err != nil {
			return "", err
		}
		if value = strings.TrimSpace(value); strings.ContainsAny(value, "\r\n") {
			return "", errors.New("the secret has several lines, expected one key")
		}
		return value, nil
	}
}

// ModelInfo describes a model.
type ModelInfo = client.Info

// TryProvider asks a provider that is not in the settings for its models.
func TryProvider(ctx context.Context, cfg *config.Config, env config.Env, p config.Provider) ([]ModelInfo, error) {
	with := *cfg
	with.Providers = []config.Provider{p}
	m, err := openModels(ctx, &with, Options{Env: env}, nil, nil)
	if err != nil {
		return nil, err
	}
	return m.List(ctx, p.Name)
}

// Providers returns the management of providers. file returns the settings file to change, reread applies changed
// settings, and person is named in the audit.
func (a *App) Providers(file func(*config.Config) string, reread func(context.Context) error, person string) *llmadmin.Manager {
	return llmadmin.New(llmadmin.Options{
		Config: a.settings, File: file,
		Models: func(ctx context.Context) (*client.Client, *keypool.Pool, error) {
			h, err := a.openHost(ctx)
			if err != nil {
				return nil, nil, err
			}
			return h.Models.Client, h.Models.Keys, nil
		},
		Probe: func(ctx context.Context, p config.Provider) (int, error) {
			models, err := TryProvider(ctx, a.settings(), a.env, p)
			return len(models), err
		},
		Changed: a.changed(reread, person),
	})
}

// changed returns a function that records a change by a person, and returns once it is in effect.
func (a *App) changed(reread func(context.Context) error, person string) func(ctx context.Context, command string, detail map[string]any) error {
	return func(ctx context.Context, command string, detail map[string]any) error {
		raw, err := json.Marshal(detail)
		if err == nil {
			err = a.Audit.Change(ctx, tool.Record{Name: command, Origin: tool.Direct, Principal: person, Client: tool.ActingProgram(ctx), Detail: raw})
		}
		return errors.Join(err, reread(ctx))
	}
}

// Editor returns the editor of the server entries in the settings. Its arguments are those of Providers.
func (a *App) Editor(file func(*config.Config) string, reread func(context.Context) error, person string) *serveradmin.Editor {
	return serveradmin.NewEditor(serveradmin.EditorOptions{
		Config: a.settings, File: file, Env: a.env, Changed: a.changed(reread, person), Redact: Redacted, Restart: a.Servers.Restart,
	})
}

// localTimeout is how long a server on this machine may take to list its models.
const localTimeout = 2 * time.Second

// FindLocalProviders looks for model servers at their usual ports on this machine, and returns their models by
// provider.
func FindLocalProviders(ctx context.Context, cfg *config.Config, env config.Env) map[string][]ModelInfo {
	ctx, cancel := context.WithTimeout(ctx, localTimeout)
	defer cancel()
	with := *cfg
	with.Providers = nil
	for _, k := range llmadmin.KnownProviders() {
		if k.Local {
			with.Providers = append(with.Providers, k.Provider)
		}
	}
	m, err := openModels(ctx, &with, Options{Env: env}, nil, nil)
	if err != nil {
		return nil
	}
	list, _ := m.List(ctx, "") // a server that does not answer is not running
	out := map[string][]ModelInfo{}
	for _, i := range list {
		out[i.Provider] = append(out[i.Provider], i)
	}
	return out
}
