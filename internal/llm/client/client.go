// Package client asks the models of all configured providers. The name of a model determines its provider, and the key
// pool chooses a key. A failed request is retried with another key, after a pause, or with a fallback model, as the
// failure suggests, but never after any of the answer has been passed on.
package client

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"collie/internal/llm"
	"collie/internal/llm/codec"
	"collie/internal/llm/keypool"
	"collie/internal/llm/models"
	"collie/internal/llm/transform"
	"collie/internal/llm/wire"
)

// Provider is a provider as the settings describe it.
type Provider struct {
	Name    string
	Kind    string // of the API, one of [codec.Kinds]
	BaseURL string // empty means the default of the kind
	Headers map[string]string
	Keys    []keypool.Key
}

// Override corrects the facts about a model; nil and 0 change nothing.
type Override struct {
	Context, Output          int // tokens
	Tools, Images, Reasoning *bool
	Price                    *models.Price
}

// Options of [New]. Pool is required.
type Options struct {
	Pool *keypool.Pool
	// Secret resolves the value of a header in the settings; nil means that values are literal.
	Secret    func(ctx context.Context, written string) (string, error)
	Transport http.RoundTripper
	Now       func() time.Time
	Jitter    func() float64 // from 0 to below 1
	// MaxWait limits how long a request waits for a usable key; 0 means 20 s, less than 0 no waiting.
	MaxWait time.Duration
}

// defaultMaxWait is the default of [Options.MaxWait].
const defaultMaxWait = 20 * time.Second

// Client gives access to all providers. It is safe for concurrent use and needs no closing.
type Client struct {
	opts   Options
	wire   *wire.Client
	chains *transform.Chains
	index  atomic.Pointer[index]

	found, missed atomic.Uint64 // models looked up by name

	figures figures
}

// index finds providers by name. It is immutable.
type index struct {
	byName    map[string]*provider
	list      []*provider // in the order of the settings
	overrides map[string]Override
}

// provider is a configured provider with its API. headers returns its header fields; see headersOf.
type provider struct {
	Provider
	codec   *wire.Codec
	headers func(ctx context.Context) (headers, error)
}

// Info describes a model at a provider.
type Info struct {
	Provider, Model string
	Context, Output int // tokens; Output is 0 if unknown
	Tools, Images   bool
	PDF, Reasoning  bool
	Price           *models.Price // nil if unknown or free
	// Known means that Context is the model's own and not a guess.
	Known bool
}

// New returns a client without providers; [Client.Apply] sets them.
func New(o Options) (*Client, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Jitter == nil {
		o.Jitter = rand.Float64
	}
	if o.MaxWait == 0 {
		o.MaxWait = defaultMaxWait
	}
	if o.Secret == nil {
		o.Secret = func(_ context.Context, written string) (string, error) { return written, nil }
	}
	c := &Client{opts: o, wire: wire.NewClient(wire.Options{Transport: o.Transport}), chains: transform.New(o.Now)}
	c.index.Store(&index{})
	return c, nil
}

// Apply replaces the providers and the overrides, whose keys are MODEL or PROVIDER/MODEL. Requests in flight keep
// theirs. Providers of an unknown kind are left out, and the error names them.
func (c *Client) Apply(list []Provider, overrides map[string]Override) error {
	x := &index{byName: make(map[string]*provider, len(list)), overrides: overrides}
	var errs []error
	var keys []keypool.Provider
	for _, p := range list {
		api := codec.For(p.Kind)
		if api == nil {
			errs = append(errs, fmt.Errorf("providers.%s.kind is %q, expected one of %v", p.Name, p.Kind, codec.Kinds()))
			continue
		}
		pr := &provider{Provider: p, codec: api, headers: c.headersOf(p)}
		x.byName[p.Name] = pr
		x.list = append(x.list, pr)
		keys = append(keys, keypool.Provider{Name: p.Name, Keys: p.Keys})
	}
	c.opts.Pool.Apply(keys)
	c.index.Store(x)
	c.chains.Clear()
	return errors.Join(errs...)
}

// headers are the header fields of a provider, and those of their values that are secret.
type headers struct {
	fields  map[string]string
	secrets []string
}

// headersOf returns a function that returns the headers of p. Its first successful call resolves them; later calls return
// the same.
func (c *Client) headersOf(p Provider) func(ctx context.Context) (headers, error) {
	var mu sync.Mutex
	var cached *headers
	return func(ctx context.Context) (headers, error) {
		if len(p.Headers) == 0 {
			return headers{}, nil
		}
		mu.Lock()
		defer mu.Unlock()
		if cached != nil {
			return *cached, nil
		}
		h := headers{fields: make(map[string]string, len(p.Headers))}
		for name, written := range p.Headers {
			value, err := c.opts.Secret(ctx, written)
			if err != nil {
				return headers{}, &llm.Error{Class: llm.ClassCaller, Provider: p.Name, Message: fmt.Sprintf("header %s: %v", name, err), Err: err}
			}
			h.fields[name] = value
			if value != written { // it was resolved, so it is a secret
				h.secrets = append(h.secrets, value)
			}
		}
		cached = &h
		return h, nil
	}
}

