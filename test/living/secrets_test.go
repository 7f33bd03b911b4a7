package living_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"collie/internal/config"
	secretadmin "collie/internal/secret/admin"
	"collie/internal/source/upstream/signin"
	"collie/test/await"
	"collie/test/gateway"
)

// canaries are planted secrets, by the place where they are planted. They look like ordinary words, so that only
// their place can be the reason to hide them.
type canaries map[string]string

// secretFor returns the secret for a place, the same one each time.
func (c canaries) secretFor(place string) string {
	if c[place] == "" {
		c[place] = "otter-" + strings.ReplaceAll(place, " ", "-") + "-otter"
	}
	return c[place]
}

// inBase64 returns the part of a secret's Base64 form in the credentials ann:secret that depends on nothing but the secret:
// without the first 8 letters, which encode "ann:" and 2 bytes, and without the last 4, which may be padding.
func inBase64(secret string) string {
	text := base64.StdEncoding.EncodeToString([]byte("ann:" + secret))
	return text[8 : len(text)-4]
}

// wantNoSecrets fails the test for each secret that occurs in a text, also URL-encoded or in Base64. except names places
// whose secrets may occur.
func (c canaries) wantNoSecrets(t *testing.T, where string, text []byte, except ...string) {
	t.Helper()
	for place, secret := range c {
		for form, value := range map[string]string{"": secret, " in an URL": url.QueryEscape(secret), " in Base64": inBase64(secret)} {
			i := bytes.Index(text, []byte(value))
			if i < 0 || slices.Contains(except, place) {
				continue
			}
			t.Errorf("the secret %q is in %s%s: …%s…", place, where, form, text[max(0, i-150):min(len(text), i+len(value)+50)])
			break
		}
	}
}

// echoSecrets handles every request with an error that repeats the secrets in the request.
func echoSecrets(w http.ResponseWriter, r *http.Request) {
	w.WriteHeader(http.StatusInternalServerError)
	_, _ = fmt.Fprintf(w, "no: %s %s %s", r.Header.Get("Authorization"), r.Header.Get("X-Custom"), r.URL.RawQuery)
}

