package app_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"collie/internal/app"
	"collie/internal/config"
)

// writeSettings writes and reads the settings of a new home.
func writeSettings(t *testing.T, text string) *config.Config {
	t.Helper()
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, config.FileName), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(config.Options{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// A shared place that cannot be used is reported once, with the reason and without secrets. The gateway works
// without it.
func TestSharedPlaceThatCannotBe(t *testing.T) {
	t.Parallel()
	for shared, says := range map[string]string{
		"nats://u:geheim@host/a.b":     "other characters than letters",
		"nats://u:geheim@host?geheim1": "has a query",
	} {
		cfg := writeSettings(t, `{"secrets":{"store":"file"}}`)
		cfg.Cache.Shared = shared
		var told bytes.Buffer // the log; it is read after Close
		a, err := app.Open(t.Context(), cfg, app.Options{Logger: slog.New(slog.NewTextHandler(&told, nil))})
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
		if text := told.String(); !strings.Contains(text, says) || strings.Contains(text, "geheim") {
			t.Errorf("%s is told as %s", shared, text)
		}
	}
}
