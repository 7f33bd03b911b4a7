package providers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"collie/internal/config"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
)

// home is a home whose secrets lie in a file, and a provider that takes keys that begin with "good".
type home struct {
	t   *testing.T
	dir string
	url string
	env []string
}

// newHome returns an empty home, with the address of a running provider that has two models.
func newHome(t *testing.T) *home {
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
	h := &home{t: t, dir: t.TempDir(), url: srv.URL + "/v1"}
	h.env = []string{"HOME=" + h.dir}
	h.write("collie.json", `{"secrets": {"store": "file"}}`)
	return h
}

// write writes a file of the home.
func (h *home) write(name, text string) {
	h.t.Helper()
	if err := os.MkdirAll(filepath.Dir(filepath.Join(h.dir, name)), 0o700); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(h.dir, name), []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

// read returns the text of a file of the home.
func (h *home) read(name string) string {
	h.t.Helper()
	raw, err := os.ReadFile(filepath.Join(h.dir, name))
	if err != nil {
		h.t.Fatal(err)
	}
	return string(raw)
}

// run runs a command line with a standard input and returns both its outputs, and its exit code.
func (h *home) run(stdin string, args ...string) (text string, code int) {
	h.t.Helper()
	var out bytes.Buffer
	p := &root.Program{
		Version: "test", In: strings.NewReader(stdin), Home: h.dir, Output: output.Output{Out: &out, Err: &out, Env: config.EnvOf(h.env...)},
	}
	c := p.Root(ProviderCommand(p), KeysCommand(p))
	c.SetArgs(append(args, "--home", h.dir))
	c.SetOut(&out)
	if err := c.Execute(); err != nil {
		code = p.Report(err)
	}
	return out.String(), code
}

// A provider is added with a key, gets further keys, is tested, and is removed with its secrets.
func TestProviderFromStartToEnd(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	if text, code := h.run("bad-geheim\n", "provider", "add", "acme", "--kind", "openai", "--url", h.url); code != root.ExitDenied || !strings.Contains(text, "Incorrect API key") || !strings.Contains(text, "--no-test saves it anyway") {
		t.Errorf("a wrong key: %d\n%s", code, text)
	}
	if text := h.read("collie.json"); strings.Contains(text, "acme") {
		t.Errorf("a wrong key is saved: %s", text)
	}
	if text, code := h.run("good-geheim\n", "provider", "add", "acme", "--kind", "openai", "--url", h.url, "--model", "acme-9"); code != 0 || !strings.Contains(text, "saved provider acme") {
		t.Fatalf("add: %d\n%s", code, text)
	}
	settings := h.read("collie.json")
	if strings.Contains(settings, "geheim") || !strings.Contains(settings, `"${secret:provider_acme_main}"`) || !strings.Contains(settings, `"acme/acme-9"`) {
		t.Errorf("the settings are %s", settings)
	}
	if text, code := h.run("good-geheim2\n", "keys", "add", "acme", "--weight", "3", "--models", "acme-*"); code != 0 {
		t.Fatalf("keys add: %d\n%s", code, text)
	}
	if text, code := h.run("", "keys", "add", "acme", "--label", "main", "--secret", "env:X"); code != root.ExitFailed || !strings.Contains(text, "already_exists") {
		t.Errorf("a label twice: %d\n%s", code, text)
	}
	if text, code := h.run("", "keys", "add", "acme", "--secret", "sk-geheim"); code != root.ExitUsage || strings.Contains(text, "geheim") {
		t.Errorf("a key on the command line: %d\n%s", code, text)
	}
	if text, code := h.run("", "keys", "add", "acme", "--label", "env", "--secret", "env:ACME_KEY"); code != 0 {
		t.Fatalf("by variable: %d\n%s", code, text)
	}
	text, code := h.run("", "keys", "test", "acme", "env")
	if code != root.ExitDenied || !strings.Contains(text, "ACME_KEY is not set") {
		t.Errorf("a variable that is not set: %d\n%s", code, text)
	}
	if text, code := h.run("", "provider", "test", "acme"); code != root.ExitPartial || strings.Count(text, "works, 2 models") != 2 {
		t.Errorf("test: %d\n%s", code, text)
	}
	h.env = append(h.env, "ACME_KEY=good-3")
	if text, code := h.run("", "provider", "test"); code != 0 || strings.Count(text, "works, 2 models") != 3 {
		t.Errorf("test: %d\n%s", code, text)
	}
	for _, args := range [][]string{{"disable", "acme", "main"}, {"set", "acme", "key2", "--weight", "0"}, {"reset", "acme", "key2"}} {
		if text, code := h.run("", append([]string{"keys"}, args...)...); code != 0 {
			t.Errorf("%v: %d\n%s", args, code, text)
		}
	}
	var list struct {
		Keys []struct {
			Label, State, Secret string
			Weight               int
			OnlyModels           []string
		}
	}
	text, _ = h.run("", "keys", "list", "--json")
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if got := fmt.Sprint(list.Keys); got != "[{main disabled ${secret:provider_acme_main} 1 []} {key2 active ${secret:provider_acme_key2} 0 [acme-*]} {env active env:ACME_KEY 1 []}]" {
		t.Error(got)
	}
	if text, code := h.run("", "provider", "list", "--models"); code != 0 || !strings.Contains(text, "acme/acme-10") || !strings.Contains(text, "32768?") {
		t.Errorf("models: %d\n%s", code, text)
	}
	if text, code := h.run("", "keys", "remove", "acme", "key2"); code != 0 || strings.Contains(h.read("collie.json"), "key2") {
		t.Errorf("remove: %d\n%s", code, text)
	}
	if text, code := h.run("", "provider", "remove", "acme"); code != 0 || strings.Contains(h.read("collie.json"), "secret:provider") || strings.Contains(h.read("collie.json"), "acme-9") {
		t.Errorf("remove: %d\n%s", code, text)
	}
	if text, code := h.run("", "provider", "remove", "acme"); code != root.ExitFailed || !strings.Contains(text, "there is no such provider") {
		t.Errorf("remove again: %d\n%s", code, text)
	}
}

// A key that is replaced is forgotten once the settings no longer name it, and not before.
func TestKeysSetThatFails(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	if text, code := h.run("good-geheim\n", "provider", "add", "acme", "--kind", "openai", "--url", h.url); code != 0 {
		t.Fatalf("add: %d\n%s", code, text)
	}
	lock := filepath.Join(h.dir, "collie.json.lock")
	if err := os.RemoveAll(lock); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(lock, 0o700); err != nil { // which no process can lock, so that nothing is written
		t.Fatal(err)
	}
	if text, code := h.run("", "keys", "set", "acme", "main", "--secret", "env:ACME_KEY"); code == 0 || strings.Contains(h.read("collie.json"), "ACME_KEY") {
		t.Fatalf("without a lock: %d\n%s", code, text)
	}
	if text, code := h.run("", "keys", "test", "acme", "main"); code != 0 {
		t.Errorf("the key is gone: %d\n%s", code, text)
	}
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	if text, code := h.run("", "keys", "set", "acme", "main", "--secret", "env:ACME_KEY"); code != 0 {
		t.Errorf("by variable: %d\n%s", code, text)
	}
	if text, code := h.run("", "keys", "set", "acme", "main", "--secret", "${secret:provider_acme_main}"); code != 0 {
		t.Errorf("by its old name: %d\n%s", code, text)
	}
	if text, _ := h.run("", "keys", "test", "acme", "main"); !strings.Contains(text, "provider_acme_main is not set") {
		t.Errorf("the old key is still kept: %s", text)
	}
}

// Keys in the environment, in a .env file and of opencode become providers, and none of them stands in the settings.
func TestImport(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.env = append(h.env, "OPENAI_API_KEY=sk-geheim1")
	h.write(".local/share/opencode/auth.json", `{"google": {"type": "api", "key": "geheim2"}, "anthropic": {"type": "oauth", "access": "geheim3"}}`)
	h.write("chat.env", "# ANTHROPIC_API_KEY=no\nANTHROPIC_API_KEY=\"geheim4\" # mine\nGOOGLE_KEY=user_provided\nOPENROUTER_KEY=geheim5 # too\n")
	file := filepath.Join(h.dir, "chat.env")
	if text, code := h.run("", "provider", "import", "--env-file", file); code != root.ExitUsage || !strings.Contains(text, "openai (OPENAI_API_KEY)") {
		t.Errorf("without a person: %d\n%s", code, text)
	}
	text, code := h.run("", "provider", "import", "--env-file", file, "--yes", "--no-test")
	settings := h.read("collie.json")
	if code != 0 || strings.Contains(text+settings, "geheim") {
		t.Errorf("%d\n%s\n%s", code, text, settings)
	}
	for _, want := range []string{`"env:OPENAI_API_KEY"`, `"${secret:provider_gemini_main}"`, `"${secret:provider_anthropic_main}"`, `"${secret:provider_openrouter_main}"`} {
		if !strings.Contains(settings, want) {
			t.Errorf("%s is not in %s", want, settings)
		}
	}
}
