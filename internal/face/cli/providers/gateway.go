package providers

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"collie/internal/config"
	"collie/internal/face/cli/remote"
	llmadmin "collie/internal/llm/admin"
	"collie/internal/tool"
)

// This file asks a running gateway about providers and keys, because it knows the present state of the keys.

// gateway returns a client of the gateway that runs with the settings of this command, or nil if there is none. The caller
// closes it.
func (p commands) gateway(ctx context.Context, cfg *config.Config) *remote.Client {
	g, sameSettings, err := p.FindGateway(ctx, cfg)
	if err != nil || !sameSettings {
		return nil
	}
	r := remote.New(cfg, g, nil)
	if !r.Alive(ctx) {
		r.Close()
		return nil
	}
	return r
}

func providerPath(name string) string { return "/providers/" + url.PathEscape(name) }

func keyPath(provider, label string) string {
	return providerPath(provider) + "/keys/" + url.PathEscape(label)
}

// keyTests returns the keys of all providers, and a function that tests one of them: in the running gateway if there is
// one, otherwise in this process. The caller must call end.
func (p commands) keyTests(ctx context.Context, op string, cfg *config.Config) (keys []llmadmin.Key, try func(provider, label string) (int, error), end func(), err error) {
	g := p.gateway(ctx, cfg)
	if g == nil {
		m, err := p.open(ctx, cfg)
		if err != nil {
			return nil, nil, nil, err
		}
		return llmadmin.Keys(cfg, m.Keys, ""), func(provider, label string) (int, error) {
			names, err := m.Test(ctx, provider, label)
			return len(names), llmadmin.Explain(op, err)
		}, func() { p.close(m) }, nil
	}
	var list struct{ Keys []llmadmin.Key }
	if err := ask(ctx, g, http.MethodGet, "/keys", &list); err != nil {
		g.Close()
		return nil, nil, nil, err
	}
	return list.Keys, func(provider, label string) (int, error) {
		if label == "" { // a provider without keys
			var tried struct{ Keys []llmadmin.TestResult }
			if err := ask(ctx, g, http.MethodPost, providerPath(provider)+"/test", &tried); err != nil {
				return 0, err
			}
			if len(tried.Keys) == 1 && tried.Keys[0].OK {
				return tried.Keys[0].Models, nil
			}
			return 0, &tool.Error{Op: op, Kind: tool.Upstream, Subject: provider, Message: firstTrouble(tried.Keys)}
		}
		var t llmadmin.TestResult
		err := ask(ctx, g, http.MethodPost, keyPath(provider, label)+"/test", &t)
		return t.Models, err
	}, g.Close, nil
}

// firstTrouble returns the first error among test results.
func firstTrouble(keys []llmadmin.TestResult) string {
	for _, t := range keys {
		if t.Error != "" {
			return t.Error
		}
	}
	return "there is no such provider"
}

// ask sends a request to the gateway's API and decodes the answer into out.
func ask(ctx context.Context, g *remote.Client, method, path string, out any) error {
	raw, err := g.Do(ctx, method, path, []byte("{}"))
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, out)
}