// target is one model of one provider.
type target struct {
	*provider
	model    string
	metadata models.Model
	info     Info
}

// Model returns the model ref, MODEL or PROVIDER/MODEL, with fallbacks in that order. PROVIDER may be omitted if only
// one provider is configured, or only one is the model's maker; PROVIDER/ alone is an error, since it names no model.
// Errors are [*llm.Error], of [llm.ClassNoProvider] if no provider is configured.
func (c *Client) Model(ref string, fallbacks []string) (llm.Model, Info, error) {
	x := c.index.Load()
	first, err := c.find(x, ref)
	if err != nil {
		return nil, Info{}, err
	}
	m := &model{client: c, targets: []target{first}}
	for _, f := range fallbacks {
		t, err := c.find(x, f)
		if err != nil {
			return nil, Info{}, err
		}
		m.targets = append(m.targets, t)
	}
	return m, first.info, nil
}

// find resolves ref and counts whether that succeeded.
func (c *Client) find(x *index, ref string) (target, error) {
	t, err := c.lookUp(x, ref)
	if err != nil {
		c.missed.Add(1)
	} else {
		c.found.Add(1)
	}
	return t, err
}

// lookUp resolves ref as [Client.Model] describes. A provider with an override for PROVIDER/ref also has the model.
func (c *Client) lookUp(x *index, ref string) (target, error) {
	if len(x.list) == 0 {
		return target{}, &llm.Error{
			Class: llm.ClassNoProvider, Message: "no provider of models is set up",
			Hint: "collie provider add sets one up; collie provider import takes what other programs have",
		}
	}
	if ref == "" {
		return target{}, &llm.Error{
			Class: llm.ClassNoProvider, Message: "no model is chosen",
			Hint: "collie config set agent.model PROVIDER/MODEL chooses one; collie provider list --models shows them",
		}
	}
	name, rest, ok := strings.Cut(ref, "/")
	switch {
	case ok && rest != "" && x.byName[name] != nil:
		return c.newTarget(x, x.byName[name], rest), nil
	case ok && rest == "" && x.byName[name] == nil:
		return target{}, noProviderError(name)
	case ok && rest == "":
		return target{}, &llm.Error{
			Class: llm.ClassNoProvider, Provider: name, Message: "no model of it is chosen",
			Hint: fmt.Sprintf("collie config set agent.model %s/MODEL chooses one; collie provider list %s --models shows them", name, name),
		}
	}
	if len(x.list) == 1 {
		return c.newTarget(x, x.list[0], ref), nil
	}
	host := models.Find("", ref).Host
	var found []*provider
	for _, p := range x.list {
		if _, described := x.overrides[p.Name+"/"+ref]; described || host != "" && p.host() == host {
			found = append(found, p)
		}
	}
	if len(found) == 1 {
		return c.newTarget(x, found[0], ref), nil
	}
	names := make([]string, len(x.list))
	for i, p := range x.list {
		names[i] = p.Name
	}
	return target{}, &llm.Error{
		Class: llm.ClassModelAccess, Model: ref, Message: "it is not clear whose model that is", Hint: fmt.Sprintf("write PROVIDER/MODEL; the providers are %s", strings.Join(names, ", ")),
	}
}

func (p *provider) baseURL() string {
	if p.BaseURL != "" {
		return p.BaseURL
	}
	return p.codec.DefaultBaseURL
}

