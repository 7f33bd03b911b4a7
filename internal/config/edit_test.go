package config_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/config"
)

// sampleText is a settings file with comments and a trailing comma, which edits must keep.
const sampleText = `// my servers
{
  "mcpServers": {
    "one": { "command": "x" }, // the first
    // "old": {"command": "y"},
  },
  "http": {"addr": "127.0.0.1:1"}
}
`

// readText returns the text of a file.
func readText(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A server is added and removed again, with comments, backup and mode of the file as they should be.
func TestAddAndRemoveServer(t *testing.T) {
	t.Parallel()
	file := writeSettings(t, sampleText)
	if err := os.Chmod(file, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := config.AddServers(t.Context(), file, []config.ServerEntry{{Name: "two", Raw: json.RawMessage(`{"command":"npx","args":["-y","p"]}`)}}, false); err != nil {
		t.Fatal(err)
	}
	const added = "\n    \"two\": {\n      \"command\": \"npx\",\n      \"args\": [\"-y\", \"p\"]\n    },"
	want := strings.Replace(sampleText, "// the first", "// the first"+added, 1)
	if diff := cmp.Diff(want, readText(t, file)); diff != "" {
		t.Errorf("after add (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(sampleText, readText(t, file+".bak")); diff != "" {
		t.Errorf("backup (-want +got):\n%s", diff)
	}
	if info, err := os.Stat(file); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
		t.Errorf("mode is %v, %v", info.Mode(), err)
	}
	if err := config.AddServers(t.Context(), file, []config.ServerEntry{{Name: "two", Raw: json.RawMessage(`{}`)}}, false); err == nil {
		t.Error("adding it twice: no error")
	}
	if err := config.Edit(t.Context(), file, config.Remove("two")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sampleText, readText(t, file)); diff != "" {
		t.Errorf("after remove (-want +got):\n%s", diff)
	}
	if err := config.Edit(t.Context(), file, config.Remove("two")); err == nil {
		t.Error("removing it twice: no error")
	}
}

// A server is added where a file of this shape has its servers.
func TestAddServerFindsTheShape(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ text, want string }{
		"VS Code":  {`{"servers": {}}`, "{\"servers\": {\n  \"n\": {\n    \"url\": \"u\"\n  }\n}}"},
		"pasted":   {"{\n  \"a\": {\"url\": \"v\"}\n}", "{\n  \"a\": {\"url\": \"v\"},\n  \"n\": {\n    \"url\": \"u\"\n  }\n}"},
		"settings": {"{\n  \"http\": {}\n}", "{\n  \"http\": {},\n  \"mcpServers\": {\n    \"n\": {\n      \"url\": \"u\"\n    }\n  }\n}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := writeSettings(t, tc.text)
			if err := config.AddServers(t.Context(), file, []config.ServerEntry{{Name: "n", Raw: json.RawMessage(`{"url":"u"}`)}}, false); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, readText(t, file)); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
		})
	}
}

// Nothing is written beside the members of a file that is one entry, where it would not be read.
func TestEditOfABareEntry(t *testing.T) {
	t.Parallel()
	const text = `{"command": "x", "args": ["y"]}`
	file := writeSettings(t, text)
	for what, err := range map[string]error{
		"a server":  config.AddServers(t.Context(), file, []config.ServerEntry{{Name: "n", Raw: json.RawMessage(`{"url":"u"}`)}}, false),
		"a setting": config.Edit(t.Context(), file, config.Setting("http.addr", config.Value("h:1"))),
	} {
		if err == nil || !strings.Contains(err.Error(), "one server entry without a name") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if got := readText(t, file); got != text {
		t.Errorf("the file is %s", got)
	}
}

// A missing file is created, with its folder, and only for its owner.
func TestEditMakesTheFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "new", "collie.json")
	if err := config.Edit(t.Context(), file, config.Setting("http.addr", config.Value("127.0.0.1:9"))); err != nil {
		t.Fatal(err)
	}
	if want := "{\n  \"http\": {\n    \"addr\": \"127.0.0.1:9\"\n  }\n}\n"; readText(t, file) != want {
		t.Errorf("got %q", readText(t, file))
	}
	if info, err := os.Stat(file); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode is %v, %v", info.Mode(), err)
	}
	if _, err := os.Stat(file + ".bak"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a backup of nothing: %v", err)
	}
}

// A change that brings a new error is refused, but one of several errors can be repaired.
func TestSetRefusesWhatMakesTheFileInvalid(t *testing.T) {
	t.Parallel()
	file := writeSettings(t, sampleText)
	err := config.Edit(t.Context(), file, config.Setting("http.addr", json.RawMessage(`7420`)))
	if e, ok := errors.AsType[*config.Error](err); !ok || len(e.Findings) != 1 || e.Findings[0].Pointer != "/http/addr" {
		t.Errorf("got %v", err)
	}
	if err := config.Edit(t.Context(), file, config.Setting("htpp.addr", json.RawMessage(`"h:1"`))); err == nil {
		t.Error("an unknown section: no error")
	}
	if diff := cmp.Diff(sampleText, readText(t, file)); diff != "" {
		t.Errorf("the file changed (-want +got):\n%s", diff)
	}
	// A file with other errors can still be corrected step by step.
	broken := writeSettings(t, `{"http": {"addr": 1, "noAuth": 2}}`)
	if err := config.Edit(t.Context(), broken, config.Setting("http.addr", config.Value("h:1"))); err != nil {
		t.Errorf("repair of one of two errors: %v", err)
	}
}

// Setting a value to what it is already writes neither the file nor a backup.
func TestEditWithoutChangeWritesNothing(t *testing.T) {
	t.Parallel()
	file := writeSettings(t, sampleText)
	if err := config.Edit(t.Context(), file, config.Setting("http.addr", config.Value("127.0.0.1:1"))); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file + ".bak"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something was written: %v", err)
	}
}

// A symbolic link stays, and the file that it names is changed.
func TestEditFollowsALink(t *testing.T) {
	t.Parallel()
	file := writeSettings(t, "{}")
	link := filepath.Join(t.TempDir(), "link.json")
	if err := os.Symlink(file, link); err != nil {
		t.Skip("no symbolic links here")
	}
	if err := config.Edit(t.Context(), link, config.Setting("http.noAuth", config.Value("true"))); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link was replaced: %v, %v", info.Mode(), err)
	}
	if !strings.Contains(readText(t, file), `"noAuth": true`) {
		t.Errorf("the file has %q", readText(t, file))
	}
	if err := os.Remove(file); err != nil { // as where its disk is not there yet
		t.Fatal(err)
	}
	if err := config.Edit(t.Context(), link, config.Setting("http.noAuth", config.Value("true"))); err != nil {
		t.Fatal(err)
	}
	if to, err := os.Readlink(link); err != nil || to != file || !strings.Contains(readText(t, file), `"noAuth": true`) {
		t.Errorf("the link leads to %q, %v", to, err)
	}
}

// Edits at the same time do not lose each other's changes.
func TestEditsDoNotMix(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "collie.json")
	var wg sync.WaitGroup
	for name := range strings.SplitSeq("abcdefgh", "") {
		wg.Go(func() {
			if err := config.AddServers(t.Context(), file, []config.ServerEntry{{Name: name, Raw: json.RawMessage(`{"command":"x"}`)}}, false); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	c, err := load(t, file)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Servers) != 8 {
		t.Errorf("%d servers are left of 8", len(c.Servers))
	}
}
