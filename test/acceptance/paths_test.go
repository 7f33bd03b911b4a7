package acceptance_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"collie/test/gateway"
)

// TestHostilePaths hands hostile paths to the four actions that touch files, from a client, from
// `collie stdio` with an allowed folder and from the command line: nothing is read, written or
// deleted. The whole list of hostile forms is in package file.
func TestHostilePaths(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	allowed := t.TempDir()
	outside := filepath.Join(t.TempDir(), "secret.txt")
	for path, text := range map[string]string{outside: "SECRET", filepath.Join(allowed, "note.sy"): "{}"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(allowed, "link.txt")
	if err := os.Symlink(outside, link); err != nil {
		t.Fatal(err)
	}
	w.File("/conf/conf.json", []byte(`{"api":{"token":"x"}}`))
	w.File("/data/assets/used-20240101120000-abcdefg.png", []byte("png"))

	var all [][2]string // action, arguments
	for _, p := range []string{outside, "/etc/hosts", allowed + "/../" + filepath.Base(filepath.Dir(outside)) + "/secret.txt", link, "../secret.txt", "note.sy", "%2e%2e/secret.txt", "．．/secret.txt", ""} {
		all = append(all, [2]string{"upload_asset", `{"localFilePath":` + quote(p) + `}`})
	}
	for _, p := range []string{
		"assets/../../conf/conf.json", "/data/assets/../storage/petal", "/conf/conf.json", "conf/conf.json", "assets/%2e%2e/%2e%2e/conf/conf.json",
		"assets/．．/x.png", `assets\..\..\conf\conf.json`, "/data/" + w.work + "/" + w.plan + ".sy", "assets/x.sy", "", "/etc/hosts", "assets/\u0000.png",
	} {
		all = append(all, [2]string{"delete_asset", `{"path":` + quote(p) + `,"force":true}`},
			[2]string{"export_resources", `{"paths":[` + quote(p) + `]}`})
	}
	for _, p := range []string{outside, "/tmp/../etc/x.zip", "../x.zip", link} {
		all = append(all, [2]string{"export_resources", `{"paths":["/data/assets/used-20240101120000-abcdefg.png"],"outputPath":` + quote(p) + `}`},
			[2]string{"extract_doc", `{"id":"` + w.plan + `","outputDir":` + quote(p) + `}`})
	}
	w.settings = w.Settings(t, nil, w.siyuanSection(w.URL(), `"localFileRoots":[`+quote(allowed)+`]`))
	wantUnharmed := func(t *testing.T) {
		t.Helper()
		w.wantNoWrites(t)
		if raw, err := os.ReadFile(outside); err != nil || string(raw) != "SECRET" {
			t.Errorf("the file outside: %q, %v", raw, err)
		}
		left, err := os.ReadDir(allowed)
		if err != nil {
			t.Fatal(err)
		}
		if len(left) != 2 {
			t.Errorf("the allowed folder holds %v", left)
		}
	}
	g := w.serve(t)
	t.Run("remote", func(t *testing.T) {
		v := openSession(t, g, modern, agrees)
		for _, h := range all {
			got := v.call(t, "file", `{"action":"`+h[0]+`",`+h[1][1:])
			if !got.failed || slices.Contains([]string{"internal_error", "outcome_unknown"}, got.kind()) {
				t.Errorf("%s %s: %s", h[0], h[1], got.text)
			}
		}
		wantUnharmed(t)
	})
	t.Run("local", func(t *testing.T) {
		_, c := w.DialStdio(t, gateway.Legacy, t.TempDir(), w.settings)
		for _, h := range all {
			if text, err := c.Tool(t.Context(), "file", `{"action":"`+h[0]+`",`+h[1][1:]); err == nil {
				t.Errorf("%s %s: %s", h[0], h[1], text)
			}
		}
		wantUnharmed(t)
	})
	t.Run("command line", func(t *testing.T) {
		for i, h := range all {
			if i%4 != 0 { // each is a process
				continue
			}
			if got := w.runCLI(t, "call", "file", h[0], "--args", h[1], "--yes"); got.code == 0 {
				t.Errorf("%s %s: %s", h[0], h[1], got.out)
			}
		}
		wantUnharmed(t)
	})
	t.Run("folder that is missing", func(t *testing.T) {
		settings := w.Settings(t, nil, w.siyuanSection(w.URL(), `"localFileRoots":[`+quote(filepath.Join(allowed, "gone"))+`]`))
		_, c := w.DialStdio(t, gateway.Legacy, t.TempDir(), settings)
		text, err := c.Tool(t.Context(), "file", `{"action":"upload_asset","localFilePath":"x.png"}`)
		if err == nil || !strings.Contains(err.Error(), "none of the folders of siyuan.localFileRoots") {
			t.Errorf("%s, %v", text, err)
		}
	})
}

// quote returns text as a JSON string.
func quote(text string) string {
	raw, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(raw)
}