func (p *provider) host() string {
	u, err := url.Parse(p.baseURL())
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// newTarget returns a model of p with the facts about it: those of the table in package models, corrected by the overrides.
func (c *Client) newTarget(x *index, p *provider, name string) target {
	m := models.Find(p.baseURL(), name)
	if p.codec.SetsContext {
		m.Context = min(m.Context, models.UnknownContext) // the server reserves memory for all of it
	}
	for _, key := range []string{name, p.Name + "/" + name} {
		o, ok := x.overrides[key]
		if !ok {
			continue
		}
		if o.Context > 0 {
			m.Context, m.Known = o.Context, true
		}
		if o.Output > 0 {
			m.Output = o.Output
		}
		if o.Price != nil {
			m.Price = o.Price
		}
		setUnlessNil(&m.Tools, o.Tools)
		setUnlessNil(&m.Images, o.Images)
		setUnlessNil(&m.Reasoning, o.Reasoning)
	}
	return target{p, name, m, Info{
		Provider: p.Name, Model: name, Context: m.Context, Output: m.Output, Tools: m.Tools, Images: m.Images, PDF: m.PDF,
		Reasoning: m.Reasoning, Price: m.Price, Known: m.Known,
	}}
}

// hasContextOverride reports whether the settings give the context length of a model.
func (x *index) hasContextOverride(provider, model string) bool {
	return x.overrides[model].Context > 0 || x.overrides[provider+"/"+model].Context > 0
}

func setUnlessNil(to, from *bool) {
	if from != nil {
		*to = *from
	}
}

// Cost returns the price of u in millionths of a dollar, negative if the price is unknown.
func (c *Client) Cost(provider, model string, u llm.Usage) int64 {
	x := c.index.Load()
	p := x.byName[provider]
	if p == nil {
		return -1
	}
	m := c.newTarget(x, p, model).metadata
	if m.Price == nil {
		return -1
	}
	return m.Price.Cost(u)
}

// listTimeout limits a request for a list of models.
const listTimeout = 15 * time.Second

// List asks a provider for its models; an empty name asks all. It returns what it got together with the errors of the
// providers that failed.
func (c *Client) List(ctx context.Context, name string) ([]Info, error) {
	x := c.index.Load()
	var asked []*provider
	for _, p := range x.list {
		if name == "" || p.Name == name {
			asked = append(asked, p)
		}
	}
	if len(asked) == 0 {
		_, err := c.find(&index{}, name)
		if name != "" {
			err = noProviderError(name)
		}
		return nil, err
	}
	lists, errs := make([][]Info, len(asked)), make([]error, len(asked))
	var all sync.WaitGroup
	for i, p := range asked {
		all.Go(func() { lists[i], errs[i] = c.listModels(ctx, x, p) })
	}
	all.Wait()
	return slices.Concat(lists...), errors.Join(errs...)
}

func noProviderError(name string) error {
	return &llm.Error{
		Class: llm.ClassNoProvider, Provider: name, Message: "there is no such provider",
		Hint: "collie provider list shows them; collie provider add NAME adds one",
	}
}

// listModels returns the models of one provider, using any of its keys.
func (c *Client) listModels(ctx context.Context, x *index, p *provider) ([]Info, error) {
	l, err := c.opts.Pool.ResolveAPIKeyForRequest(ctx, &keypool.Request{Provider: p.Name})
	if err != nil {
		return nil, err
	}
	listed, err := c.listModelsWithKey(ctx, p, l)
	if err != nil {
		return nil, err
	}
	out := make([]Info, len(listed))
	for i, m := range listed {
		t := c.newTarget(x, p, m.ID)
		if m.Context > 0 && (!t.info.Known || m.Loaded && !x.hasContextOverride(p.Name, m.ID)) {
			t.info.Known = true
			if t.info.Context = m.Context; p.codec.SetsContext {
				t.info.Context = min(m.Context, models.UnknownContext)
			}
		}
		if m.Described {
			t.info.Tools, t.info.Images, t.info.Reasoning = m.Tools, m.Images, m.Reasoning
		}
		out[i] = t.info
	}
	return out, nil
}

// listModelsWithKey lists models with one key, and tells the pool whether the key was accepted.
func (c *Client) listModelsWithKey(ctx context.Context, p *provider, l keypool.Lease) ([]wire.ListedModel, error) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	h, err := p.headers(ctx)
	if err != nil {
		return nil, err
	}
	listed, err := c.wire.List(ctx, p.codec, endpoint(p, l, h))
	e, failed := errors.AsType[*llm.Error](err)
	switch {
	case failed && e.Class == llm.ClassCredential:
		c.opts.Pool.MarkKeyError(ctx, &l, e)
	case failed || err != nil:
		c.opts.Pool.MarkKeyError(ctx, &l, &llm.Error{Class: llm.ClassCanceled}) // a list says nothing about limits on answers
	default:
		c.opts.Pool.MarkKeyValid(l)
	}
	return listed, err
}

func endpoint(p *provider, l keypool.Lease, h headers) wire.Endpoint {
	return wire.Endpoint{Provider: p.Name, BaseURL: p.BaseURL, Header: h.fields, Secrets: h.secrets, Key: l.Reveal(), KeyLabel: l.Label}
}

// Test asks a provider for its models with one key, whatever the pool knows about the key, and returns their
// names. A refused key that works now is used again.
func (c *Client) Test(ctx context.Context, name, label string) ([]string, error) {
	p := c.index.Load().byName[name]
	if p == nil {
		return nil, noProviderError(name)
	}
	l, err := c.opts.Pool.LeaseOf(ctx, name, label)
	if err != nil {
		return nil, err
	}
	listed, err := c.listModelsWithKey(ctx, p, l)
	names := make([]string, len(listed))
	for i, m := range listed {
		names[i] = m.ID
	}
	return names, err
}
