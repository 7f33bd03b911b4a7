package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/config"
)

// Providers, models and the defaults of conversations are read, and shown without keys and header values.
func TestProviders(t *testing.T) {
	t.Parallel()
	c, err := load(t, writeSettings(t, `{
		"providers": {
			"openai": {"kind": "openai", "keys": [
				{"label": "main", "secret": "${secret:openai_main}", "weight": 5, "models": ["gpt-*"]},
				{"label": "spare", "secret": "sk-geheim", "enabled": false}]},
			"本地": {"kind": "ollama", "baseURL": "http://127.0.0.1:11434", "headers": {"X-Key": "geheim", "X-Env": "${TOKEN}"}}
		},
		"models": {"本地/qwen3:8b": {"context": 40960, "tools": true, "price": {"input": 0.1, "output": 0.2}}},
		"agent": {"model": "本地/qwen3:8b", "temperature": 0.2, "fallbackModels": ["gpt-5"], "resultLimit": "1KiB"}
	}`))
	if err != nil {
		t.Fatal(err)
	}
	want := []config.Provider{
		{Name: "openai", Kind: "openai", Keys: []config.ProviderKey{
			{Label: "main", Secret: "${secret:openai_main}", Weight: 5, Models: []string{"gpt-*"}, Enabled: true},
			{Label: "spare", Secret: "sk-geheim", Weight: 1},
		}},
		{Name: "本地", Kind: "ollama", BaseURL: "http://127.0.0.1:11434", Headers: map[string]string{"X-Key": "geheim", "X-Env": "${TOKEN}"}},
	}
	if diff := cmp.Diff(want, c.Providers); diff != "" {
		t.Errorf("providers (-want +got):\n%s", diff)
	}
	yes, in, out, cool := true, 0.1, 0.2, 0.2
	if diff := cmp.Diff(map[string]config.Model{"本地/qwen3:8b": {Context: 40960, Tools: &yes, InputPrice: &in, OutputPrice: &out}}, c.Models); diff != "" {
		t.Errorf("models (-want +got):\n%s", diff)
	}
	agent := config.Agent{
		Engine: "auto", Model: "本地/qwen3:8b", FallbackModels: []string{"gpt-5"}, Temperature: &cool, MaxSteps: 25, MaxTurnSeconds: 900,
		ContextPolicy: "compact", ResultLimit: 1024, BusyPolicy: "queue",
	}
	if diff := cmp.Diff(agent, c.Agent); diff != "" {
		t.Errorf("agent (-want +got):\n%s", diff)
	}
	text := string(c.JSON())
	if strings.Contains(text, "geheim") || !strings.Contains(text, `"X-Env":"${TOKEN}"`) || !strings.Contains(text, `"secret":"${secret:openai_main}"`) {
		t.Errorf("the settings read %s", text)
	}
}

