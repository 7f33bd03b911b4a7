// Package admin manages providers of language models and their keys: their settings, their secrets, and what the key
// pool has learned about them. It never returns a secret. The entry point is [New].
package admin

import (
	"cmp"
	"context"
	"errors"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"collie/internal/config"
	"collie/internal/llm/client"
	"collie/internal/llm/keypool"
	secretadmin "collie/internal/secret/admin"
	"collie/internal/tool"
)

// Options are the parts that a [Manager] works with; none may be nil.
type Options struct {
	// Config returns the settings in effect, File the settings file that changes are written to.
	Config func() *config.Config
	File   func(*config.Config) string
	// Models returns the client of all providers, and their keys.
	Models func(context.Context) (*client.Client, *keypool.Pool, error)
	// Probe asks a provider that is not in the settings for its models, and returns how many there are.
	Probe func(context.Context, config.Provider) (int, error)
	// Changed records a change in the audit, and returns once it is in effect.
	Changed func(ctx context.Context, command string, detail map[string]any) error
}

// Manager manages the providers of a gateway. It is safe for concurrent use; changes run one at a time.
type Manager struct {
	opts     Options
	changing sync.Mutex
}

// New returns a Manager.
func New(opts Options) *Manager { return &Manager{opts: opts} }

// Provider is a provider of the settings.
type Provider struct {
	Name    string   `json:"name"`
	Kind    string   `json:"kind"`
	BaseURL string   `json:"baseURL,omitempty"`
	Keys    []string `json:"keys"` // their labels
}

// Key is a key of a provider, and how it is.
type Key struct {
	keypool.Status
	Secret string `json:"secret,omitempty"` // where the key is, such as env:NAME; *** where the settings hold the key itself
}

// NewProvider is a provider to be set up.
type NewProvider struct {
	Name    string `json:"name"`
	Kind    string `json:"kind"`    // the API it speaks; known of some names
	BaseURL string `json:"baseURL"` // known of some names
	Key     NewKey `json:"key"`
	NoTest  bool   `json:"noTest"` // save it without asking it for its models
}

// NewKey is a key to be added.
type NewKey struct {
	Label  string   `json:"label"`  // main unless given, then key2, key3, …
	Key    string   `json:"key"`    // the key itself, which is kept as a secret
	Secret string   `json:"secret"` // or where it is: env:NAME, file:PATH or ${secret:NAME}
	Weight *int     `json:"weight"` // share of the requests, 0 to 1000; 1 unless given
	Models []string `json:"models"` // patterns of the models it may be used for; none means all
}

// KeyChange is a change of a key. What is nil or empty stays as it is.
type KeyChange struct {
	Key     string    `json:"key"`
	Secret  string    `json:"secret"`
	Weight  *int      `json:"weight"`
	Models  *[]string `json:"models"`
	Enabled *bool     `json:"enabled"`
}

// TestResult is how a key did in a test.
type TestResult struct {
	Provider string   `json:"provider"`
	Label    string   `json:"label"`
	OK       bool     `json:"ok"`
	Models   int      `json:"models,omitempty"` // how many it can use
	Names    []string `json:"names,omitempty"`  // their names, as the provider lists them
	Error    string   `json:"error,omitempty"`
}

// List returns the providers in the settings.
func List(cfg *config.Config) []Provider {
	out := []Provider{}
	for _, pr := range cfg.Providers {
		p := Provider{pr.Name, pr.Kind, pr.BaseURL, []string{}}
		for _, k := range pr.Keys {
			p.Keys = append(p.Keys, k.Label)
		}
		out = append(out, p)
	}
	return out
}

// Keys returns the keys of a provider; an empty name means all providers.
func Keys(cfg *config.Config, pool *keypool.Pool, provider string) []Key {
	out := []Key{}
	for _, s := range pool.List() {
		if provider != "" && s.Provider != provider {
			continue
		}
		k := Key{Status: s}
		for _, pr := range cfg.Providers {
			if i := keyIndex(&pr, s.Label); i >= 0 && pr.Name == s.Provider {
				k.Secret = config.ShownSecret(pr.Keys[i].Secret)
			}
		}
		out = append(out, k)
	}
	return out
}

func keyIndex(p *config.Provider, label string) int {
	return slices.IndexFunc(p.Keys, func(k config.ProviderKey) bool { return k.Label == label })
}

// UnknownKeyError returns the error for a key that is not in the settings.
func UnknownKeyError(op, provider, label string) error {
	return &tool.Error{Op: op, Kind: tool.NotFound, Subject: provider + "/" + label, Message: "there is no such key", Hint: "collie keys list shows them"}
}