// No secret from the settings, the secret store or a sign-in reaches a file or an answer that is not meant to have
// it: not the tool cache, logs, states, audit records, metrics or any output of a command, whether servers work, fail
// or crash. The results of tools reach the caller and nobody else.
func TestNothingInClear(t *testing.T) {
	t.Parallel()
	skipOnWindows(t)
	c := canaries{}
	inner := newRemote(t, "--offer", "echo,fail")
	angry := serveRemote(t, http.HandlerFunc(echoSecrets))
	p, oauth := serveGuarded(t, "--offer", "echo")
	h := newHome(t, nil)
	outside := t.TempDir() // for files of users, which are not searched for secrets
	write := func(name, text string) string {
		path := filepath.Join(outside, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	result := write("result.json", `{"content":[{"type":"text","text":"`+c.secretFor("result")+`"}]}`)
	envFile := write("local.env", "FILED="+c.secretFor("envFile")+"\n")
	remoteEntry := func(far *remote, what string) string {
		return fmt.Sprintf(`{"url":"http://%s:%s@%s/mcp?tenant=blue&api_key=%s","headers":{"X-Custom":%q,"X-Token":"${secret:HEADER}"},"auth":{"type":"bearer","token":%q}}`,
			c.secretFor(what+" user"), c.secretFor(what+" password"), far.addr, c.secretFor(what+" query"), c.secretFor(what+" header"), c.secretFor(what+" bearer"))
	}
	script := `echo "starting with $PLANTED and $STORED and $FILED" >&2; echo "noise $PLANTED"; exec "$0" "$@"`
	h.configure(t, []gateway.Server{
		{Name: "local", Entry: entryJSON(t, map[string]any{
			"command": "/bin/sh", "args": []string{"-c", script, h.Fake, "--offer", "echo,fail,raw,crash,env,rpcerror,log", "--result-file", result},
			"env": map[string]string{"PLANTED": c.secretFor("env"), "STORED": "${secret:STORED}"}, "envFile": envFile,
		})},
		{Name: "args", Entry: entryJSON(t, map[string]any{
			"command": h.Fake, "args": []string{"--print-stderr", "I was given ${secret:ARG}", "--token", c.secretFor("arg behind --token"), "--api-key=" + c.secretFor("arg with =")},
		})},
		{Name: "far", Entry: remoteEntry(inner, "far")},
		{Name: "angry", Entry: remoteEntry(angry, "angry")},
		{Name: "basic", Entry: entryJSON(t, map[string]any{
			"url": "http://" + angry.addr + "/mcp", "auth": map[string]string{"type": "basic", "username": "ann", "password": c.secretFor("basic password")},
		})},
		{Name: "gone", Entry: `{"url":"http://me:` + c.secretFor("gone password") + `@127.0.0.1:1/mcp?key=` + c.secretFor("gone query") + `"}`},
		{Name: "oauth", Entry: oauth.entry()},
	}, secretsInFile, `"log":{"level":"debug"},"http":{"metrics":true}`,
		fmt.Sprintf(`"cache":{"shared":"http://:%s@127.0.0.1:1/team"}`, c.secretFor("shared cache token")))
	h.storeSecrets(t, map[string]string{"HEADER": c.secretFor("stored header"), "STORED": c.secretFor("stored env"), "ARG": c.secretFor("stored arg")})
	h.signIn(t, p, "oauth")
	for name, token := range h.signInTokens(t) {
		c["oauth "+name] = token
	}

	g := h.serveReady(t)
	client := dialLegacy(t, g)
	if got := callTool(t, client, "local__raw", "{}"); got != c["result"] {
		t.Errorf("the caller got %q, want the result as it is", got)
	}
	if got := callTool(t, client, "local__env", "{}"); !strings.Contains(got, c["env"]) || !strings.Contains(got, c["stored env"]) || !strings.Contains(got, c["envFile"]) {
		t.Errorf("the server did not get its secrets: %s", got)
	}
	wantEcho(t, client, "far")
	wantEcho(t, client, "oauth")
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	for _, args := range []string{
		fmt.Sprintf(`{"password":%q,"nested":{"api_key":%q}}`, c.secretFor("argument named password"), c.secretFor("argument named api_key")),
		fmt.Sprintf(`{"text":"it is %s"}`, c["env"]), // a model repeats a secret
	} {
		for _, name := range []string{"local__echo", "local__fail", "far__fail", "angry__x", "gone__x", "args__x"} {
			_, _ = client.Tool(ctx, name, args) // most fail
		}
	}
	_, _ = client.Tool(ctx, "local__rpcerror", fmt.Sprintf(`{"message":%q}`, "no access with "+c["env"]))
	_, _ = client.Tool(ctx, "local__crash", `{"kill":true}`)
	wantEcho(t, client, "local")
	for _, name := range []string{"angry", "basic", "gone", "args"} {
		g.Act(t, name, "restart") // fails, and the reason is recorded
	}
	await.Moment(time.Second) // for writes in the background

	gets := []string{"/mcp/servers", "/toolcache/stats", "/tools", "/lists/tools", "/lists/resources"}
	commands := [][]string{
		{"mcp", "list"},
		{"mcp", "list", "--json"},
		{"tools"},
		{"tools", "--json"},
		{"tools", "local"},
		{"config", "show"},
		{"config", "show", "--json"},
		{"config", "get", "mcpServers"},
		{"mcp", "validate"},
		{"mcp", "validate", "--json"},
		{"doctor"},
		{"doctor", "--json"},
		{"audit", "tail", "-n", "1000"},
		{"audit", "query", "-n", "0", "--json"},
		{"audit", "verify"},
		{"secret", "list"},
		{"cache", "show", "--json"},
		{"cache", "stats", "--json"},
		{"cache", "verify", "--json"},
	}
	for _, name := range []string{"local", "args", "far", "angry", "basic", "gone", "oauth"} {
		gets = append(gets, "/mcp/servers/"+name, "/mcp/servers/"+name+"/logs", "/mcp/servers/"+name+"/changes")
		commands = append(commands, []string{"mcp", "list", name}, []string{"mcp", "logs", name}, []string{"mcp", "logs", name, "--json"}, []string{"mcp", "doctor", name})
	}
	for _, path := range gets {
		_, answer := g.Ask(t, http.MethodGet, path, "")
		c.wantNoSecrets(t, "GET "+path, answer)
	}
	c.wantNoSecrets(t, "/metrics", getMetrics(t, g))
	for _, args := range commands {
		stdout, stderr, _ := h.run(t, args...)
		c.wantNoSecrets(t, "collie "+strings.Join(args, " "), []byte(stdout+stderr))
	}
	stdout, stderr, code := h.run(t, "call", "far", "nothing")
	if code == 0 {
		t.Error("a tool that is not there was called")
	}
	c.wantNoSecrets(t, "collie call", []byte(stdout+stderr))
	stdout, stderr, _ = h.run(t, "mcp", "export", "--to", "cursor") // exports the settings, without values from the secret store
	for place, secret := range c {
		if strings.Contains(place, "stored") && strings.Contains(stdout+stderr, secret) {
			t.Errorf("the secret %q is in an export", place)
		}
	}
	stopGateway(t, g)
	c.wantNoSecrets(t, "the log of collie serve", []byte(g.Stderr()))
	h.wantNoSecretsInFiles(t, c)
	if e := cacheEntry(t, h.cachePath(), "local"); !e.Get("serverConfig.env.PLANTED").Exists() || !cacheEntry(t, h.cachePath(), "far").Exists() {
		t.Errorf("the cache has not kept what it should: %s", e.Raw)
	}
}

func entryJSON(t *testing.T, entry map[string]any) string {
	t.Helper()
	raw, err := json.Marshal(entry)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// storeSecrets stores secrets in the home's secret store.
func (h *home) storeSecrets(t *testing.T, secrets map[string]string) {
	t.Helper()
	cfg, err := config.Load(config.Options{Files: []string{h.settings}, Home: h.dir})
	if err != nil {
		t.Fatal(err)
	}
	store, err := secretadmin.Open(cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range secrets {
		if err := store.Set(t.Context(), name, value); err != nil {
			t.Fatal(err)
		}
	}
}

// signInTokens returns the access token and the refresh token that a sign-in has put into the secret store.
func (h *home) signInTokens(t *testing.T) map[string]string {
	t.Helper()
	cfg, err := config.Load(config.Options{Files: []string{h.settings}, Home: h.dir})
	if err != nil {
		t.Fatal(err)
	}
	store, err := secretadmin.Open(cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	names, err := store.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, name := range names {
		if !strings.HasPrefix(name, signin.Prefix) {
			continue
		}
		value, _, err := store.Get(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		var record struct{ AccessToken, RefreshToken string }
		if json.Unmarshal([]byte(value), &record) == nil && record.AccessToken != "" {
			out["access token"], out["refresh token"] = record.AccessToken, record.RefreshToken
		}
	}
	if len(out) != 2 {
		t.Fatalf("the sign-in has left %d tokens", len(out))
	}
	return out
}

// wantNoSecretsInFiles looks for secrets in all files of the home, except the settings, which people write
// themselves.
func (h *home) wantNoSecretsInFiles(t *testing.T, c canaries) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(h.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || path == h.settings {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		rel, _ := filepath.Rel(h.dir, path)
		c.wantNoSecrets(t, "the file "+rel, raw)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 8 { // the home has at least the cache, pins, audit, secrets and logs
		t.Errorf("only %d files were looked at", files)
	}
}

// getMetrics returns the answer to GET /metrics.
func getMetrics(t *testing.T, g *gateway.Gateway) []byte {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, g.URL+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("/metrics: status %d, %v", resp.StatusCode, err)
	}
	return body
}
