package hosts_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/source/upstream/hosts"
)

// looks replaces the program's test for what looks like a token.
var looks = regexp.MustCompile(`^([a-z]+[-_])?[0-9a-f]{28,}$`).MatchString

// samples has the files of testdata/import, and the projects they are for.
var samples = map[string]hosts.Place{
	"claude-code":    {File: ".claude.json"},
	"claude-desktop": {File: "claude_desktop_config.json"},
	"cline":          {File: "cline_mcp_settings.json"},
	"codex":          {File: "config.toml"},
	"cursor":         {File: "mcp.json", Project: "/home/ann/project"},
	"gemini":         {File: "settings.json", Project: "/home/ann/project"},
	"kilo":           {File: ".kilocode/mcp.json", Project: "/home/ann/project"},
	"opencode":       {File: "opencode.json"},
	"roo":            {File: "mcp_settings.json"},
	"spring":         {File: "application.yml"},
	"vscode":         {File: "mcp.json"},
	"windsurf":       {File: "mcp_config.json"},
	"xiaozhi":        {File: "xiaozhi.config.json", Project: "/home/ann/xiaozhi"},
	"zed":            {File: "settings.json"},
}

// sample is the expected import of a server.
type sample struct {
	Name    string          `json:"name"`
	Project string          `json:"project,omitempty"`
	Entry   json.RawMessage `json:"entry,omitempty"`
	Secrets []string        `json:"secrets,omitempty"`
	Notes   []string        `json:"notes,omitempty"`
	Skip    string          `json:"skip,omitempty"`
}

// Each host has a sample of a real file; its import, with secrets moved, is compared byte for byte.
func TestImportSamples(t *testing.T) {
	t.Parallel()
	for _, h := range hosts.All() {
		t.Run(h.Name, func(t *testing.T) {
			t.Parallel()
			place, ok := samples[h.Name]
			if !ok {
				t.Fatalf("it is not in samples: name a file there that lies in testdata/import/%s; -update makes its want.json", h.Name)
			}
			dir := filepath.Join("testdata", "import", h.Name)
			place.File = filepath.Join(dir, filepath.FromSlash(place.File))
			found, err := h.Read(place)
			if err != nil {
				t.Fatal(err)
			}
			var got []sample
			for _, f := range found {
				s := sample{Name: f.Name, Project: f.Project, Notes: f.Notes, Skip: f.Skip}
				if f.Skip == "" {
					s.Entry = f.Entry.Hide(f.Name, looks, func(suggested, _ string) string { return suggested }).JSON()
					s.Secrets = f.Entry.Secrets(f.Name, looks)
				}
				got = append(got, s)
			}
			wantGolden(t, filepath.Join(dir, "want.json"), got)
		})
	}
}

// TestGuideNamesEveryHost: the guide's table has a row for each host.
func TestGuideNamesEveryHost(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"import.md", "import.zh-CN.md"} {
		guide := readFile(t, filepath.Join("..", "..", "..", "..", "docs", "guide", name))
		for _, h := range hosts.All() {
			if !strings.Contains(guide, "\n| `"+h.Name+"` |") {
				t.Errorf("the table in docs/guide/%s has no row for %s", name, h.Name)
			}
		}
	}
}

// wantGolden compares v as JSON with a file, which -update rewrites.
func wantGolden(t *testing.T, file string, v any) {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(b.String(), `\\home\\ann\\`, "/home/ann/")
	if *update {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(readFile(t, file), text); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}