// Find returns a provider from the settings. Its keys are a copy.
func Find(op, name string, cfg *config.Config) (config.Provider, error) {
	var names []string
	for _, p := range cfg.Providers {
		if p.Name == name {
			p.Keys = slices.Clone(p.Keys)
			return p, nil
		}
		names = append(names, p.Name)
	}
	e := &tool.Error{Op: op, Kind: tool.NotFound, Subject: name, Message: "there is no such provider", Hint: "collie provider list shows them; collie provider add NAME adds one"}
	if near, ok := tool.Nearest(name, names); ok {
		e.Hint = "did you mean " + near + "?"
	}
	return config.Provider{}, e
}

// FreeLabel returns a label that no key of p has.
func FreeLabel(p *config.Provider) string {
	label := "main"
	for n := 2; keyIndex(p, label) >= 0; n++ {
		label = "key" + strconv.Itoa(n)
	}
	return label
}

// Providers returns the providers in the settings.
func (m *Manager) Providers() []Provider { return List(m.opts.Config()) }

// Keys returns the keys of a provider; an empty name means all providers.
func (m *Manager) Keys(ctx context.Context, provider string) ([]Key, error) {
	cfg := m.opts.Config()
	if provider != "" {
		if _, err := Find("keys list", provider, cfg); err != nil {
			return nil, err
		}
	}
	_, pool, err := m.opts.Models(ctx)
	if err != nil {
		return nil, err
	}
	return Keys(cfg, pool, provider), nil
}

// Test asks a provider for its models, once with each key.
func (m *Manager) Test(ctx context.Context, provider string) ([]TestResult, error) {
	keys, err := m.Keys(ctx, provider)
	if err != nil {
		return nil, err
	}
	out := []TestResult{}
	for _, k := range keys {
		t, err := m.TestKey(ctx, k.Provider, k.Label)
		if err != nil {
			t = TestResult{Provider: k.Provider, Label: k.Label, Error: err.Error()}
		}
		out = append(out, t)
	}
	return out, nil
}

// ModelNames returns the models that the providers list, as PROVIDER/MODEL. Providers that do not answer are left out; if
// none answers, their errors are returned.
func (m *Manager) ModelNames(ctx context.Context) ([]string, error) {
	out := []string{}
	if len(m.opts.Config().Providers) == 0 {
		return out, nil
	}
	c, _, err := m.opts.Models(ctx)
	if err != nil {
		return nil, err
	}
	listed, err := c.List(ctx, "")
	if err != nil && len(listed) == 0 {
		return nil, Explain("provider list", err)
	}
	for _, one := range listed {
		out = append(out, one.Provider+"/"+one.Model)
	}
	slices.Sort(out)
	return out, nil
}

// TestKey asks a provider for its models with one key. A refused key that works now is used again.
func (m *Manager) TestKey(ctx context.Context, provider, label string) (TestResult, error) {
	c, err := m.requireKey(ctx, "keys test", provider, label)
	if err != nil {
		return TestResult{}, err
	}
	names, err := c.Test(ctx, provider, label)
	return TestResult{Provider: provider, Label: label, OK: err == nil, Models: len(names), Names: names}, Explain("keys test", err)
}

// requireKey fails unless there is such a key. The key of a provider that needs none has an empty label.
func (m *Manager) requireKey(ctx context.Context, op, provider, label string) (*client.Client, error) {
	if _, err := Find(op, provider, m.opts.Config()); err != nil {
		return nil, err
	}
	c, pool, err := m.opts.Models(ctx)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(pool.List(), func(s keypool.Status) bool { return s.Provider == provider && s.Label == label }) {
		return nil, UnknownKeyError(op, provider, label)
	}
	return c, nil
}

// ResetKey clears the recorded state of a key, so that it is tried at once.
func (m *Manager) ResetKey(ctx context.Context, provider, label string) error {
	if _, err := m.requireKey(ctx, "keys reset", provider, label); err != nil {
		return err
	}
	_, pool, err := m.opts.Models(ctx)
	if err != nil {
		return err
	}
	pool.Reset(provider, label)
	return m.opts.Changed(ctx, "keys reset", map[string]any{"provider": provider, "label": label})
}

func invalidError(op, field, message, hint string) error {
	return &tool.Error{Op: op, Kind: tool.Invalid, Subject: field, Message: message, Hint: hint}
}

