package vault_test

import (
	"bytes"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/vault"
	"collie/internal/vault/workspace"
)

// ask returns the whole answer of a vault.
func ask(t *testing.T, v *vault.Vault, endpoint, body string) gjson.Result {
	t.Helper()
	client := &http.Client{Transport: vault.Transport{Vault: v}}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://vault"+endpoint, bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return gjson.ParseBytes(data)
}

func TestWelcomeIsFound(t *testing.T) {
	t.Parallel()
	for language, query := range map[string]string{"en": "flashcard", "zh": "欢迎"} {
		v := vault.New(filepath.Join(t.TempDir(), "new", "vault.db"), vault.Options{Fill: vault.Welcome(language)})
		t.Cleanup(func() { _ = v.Close() })
		for _, q := range []string{"welcome", query} {
			got := ask(t, v, "/api/search/fullTextSearchBlock", `{"query":"`+q+`"}`)
			if got.Get("data.matchedBlockCount").Int() == 0 {
				t.Errorf("%s: %q is not found: %s", language, q, got.Raw)
			}
		}
		if list := ask(t, v, "/api/notebook/lsNotebooks", "{}"); len(list.Get("data.notebooks").Array()) != 1 {
			t.Errorf("%s: %s", language, list.Raw)
		}
	}
}

func TestWelcomeComesOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "vault.db")
	for range 2 {
		v := vault.New(path, vault.Options{Fill: vault.Welcome("en")})
		list := ask(t, v, "/api/notebook/lsNotebooks", "{}").Get("data.notebooks").Array()
		if len(list) != 1 || list[0].Get("name").String() != "Welcome" {
			t.Errorf("notebooks: %v", list)
		}
		if err := v.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFileIsMadeByTheFirstRequest(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	v := vault.New(filepath.Join(dir, "vault.db"), vault.Options{})
	if found, _ := filepath.Glob(filepath.Join(dir, "*")); len(found) > 0 {
		t.Errorf("before the first request: %q", found)
	}
	ask(t, v, "/api/system/version", "{}")
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	if found, _ := filepath.Glob(filepath.Join(dir, "*")); len(found) != 1 {
		t.Errorf("after closing: %q, want the one file", found)
	}
}

func TestForeignFileIsRefused(t *testing.T) {
	t.Parallel()
	v := vault.New(t.TempDir(), vault.Options{}) // a folder
	t.Cleanup(func() { _ = v.Close() })
	got := ask(t, v, "/api/system/version", "{}")
	if got.Get("code").Int() != -1 || !strings.Contains(got.Get("msg").String(), "the vault could not answer: open the vault") {
		t.Errorf("answered %s", got.Raw)
	}
}

// TestReadsOverAFileThatIsOnlyRead calls endpoints that write only when something is missing or changes. Sent a second time,
// these requests need no write, so they work over a file that is open for reading only.
func TestReadsOverAFileThatIsOnlyRead(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "vault.db")
	v := vault.New(path, vault.Options{})
	const database = "20240101000000-databas"
	calls := map[string]string{
		"/api/av/renderAttributeView": `{"id":"` + database + `","createIfNotExist":true}`,
		"/api/tag/getTag":             `{"sort":4}`,
	}
	for endpoint, body := range calls {
		if got := ask(t, v, endpoint, body); got.Get("code").Int() != 0 {
			t.Fatal(got.Raw)
		}
	}
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	readOnly := vault.New(path, vault.Options{Workspace: workspace.Options{ReadOnly: true}})
	t.Cleanup(func() { _ = readOnly.Close() })
	for endpoint, body := range calls {
		if got := ask(t, readOnly, endpoint, body); got.Get("code").Int() != 0 {
			t.Errorf("%s: %s", endpoint, got.Raw)
		}
	}
}
