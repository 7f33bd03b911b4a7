package admin_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"collie/internal/app"
	"collie/internal/config"
	"collie/internal/llm/admin"
	"collie/internal/tool"
)

// openManager returns the Manager of a new home, whose secrets are in a file, and the URL of a provider that accepts keys which
// begin with "good". file is the settings file.
func openManager(t *testing.T) (m *admin.Manager, url, file string) {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if !strings.HasPrefix(r.Header.Get("Authorization"), "Bearer good") {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"error":{"message":"Incorrect API key provided","code":"invalid_api_key"}}`)
			return
		}
		fmt.Fprint(w, `{"object":"list","data":[{"id":"acme-9"},{"id":"acme-10"}]}`)
	}))
	t.Cleanup(srv.Close)
	home := t.TempDir()
	file = filepath.Join(home, "collie.json")
	if err := os.WriteFile(file, []byte(`{"secrets":{"store":"file"},"siyuan":{"enabled":false}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	load := func() (*config.Config, error) {
		return config.Load(config.Options{Home: home, Env: config.EnvOf("HOME=" + home)})
	}
	cfg, err := load()
	if err != nil {
		t.Fatal(err)
	}
	a, err := app.Open(t.Context(), cfg, app.Options{Version: "9"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	reread := func(context.Context) error {
		now, err := load()
		if err == nil {
			a.Reload(now)
		}
		return err
	}
	return a.Providers(func(*config.Config) string { return file }, reread, "me"), srv.URL + "/v1", file
}

func checkRefused(t *testing.T, err error, kind tool.ErrorKind) {
	t.Helper()
	if e, ok := errors.AsType[*tool.Error](err); !ok || e.Kind != kind {
		t.Errorf("the error is %v; want kind %v", err, kind)
	}
}

// Providers and keys can be added, changed and removed. No key appears in the settings or in what the Manager returns.
func TestManages(t *testing.T) {
	t.Parallel()
	m, url, file := openManager(t)
	ctx := t.Context()
	if names, err := m.ModelNames(ctx); err != nil || names == nil || len(names) != 0 {
		t.Errorf("without a provider the models are %q, %v", names, err)
	}
	_, err := m.Add(ctx, &admin.NewProvider{Name: "acme", Kind: "openai", BaseURL: url, Key: admin.NewKey{Key: "bad-key-1"}})
	checkRefused(t, err, tool.Denied)
	if got := m.Providers(); len(got) != 0 {
		t.Errorf("a provider that refuses its key is saved: %v", got)
	}
	if _, err := m.Add(ctx, &admin.NewProvider{Name: "acme", Kind: "openai", BaseURL: url, Key: admin.NewKey{Key: "good-key-1"}}); err != nil {
		t.Fatal(err)
	}
	_, err = m.Add(ctx, &admin.NewProvider{Name: "acme"})
	checkRefused(t, err, tool.Exists)
	weight := 3
	if k, err := m.AddKey(ctx, "acme", &admin.NewKey{Key: "bad-key-2", Weight: &weight}); err != nil || k.Label != "key2" || k.Weight != 3 {
		t.Fatalf("%+v, %v", k, err)
	}
	_, err = m.TestKey(ctx, "acme", "key2")
	checkRefused(t, err, tool.Denied)
	if tried, err := m.Test(ctx, "acme"); err != nil || len(tried) != 2 || !tried[0].OK || tried[0].Models != 2 || tried[1].OK || tried[1].Error == "" {
		t.Errorf("%+v, %v", tried, err)
	}
	if names, err := m.ModelNames(ctx); err != nil || strings.Join(names, " ") != "acme/acme-10 acme/acme-9" {
		t.Errorf("the models are %q, %v", names, err)
	}
	no := false
	if k, err := m.SetKey(ctx, "acme", "key2", &admin.KeyChange{Key: "good-key-2", Enabled: &no}); err != nil || k.State != "disabled" {
		t.Errorf("%+v, %v", k, err)
	}
	if err := m.ResetKey(ctx, "acme", "main"); err != nil {
		t.Error(err)
	}
	keys, err := m.Keys(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	shown, err := json.Marshal(keys)
	if err != nil {
		t.Fatal(err)
	}
	settings, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{string(shown), string(settings)} {
		if !strings.Contains(text, "${secret:provider_acme_main}") || strings.Contains(text, "key-") {
			t.Errorf("a key shows, or its secret does not: %s", text)
		}
	}
	if err := m.RemoveKey(ctx, "acme", "key2"); err != nil {
		t.Error(err)
	}
	if err := m.Remove(ctx, "acme"); err != nil || len(m.Providers()) != 0 {
		t.Errorf("%v, %v", m.Providers(), err)
	}
}

// Invalid values are refused with the field that is wrong, and nothing is written.
func TestRefuses(t *testing.T) {
	t.Parallel()
	m, url, _ := openManager(t)
	ctx := t.Context()
	if _, err := m.Add(ctx, &admin.NewProvider{Name: "acme", Kind: "openai", BaseURL: url, NoTest: true, Key: admin.NewKey{Secret: "env:NONE"}}); err != nil {
		t.Fatal(err)
	}
	many := 1001
	for name, tt := range map[string]struct {
		kind tool.ErrorKind
		do   func() error
	}{
		"no name":     {tool.Invalid, func() error { _, err := m.Add(ctx, &admin.NewProvider{}); return err }},
		"no kind":     {tool.Invalid, func() error { _, err := m.Add(ctx, &admin.NewProvider{Name: "x"}); return err }},
		"wrong kind":  {tool.Invalid, func() error { _, err := m.Add(ctx, &admin.NewProvider{Name: "x", Kind: "y", BaseURL: url}); return err }},
		"no key":      {tool.Invalid, func() error { _, err := m.AddKey(ctx, "acme", &admin.NewKey{}); return err }},
		"a key twice": {tool.Exists, func() error { _, err := m.AddKey(ctx, "acme", &admin.NewKey{Label: "main", Key: "k"}); return err }},
		"plain":       {tool.Invalid, func() error { _, err := m.AddKey(ctx, "acme", &admin.NewKey{Secret: "sk-123"}); return err }},
		"both":        {tool.Invalid, func() error { _, err := m.AddKey(ctx, "acme", &admin.NewKey{Key: "k", Secret: "env:X"}); return err }},
		"two keys":    {tool.Invalid, func() error { _, err := m.AddKey(ctx, "acme", &admin.NewKey{Key: "a,b"}); return err }},
		"weight":      {tool.Invalid, func() error { _, err := m.AddKey(ctx, "acme", &admin.NewKey{Key: "k", Weight: &many}); return err }},
		"pattern": {tool.Invalid, func() error {
			_, err := m.SetKey(ctx, "acme", "main", &admin.KeyChange{Models: &[]string{"["}})
			return err
		}},
		"unknown key": {tool.NotFound, func() error { return m.ResetKey(ctx, "acme", "none") }},
		"nobody":      {tool.NotFound, func() error { _, err := m.Keys(ctx, "acne"); return err }},
		"not there":   {tool.NotFound, func() error { return m.Remove(ctx, "x") }},
	} {
		t.Run(name, func(t *testing.T) { checkRefused(t, tt.do(), tt.kind) })
	}
	if keys, err := m.Keys(ctx, "acme"); err != nil || len(keys) != 1 || keys[0].Weight != 1 {
		t.Errorf("%+v, %v", keys, err)
	}
}