// Add adds a provider. One that does not answer is not saved, unless NoTest is set.
func (m *Manager) Add(ctx context.Context, n *NewProvider) (Provider, error) {
	const op = "provider add"
	m.changing.Lock()
	defer m.changing.Unlock()
	cfg := m.opts.Config()
	if _, err := Find(op, n.Name, cfg); err == nil {
		return Provider{}, &tool.Error{Op: op, Kind: tool.Exists, Subject: n.Name, Message: "there is a provider of that name"}
	}
	p, local, known := builtIn(n.Name)
	p.Name, p.Kind, p.BaseURL = n.Name, cmp.Or(n.Kind, p.Kind), cmp.Or(n.BaseURL, p.BaseURL)
	switch {
	case p.Name == "":
		return Provider{}, invalidError(op, "name", "it is missing", "give the provider a name")
	case p.Kind == "" || !known && p.BaseURL == "":
		return Provider{}, invalidError(op, "kind", "the provider is not known by its name", "send kind and baseURL")
	case !slices.Contains(config.ProviderKinds(), p.Kind):
		return Provider{}, invalidError(op, "kind", "there is no such kind", "expected one of "+strings.Join(config.ProviderKinds(), ", "))
	}
	if local = local || p.Kind == "ollama"; !local || n.Key.Key != "" || n.Key.Secret != "" {
		k, err := m.newKey(ctx, op, cfg, &p, &n.Key)
		if err != nil {
			return Provider{}, err
		}
		p.Keys = []config.ProviderKey{k}
	}
	var err error
	if !n.NoTest {
		_, err = m.opts.Probe(ctx, p)
		err = Explain(op, err)
	}
	if err == nil {
		err = m.editSettings(ctx, op, cfg, SaveProvider(&p))
	}
	if err != nil {
		for _, k := range p.Keys {
			err = errors.Join(err, DeleteKey(ctx, cfg, p.Name, &k))
		}
		return Provider{}, err
	}
	return List(&config.Config{Providers: []config.Provider{p}})[0], m.recordChange(ctx, op, p.Name, "")
}

// Remove removes a provider and the secrets of its keys.
func (m *Manager) Remove(ctx context.Context, name string) error {
	const op = "provider remove"
	m.changing.Lock()
	defer m.changing.Unlock()
	cfg := m.opts.Config()
	p, err := Find(op, name, cfg)
	if err != nil {
		return err
	}
	found := false
	if err := m.editSettings(ctx, op, cfg, config.Unsetting(config.Pointer("providers", name), &found)); err != nil {
		return err
	}
	if !found {
		return invalidError(op, name, "it is in another settings file than "+m.opts.File(cfg), "remove it there")
	}
	for _, k := range p.Keys {
		err = errors.Join(err, DeleteKey(ctx, cfg, name, &k))
	}
	return errors.Join(m.recordChange(ctx, op, name, ""), err)
}

// AddKey adds a key to a provider.
func (m *Manager) AddKey(ctx context.Context, provider string, n *NewKey) (Key, error) {
	const op = "keys add"
	m.changing.Lock()
	defer m.changing.Unlock()
	cfg := m.opts.Config()
	p, err := Find(op, provider, cfg)
	if err != nil {
		return Key{}, err
	}
	k, err := m.newKey(ctx, op, cfg, &p, n)
	if err != nil {
		return Key{}, err
	}
	p.Keys = append(p.Keys, k)
	if err := m.editSettings(ctx, op, cfg, SaveKeys(&p)); err != nil {
		return Key{}, errors.Join(err, DeleteKey(ctx, cfg, provider, &k))
	}
	return m.recordAndGet(ctx, op, provider, k.Label)
}

// newKey returns a key for the settings, and stores the key itself as a secret.
func (m *Manager) newKey(ctx context.Context, op string, cfg *config.Config, p *config.Provider, n *NewKey) (config.ProviderKey, error) {
	k := config.ProviderKey{Label: n.Label, Weight: 1, Models: n.Models, Enabled: true}
	if k.Label == "" {
		k.Label = FreeLabel(p)
	}
	if keyIndex(p, k.Label) >= 0 {
		return k, &tool.Error{Op: op, Kind: tool.Exists, Subject: p.Name + "/" + k.Label, Message: "there is a key of that label"}
	}
	if n.Weight != nil {
		k.Weight = *n.Weight
	}
	if err := checkKey(op, &k); err != nil {
		return k, err
	}
	if n.Key == "" && n.Secret == "" {
		return k, invalidError(op, "key", "it is missing", "send the key, or where it is as secret: env:NAME, file:PATH or ${secret:NAME}")
	}
	var err error
	k.Secret, err = secretReference(ctx, op, cfg, p.Name, k.Label, n.Key, n.Secret)
	return k, err
}

// checkKey refuses values that are invalid in a settings file.
func checkKey(op string, k *config.ProviderKey) error {
	if k.Weight < 0 || k.Weight > 1000 {
		return invalidError(op, "weight", "it is "+strconv.Itoa(k.Weight)+", expected 0 to 1000", "1 is usual")
	}
	for _, p := range k.Models {
		if _, err := path.Match(p, ""); err != nil {
			return invalidError(op, "models", p+" is not a pattern", "send patterns such as gpt-*")
		}
	}
	return nil
}

