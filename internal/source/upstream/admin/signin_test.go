package admin_test

import (
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"collie/internal/config"
	secretadmin "collie/internal/secret/admin"
	serveradmin "collie/internal/source/upstream/admin"
	"collie/internal/source/upstream/signin"
	"collie/internal/source/upstream/signin/signintest"
	"collie/internal/tool"
)

// remoteConfig returns settings with one remote server named notes, whose entry has the members in more. Secrets are
// stored in a file.
func remoteConfig(t *testing.T, address, more string) *config.Config {
	t.Helper()
	home := t.TempDir()
	file := filepath.Join(home, "collie.json")
	text := `{"secrets":{"store":"file"},"mcpServers":{"notes":{"url":"` + address + `"` + more + `}}}`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(config.Options{Home: home, Files: []string{file}})
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// A configured client secret is read from the secret store and appears nowhere else.
func TestSignInWithAConfiguredClient(t *testing.T) {
	t.Parallel()
	p := signintest.New(t, signintest.Behaviour{NoRegistration: true})
	cfg := remoteConfig(t, p.MCP(), `,"auth":{"clientId":"by-hand","clientSecret":"${secret:NOTES}"}`)
	o := serveradmin.SignInOptions{LoginOptions: signin.LoginOptions{OpenBrowser: func(ctx context.Context, address string) error {
		u, err := url.Parse(address)
		if err != nil {
			return err
		}
		p.Register("by-hand", "canary-client", u.Query().Get("redirect_uri"))
		return p.Browser(nil)(ctx, address)
	}}}
	err := serveradmin.SignIn(t.Context(), cfg, config.Env{}, "notes", o)
	if tool.KindOf(err) != tool.Invalid || !strings.Contains(err.Error(), "secret NOTES is not set") {
		t.Fatalf("error = %v, want one about the secret that is missing", err)
	}
	store, err := secretadmin.Open(cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Set(t.Context(), "NOTES", "canary-client"); err != nil {
		t.Fatal(err)
	}
	if err := serveradmin.SignIn(t.Context(), cfg, config.Env{}, "notes", o); err != nil {
		t.Fatal(err)
	}
	if names, err := secretadmin.Names(t.Context(), cfg); err != nil || len(names) != 1 || names[0] != "NOTES" {
		t.Errorf("secrets of the person = %q, %v", names, err)
	}
	if revoked, err := serveradmin.SignOut(t.Context(), cfg, config.Env{}, "notes", serveradmin.SignInOptions{}); err != nil || !revoked {
		t.Errorf("sign out = %v, %v", revoked, err)
	}
	if left, err := store.List(t.Context()); err != nil || len(left) != 1 {
		t.Errorf("%q are left, %v", left, err)
	}
}

// A sign-in to a server whose settings say how it is authenticated is refused, with a hint.
func TestSignInIsNotForAll(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ entry, want, hint string }{
		"header": {`,"headers":{"authorization":"Bearer x"}`, "Authorization header", "check the token"},
		"bearer": {`,"auth":{"type":"bearer","token":"x"}`, "auth of type bearer", "check the token"},
		"none":   {`,"auth":{"type":"none"}`, "auth of type none", "change auth"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := remoteConfig(t, "http://127.0.0.1:1/mcp", test.entry)
			err := serveradmin.SignIn(t.Context(), cfg, config.Env{}, "notes", serveradmin.SignInOptions{})
			if tool.KindOf(err) != tool.Invalid || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error = %v, want %q", err, test.want)
			}
			if e, _ := errors.AsType[*tool.Error](err); e == nil || !strings.Contains(e.Hint, test.hint) {
				t.Errorf("error = %#v, want a hint with %q", err, test.hint)
			}
		})
	}
	cfg := remoteConfig(t, "http://127.0.0.1:1/mcp", "")
	if err := serveradmin.SignIn(t.Context(), cfg, config.Env{}, "other", serveradmin.SignInOptions{}); tool.KindOf(err) != tool.NotFound {
		t.Errorf("error = %v, want that there is no such server", err)
	}
}
