package web

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"

	llmadmin "collie/internal/llm/admin"
)

// Providers is the part of the management of language models that this face needs.
type Providers interface {
	Providers() []llmadmin.Provider
	Add(ctx context.Context, n *llmadmin.NewProvider) (llmadmin.Provider, error)
	Remove(ctx context.Context, name string) error
	// Test tries all keys of a provider. An error of TestKey says what is wrong with the key.
	Test(ctx context.Context, provider string) ([]llmadmin.TestResult, error)
	TestKey(ctx context.Context, provider, label string) (llmadmin.TestResult, error)
	// ModelNames returns the models of the providers that answer, as PROVIDER/MODEL.
	ModelNames(ctx context.Context) ([]string, error)
	// Keys returns the keys of a provider, or of all where that is empty.
	Keys(ctx context.Context, provider string) ([]llmadmin.Key, error)
	AddKey(ctx context.Context, provider string, n *llmadmin.NewKey) (llmadmin.Key, error)
	SetKey(ctx context.Context, provider, label string, c *llmadmin.KeyChange) (llmadmin.Key, error)
	RemoveKey(ctx context.Context, provider, label string) error
	ResetKey(ctx context.Context, provider, label string) error
	// Caches returns figures about what is kept in memory of models, and ClearCache empties one of them.
	Caches(ctx context.Context) ([]llmadmin.CacheStats, error)
	ClearCache(ctx context.Context, name string) (entries int, err error)
}

// providerRoutes returns the routes of providers and their keys. They need the control key, because a key costs its
// owner money.
func providerRoutes() []Route {
	return []Route{
		{"GET /api/v1/providers", ClassManage, (*api).providers, about{summary: "The providers of language models; If-None-Match takes the ETag of the list", out: providerList{}}},
		{"POST /api/v1/providers", ClassManage, (*api).addProvider, about{
			summary: "Set up a provider, once it has answered; openai, anthropic, ollama and others are known by name", in: llmadmin.NewProvider{}, out: llmadmin.Provider{}, status: 201,
		}},
		{"POST /api/v1/providers/{name}/test", ClassManage, (*api).testProvider, about{summary: "Ask a provider for its models, once with each key", out: tests{}}},
		{"DELETE /api/v1/providers/{name}", ClassManage, (*api).removeProvider, about{summary: "Remove a provider, and the secrets of its keys"}},
		{"GET /api/v1/models", ClassManage, (*api).models, about{summary: "Ask all providers for their models; those of providers that do not answer are missing", out: modelNames{}}},
		{"GET /api/v1/keys", ClassManage, (*api).keys, about{
			summary: "The keys of providers and how they are, never the keys themselves", out: keyList{}, query: []string{"provider: those of this one"},
		}},
		{"POST /api/v1/providers/{name}/keys", ClassManage, (*api).addKey, about{summary: "Add a key to a provider", in: llmadmin.NewKey{}, out: llmadmin.Key{}, status: 201}},
		{"PATCH /api/v1/providers/{name}/keys/{label}", ClassManage, (*api).setKey, about{
			summary: "Change a key, or enable or disable it", in: llmadmin.KeyChange{}, out: llmadmin.Key{},
		}},
		{"DELETE /api/v1/providers/{name}/keys/{label}", ClassManage, (*api).removeKey, about{summary: "Remove a key, and its secret"}},
		{"POST /api/v1/providers/{name}/keys/{label}/test", ClassManage, (*api).testKey, about{
			summary: "Try a key; an error says what is wrong with it", out: llmadmin.TestResult{},
		}},
		{"POST /api/v1/providers/{name}/keys/{label}/reset", ClassManage, (*api).resetKey, about{
			summary: "Forget why a key is not used, so that it is tried at once", out: none{},
		}},
		{"GET /api/v1/caches", ClassManage, (*api).caches, about{summary: "Figures about what is kept in memory of models", out: cacheList{}}},
		{"POST /api/v1/caches/{name}/clear", ClassManage, (*api).clearNamedCache, about{summary: "Empty the cache of that name: models or transformers", out: emptied{}}},
	}
}

type providerList struct {
	Providers []llmadmin.Provider `json:"providers"`
}

type keyList struct {
	Keys []llmadmin.Key `json:"keys"`
}

type tests struct {
	Keys []llmadmin.TestResult `json:"keys"`
}