// Each mistake about providers, models and conversations is one finding, at its place in the text.
func TestProviderFindings(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text string
		want string
	}{
		"no kind":        {`{"providers": {"a": {}}}`, `collie.json:1:21: providers.a: a provider needs a "kind": one of openai, responses, anthropic, gemini, ollama`},
		"unknown kind":   {`{"providers": {"a": {"kind": "azure"}}}`, `collie.json:1:30: providers.a.kind: expected one of openai, responses, anthropic, gemini, ollama, got "azure"`},
		"name":           {`{"providers": {"a/b": {"kind": "openai"}}}`, `collie.json:1:16: providers.a/b: the name of a provider has no blanks and no /, got "a/b"`},
		"base URL":       {`{"providers": {"a": {"kind": "openai", "baseURL": "localhost"}}}`, `collie.json:1:51: providers.a.baseURL: expected an http or https URL such as "http://127.0.0.1:11434"`},
		"no label":       {`{"providers": {"a": {"kind": "openai", "keys": [{"secret": "x"}]}}}`, `collie.json:1:49: providers.a.keys[0]: a key needs a "label" without blanks and /, by which it is named`},
		"no secret":      {`{"providers": {"a": {"kind": "openai", "keys": [{"label": "x"}]}}}`, `collie.json:1:49: providers.a.keys[0]: a key needs a "secret", such as "${secret:NAME}", "env:NAME" or "file:PATH"`},
		"joined":         {`{"providers": {"a": {"kind": "openai", "keys": [{"label": "x", "secret": "geheim,geheim2"}]}}}`, `collie.json:1:49: providers.a.keys[0]: a secret is one key, without blanks and commas; several are several entries`},
		"label twice":    {`{"providers": {"a": {"kind": "openai", "keys": [{"label": "x", "secret": "y"}, {"label": "x", "secret": "z"}]}}}`, `collie.json:1:80: providers.a.keys[1]: there are two keys with the label "x"`},
		"weight":         {`{"providers": {"a": {"kind": "openai", "keys": [{"label": "x", "secret": "y", "weight": 1001}]}}}`, `collie.json:1:89: providers.a.keys[0].weight: expected a whole number from 0 to 1000, got 1001`},
		"keys as text":   {`{"providers": {"a": {"kind": "openai", "keys": "a,b"}}}`, `collie.json:1:48: providers.a.keys: expected a list of keys such as [{"label": "main", "secret": "${secret:NAME}"}], got string`},
		"half a price":   {`{"models": {"m": {"price": {"input": 1}}}}`, `collie.json:1:18: models.m: price.input and price.output belong together; only one of them is set`},
		"context":        {`{"models": {"m": {"context": -1}}}`, `collie.json:1:30: models.m.context: expected a whole number from 0 to 1073741824, got -1`},
		"temperature":    {`{"agent": {"temperature": 3}}`, `collie.json:1:27: agent.temperature: expected a number from 0 to 2, got 3`},
		"engine":         {`{"agent": {"engine": "cli"}}`, `collie.json:1:22: agent.engine: expected one of auto, chat, react, direct, got "cli"`},
		"misspelt model": {`{"agent": {"modle": "x"}}`, `collie.json:1:12: warning: agent.modle: unknown field; did you mean "model"?`},
	} {
		got := loadFindings(t, tc.text)
		if len(got) != 1 || got[0] != tc.want {
			t.Errorf("%s:\n%q, want\n%q", name, got, tc.want)
		}
	}
}

// What the settings show as *** is a setting all the same: another key, header or password is another digest.
func TestDigestTellsSecrets(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	file := filepath.Join(home, "collie.json")
	for name, text := range map[string]string{
		"key of a provider":            `{"providers": {"a": {"kind": "openai", "keys": [{"label": "x", "secret": "SECRET"}]}}}`,
		"header of a provider":         `{"providers": {"a": {"kind": "openai", "headers": {"X-Key": "SECRET"}, "keys": [{"label": "x", "secret": "env:A"}]}}}`,
		"query for a provider":         `{"providers": {"a": {"kind": "openai", "baseURL": "https://api.example.org/v1?key=SECRET", "keys": [{"label": "x", "secret": "env:A"}]}}}`,
		"header of notifications":      `{"guard": {"notify": {"url": "https://ntfy.example.org/t", "headers": {"Authorization": "Bearer SECRET"}}}}`,
		"query for notifications":      `{"guard": {"notify": {"url": "https://ntfy.example.org/t?auth=SECRET"}}}`,
		"password of the registry":     `{"mcp": {"registry": "https://me:SECRET@registry.example.org"}}`,
		"query for the registry":       `{"mcp": {"registry": "https://registry.example.org/?token=SECRET"}}`,
		"password of the shared cache": `{"cache": {"shared": "nats://me:SECRET@cache.example.org:4222"}}`,
		"query for the telemetry":      `{"telemetry": {"endpoint": "https://traces.example.org/?token=SECRET"}}`,
	} {
		digest := func(secret string) string {
			if err := os.WriteFile(file, []byte(strings.ReplaceAll(text, "SECRET", secret)), 0o600); err != nil {
				t.Fatal(err)
			}
			c, err := config.Load(config.Options{Files: []string{file}, Home: home})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if strings.Contains(string(c.JSON()), secret) {
				t.Errorf("%s is shown: %s", name, c.JSON())
			}
			return c.Digest()
		}
		one := digest("xyzzy-one")
		if digest("xyzzy-two") == one {
			t.Errorf("%s: another one is the same setting", name)
		}
		if digest("xyzzy-one") != one {
			t.Errorf("%s: the same one is another setting", name)
		}
	}
}
