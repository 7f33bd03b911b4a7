package app_test

import (
	"encoding/json"
	"strings"
	"testing"

	"collie/internal/app"
	"collie/internal/config"
	secretadmin "collie/internal/secret/admin"
	"collie/internal/tool"
)

// A changed secret behind siyuan.undoKey is taken up when values are read again, and is hidden like the first one.
func TestUndoKeyChanges(t *testing.T) {
	t.Parallel()
	const first, second = "quodlibet-undo-first-3317", "quodlibet-undo-second-8841"
	cfg := loadSettings(t, "")
	cfg.Secrets.Store = "file"
	cfg.SiYuan = config.SiYuan{Enabled: true, Raw: json.RawMessage(`{"connections":{"a":{"url":"http://127.0.0.1:1"}},"undoKey":"${secret:undo}"}`)}
	store, err := secretadmin.Open(cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Set(t.Context(), "undo", first); err != nil {
		t.Fatal(err)
	}
	a := openApp(t, cfg, app.Options{Version: "9"})
	<-a.Servers.Started()
	if err := store.Set(t.Context(), "undo", second); err != nil {
		t.Fatal(err)
	}
	a.RereadValues()
	if err := a.Notes.Missing(); err != nil {
		t.Error(err)
	}
	args, _ := json.Marshal(map[string]string{"text": first + " " + second})
	if _, err := a.Pipeline.Do(t.Context(), tool.Request{Kind: tool.KindCall, Name: "s__echo", Args: args, Origin: tool.Direct}); err != nil {
		t.Fatal(err)
	}
	if err := a.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if left := readAllFiles(t, cfg.Audit.Dir); strings.Contains(left, "quodlibet") || !strings.Contains(left, "*** ***") {
		t.Errorf("the record has a key: %.400q", left)
	}
}
