package app_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"collie/internal/app"
	"collie/internal/chat"
	"collie/internal/config"
	"collie/internal/llm"
	"collie/internal/tool"
	"collie/test/await"
)

// startKeyEcho starts a provider of models, and returns its URL. The provider repeats the key in each place where an error can contain text.
func startKeyEcho(t *testing.T) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ") + " " + r.Header.Get("X-Tenant")
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), `"streams"`) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, `data: {"id":"1","choices":[{"index":0,"delta":{"content":"So"}}]}`+"\n\n")
			fmt.Fprintf(w, "data: {\"error\":{\"message\":\"no key is called %s\",\"code\":%q}}\n\n", key, key)
			return
		}
		said := "no key is called " + key
		if strings.Contains(string(body), `"talks"`) {
			said = strings.Repeat("-", 2040) + key // messages are cut at 2,048 bytes, which is within the key
		}
		w.WriteHeader(http.StatusBadRequest)
		if strings.Contains(string(body), `"mumbles"`) {
			fmt.Fprint(w, strings.Repeat("-", 190)+key)
			return
		}
		fmt.Fprintf(w, `{"error":{"message":%q,"code":%q}}`, said, key)
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// lockedBuffer is a buffer for concurrent writes.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// A key that was read appears nowhere: not in errors that the provider sends, not in stored conversations and calls,
// not in the log. The same holds for a key that a changed setting names.
func TestKeysAreHidden(t *testing.T) {
	t.Parallel()
	const first, second, tenant = "quodlibet-first-7731", "quodlibet-second-9942", "quodlibet-tenant-5586"
	dir := t.TempDir()
	for name, key := range map[string]string{"first": first, "second": second, "tenant": tenant} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(key+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	at := startKeyEcho(t)
	providers := func(file string) string {
		return fmt.Sprintf(`,"providers":{"echo":{"kind":"openai","baseURL":%q,"headers":{"X-Tenant":%q},"keys":[{"label":"a","secret":%q}]}}`,
			at, "file:"+filepath.Join(dir, "tenant"), "file:"+filepath.Join(dir, file))
	}
	log := &lockedBuffer{}
	cfg := loadSettings(t, providers("first"))
	a := openApp(t, cfg, app.Options{Version: "9", Logger: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	<-a.Servers.Started()
	s, err := a.Conversations(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ask := func(model string) string {
		t.Helper()
		made, err := s.Create(t.Context(), chat.NewSession{Config: chat.Config{Model: "echo/" + model}})
		if err != nil {
			t.Fatal(err)
		}
		accepted, err := s.Send(t.Context(), made.ID, chat.Draft{Parts: []llm.Part{{Kind: llm.PartText, Text: "hello"}}}, chat.TurnOptions{Person: true})
		if err != nil {
			t.Fatal(err)
		}
		var got chat.Snapshot
		await.Until(t, "the end of the turn", func() bool {
			got, err = s.Turn(t.Context(), accepted.Turn)
			return err != nil || got.Error != nil
		}, func() string { return fmt.Sprint(got) })
		raw, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	for _, key := range []string{first, second} {
		for _, model := range []string{"refuses", "streams", "talks", "mumbles"} {
			if text := ask(model); strings.Contains(text, "quodlibet") || !strings.Contains(text, "no key") && !strings.Contains(text, "---") {
				t.Errorf("%s: %s", model, text)
			}
		}
		args, _ := json.Marshal(map[string]string{"text": "it is " + key + " of " + tenant})
		if _, err := a.Pipeline.Do(t.Context(), tool.Request{Kind: tool.KindCall, Name: "s__echo", Args: args, Origin: tool.Direct}); err != nil {
			t.Fatal(err)
		}
		a.Reload(replaceInSettings(t, cfg, filepath.Join(dir, "first"), filepath.Join(dir, "second")))
	}
	if err := a.Close(t.Context()); err != nil {
		t.Error(err)
	}
	left := readAllFiles(t, cfg.Audit.Dir) + readAllFiles(t, cfg.Paths.Data) + log.String()
	if i := strings.Index(left, "quodlibet"); i >= 0 {
		t.Errorf("what is left names a key: …%.200q", left[max(0, i-100):])
	}
	if !strings.Contains(left, "it is *** of ***") {
		t.Errorf("the calls are not in %q", left)
	}
}

// Keys in the settings or in the environment are hidden before their first use.
func TestKeysOfSettingsAreHidden(t *testing.T) {
	t.Parallel()
	const secret = "quodlibet-literal-1188"
	log := &lockedBuffer{}
	cfg := loadSettings(t, `,"providers":{"p":{"kind":"openai","keys":[{"label":"a","secret":"`+secret+`"},{"label":"b","secret":"env:P_KEY"}]}}`)
	a := openApp(t, cfg, app.Options{Version: "9", Logger: slog.New(slog.NewJSONHandler(log, nil)), Env: config.EnvOf("P_KEY=quodlibet-variable-2277")})
	<-a.Servers.Started()
	args := json.RawMessage(`{"text":"` + secret + ` quodlibet-variable-2277"}`)
	if _, err := a.Pipeline.Do(t.Context(), tool.Request{Kind: tool.KindCall, Name: "s__echo", Args: args, Origin: tool.Direct}); err != nil {
		t.Fatal(err)
	}
	if err := a.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if left := readAllFiles(t, cfg.Audit.Dir) + log.String(); strings.Contains(left, "quodlibet") {
		t.Errorf("a key is in %q", left)
	}
}

// readAllFiles returns the content of all files in a folder.
func readAllFiles(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		all.Write(raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// replaceInSettings replaces old by now in the settings file and reads it again.
func replaceInSettings(t *testing.T, cfg *config.Config, old, now string) *config.Config {
	t.Helper()
	file := filepath.Join(cfg.Paths.Config, "collie.json")
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, bytes.ReplaceAll(raw, []byte(old), []byte(now)), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err = config.Load(config.Options{Home: cfg.Paths.Config, Files: []string{file}})
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}