func (a *api) providers(w http.ResponseWriter, r *http.Request) error {
	raw, err := encode(providerList{a.opts.Providers.Providers()})
	if err != nil {
		return err
	}
	sum := sha256.Sum256(raw)
	tag := `"` + hex.EncodeToString(sum[:16]) + `"`
	w.Header().Set("ETag", tag)
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	return answer(w, raw)
}

type modelNames struct {
	Models []string `json:"models"` // PROVIDER/MODEL
}

func (a *api) models(w http.ResponseWriter, r *http.Request) error {
	names, err := a.opts.Providers.ModelNames(r.Context())
	if err != nil {
		return err
	}
	return answer(w, modelNames{names})
}

func (a *api) addProvider(w http.ResponseWriter, r *http.Request) error {
	var n llmadmin.NewProvider
	if err := decodeBody(r, &n, `{"name":…,"key":{"key":…}}`); err != nil {
		return err
	}
	made, err := a.opts.Providers.Add(r.Context(), &n)
	if err != nil {
		return err
	}
	return answerWith(w, http.StatusCreated, made)
}

func (a *api) testProvider(w http.ResponseWriter, r *http.Request) error {
	tried, err := a.opts.Providers.Test(r.Context(), r.PathValue("name"))
	if err != nil {
		return err
	}
	return answer(w, tests{tried})
}

func (a *api) removeProvider(w http.ResponseWriter, r *http.Request) error {
	return answerNoContent(w, a.opts.Providers.Remove(r.Context(), r.PathValue("name")))
}

func (a *api) keys(w http.ResponseWriter, r *http.Request) error {
	keys, err := a.opts.Providers.Keys(r.Context(), r.URL.Query().Get("provider"))
	if err != nil {
		return err
	}
	return answer(w, keyList{keys})
}

func (a *api) addKey(w http.ResponseWriter, r *http.Request) error {
	var n llmadmin.NewKey
	if err := decodeBody(r, &n, `{"key":…}, or {"secret":"env:NAME"}`); err != nil {
		return err
	}
	made, err := a.opts.Providers.AddKey(r.Context(), r.PathValue("name"), &n)
	if err != nil {
		return err
	}
	return answerWith(w, http.StatusCreated, made)
}

func (a *api) setKey(w http.ResponseWriter, r *http.Request) error {
	var c llmadmin.KeyChange
	if err := decodeBody(r, &c, `{"weight":…,"models":[…],"enabled":…}`); err != nil {
		return err
	}
	changed, err := a.opts.Providers.SetKey(r.Context(), r.PathValue("name"), r.PathValue("label"), &c)
	if err != nil {
		return err
	}
	return answer(w, changed)
}

func (a *api) removeKey(w http.ResponseWriter, r *http.Request) error {
	return answerNoContent(w, a.opts.Providers.RemoveKey(r.Context(), r.PathValue("name"), r.PathValue("label")))
}

func (a *api) testKey(w http.ResponseWriter, r *http.Request) error {
	tried, err := a.opts.Providers.TestKey(r.Context(), r.PathValue("name"), r.PathValue("label"))
	if err != nil {
		return err
	}
	return answer(w, tried)
}

func (a *api) resetKey(w http.ResponseWriter, r *http.Request) error {
	if err := a.opts.Providers.ResetKey(r.Context(), r.PathValue("name"), r.PathValue("label")); err != nil {
		return err
	}
	return answer(w, none{})
}

// answerNoContent answers 204, or returns err.
func answerNoContent(w http.ResponseWriter, err error) error {
	if err == nil {
		w.WriteHeader(http.StatusNoContent)
	}
	return err
}

type cacheList struct {
	Caches []llmadmin.CacheStats `json:"caches"`
}

func (a *api) caches(w http.ResponseWriter, r *http.Request) error {
	list, err := a.opts.Providers.Caches(r.Context())
	if err != nil {
		return err
	}
	return answer(w, cacheList{list})
}

type emptied struct {
	Entries int `json:"entries"` // how many it had
}

func (a *api) clearNamedCache(w http.ResponseWriter, r *http.Request) error {
	n, err := a.opts.Providers.ClearCache(r.Context(), r.PathValue("name"))
	if err != nil {
		return err
	}
	return answer(w, emptied{n})
}
