package notify_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"collie/internal/pipeline/gate/notify"
)

// The program that shows notifications gets foreign text only as arguments, without markup, and never as options.
func TestDesktop(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	script := "#!/bin/sh\nfor a in \"$@\"; do printf '%s\\n' \"$a\"; done > " + filepath.Join(dir, "shown") + "\n"
	if err := os.WriteFile(filepath.Join(dir, "notify-send"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	for env, want := range map[string]string{dir: "", filepath.Join(dir, "none"): "install notify-send"} {
		n := notify.New(notify.Options{Env: []string{"PATH=" + env}})
		n.Use(notify.Settings{Desktop: true})
		out := n.Try(t.Context(), notify.Note{Tool: "--icon=x <b>&", Client: "c", Answer: "here"})
		n.Close()
		if len(out) != 1 || out[0].By != "desktop" || (out[0].Err == nil) != (want == "") || want != "" && !strings.Contains(out[0].Err.Error(), want) {
			t.Errorf("%+v, want %q", out, want)
		}
	}
	got, err := os.ReadFile(filepath.Join(dir, "shown"))
	if err != nil || string(got) != "--app-name=Collie\n--\nCollie asks you\n--icon=x  b  , for c. Answer: here\n" {
		t.Errorf("%q, %v", got, err)
	}
}