// secretReference returns how the settings refer to a key that is given directly, as key, or by its location, as secret.
func secretReference(ctx context.Context, op string, cfg *config.Config, provider, label, key, secret string) (string, error) {
	switch {
	case key != "" && secret != "":
		return "", invalidError(op, "secret", "both key and secret are given", "send one of them")
	case secret != "" && config.ShownSecret(secret) == "***":
		return "", invalidError(op, "secret", "it does not say where the key is", "send env:NAME, file:PATH or ${secret:NAME}, or the key itself as key")
	case secret != "":
		return secret, nil
	case strings.ContainsAny(key, " \t\r\n,"):
		return "", invalidError(op, "key", "a key is one word; this has blanks, commas or line breaks", "add several keys one by one")
	}
	if err := secretadmin.CheckName(SecretName(provider, label)); err != nil {
		return "", invalidError(op, "label", err.Error(), "choose another label")
	}
	form, err := StoreKey(ctx, cfg, provider, label, key)
	if err != nil {
		return "", &tool.Error{Op: op, Kind: tool.Unavailable, Subject: provider, Message: "the key cannot be kept", Err: err}
	}
	return form, nil
}

// SetKey changes a key.
func (m *Manager) SetKey(ctx context.Context, provider, label string, c *KeyChange) (Key, error) {
	const op = "keys set"
	m.changing.Lock()
	defer m.changing.Unlock()
	cfg, p, i, err := m.findKey(op, provider, label)
	if err != nil {
		return Key{}, err
	}
	k := &p.Keys[i]
	old := *k
	if c.Weight != nil {
		k.Weight = *c.Weight
	}
	if c.Models != nil {
		k.Models = *c.Models
	}
	if c.Enabled != nil {
		k.Enabled = *c.Enabled
	}
	if err := checkKey(op, k); err != nil {
		return Key{}, err
	}
	if c.Key != "" || c.Secret != "" {
		if k.Secret, err = secretReference(ctx, op, cfg, provider, label, c.Key, c.Secret); err != nil {
			return Key{}, err
		}
	}
	if err := m.editSettings(ctx, op, cfg, SaveKeys(&p)); err != nil {
		return Key{}, err
	}
	if k.Secret != old.Secret {
		err = DeleteKey(ctx, cfg, provider, &old)
	}
	out, saved := m.recordAndGet(ctx, op, provider, label)
	return out, errors.Join(saved, err)
}

// RemoveKey removes a key and its secret.
func (m *Manager) RemoveKey(ctx context.Context, provider, label string) error {
	const op = "keys remove"
	m.changing.Lock()
	defer m.changing.Unlock()
	cfg, p, i, err := m.findKey(op, provider, label)
	if err != nil {
		return err
	}
	removed := p.Keys[i]
	p.Keys = slices.Delete(p.Keys, i, i+1)
	if err := m.editSettings(ctx, op, cfg, SaveKeys(&p)); err != nil {
		return err
	}
	err = DeleteKey(ctx, cfg, provider, &removed)
	return errors.Join(m.recordChange(ctx, op, provider, label), err)
}

// findKey returns the settings, and from them a provider and the index of one of its keys.
func (m *Manager) findKey(op, provider, label string) (*config.Config, config.Provider, int, error) {
	cfg := m.opts.Config()
	p, err := Find(op, provider, cfg)
	if err != nil {
		return nil, p, 0, err
	}
	i := keyIndex(&p, label)
	if i < 0 {
		return nil, p, 0, UnknownKeyError(op, provider, label)
	}
	return cfg, p, i, nil
}

// editSettings applies a change to the settings file.
func (m *Manager) editSettings(ctx context.Context, op string, cfg *config.Config, change func([]byte) ([]byte, error)) error {
	file := m.opts.File(cfg)
	if err := cfg.Edit(ctx, file, change); err != nil {
		return &tool.Error{Op: op, Kind: tool.Invalid, Subject: file, Message: "the file was not changed", Err: err}
	}
	return nil
}

// recordChange records a change of a provider or, with a label, of one of its keys.
func (m *Manager) recordChange(ctx context.Context, op, provider, label string) error {
	detail := map[string]any{"setting": "providers", "provider": provider, "file": m.opts.File(m.opts.Config())}
	if label != "" {
		detail["label"] = label
	}
	return m.opts.Changed(ctx, op, detail)
}

// recordAndGet records the change and returns the key as it is now.
func (m *Manager) recordAndGet(ctx context.Context, op, provider, label string) (Key, error) {
	if err := m.recordChange(ctx, op, provider, label); err != nil {
		return Key{}, err
	}
	keys, err := m.Keys(ctx, provider)
	for _, k := range keys {
		if k.Label == label {
			return k, nil
		}
	}
	return Key{}, cmp.Or(err, UnknownKeyError(op, provider, label))
}
