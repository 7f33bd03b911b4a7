package living_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/source/upstream/toolcache"
)

// stored returns the text of the tool cache on disk, decompressed.
func stored(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if raw, err = toolcache.Plain(raw); err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// entry returns the entry of a server in the cache file. The result's Exists is false if the file or the entry is
// missing.
func entry(t *testing.T, path, server string) gjson.Result {
	t.Helper()
	raw, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return gjson.Result{}
	}
	if err == nil {
		raw, err = toolcache.Plain(raw)
	}
	if err != nil {
		t.Fatal(err)
	}
	return gjson.GetBytes(raw, "mcpServers."+gjson.Escape(server))
}

// verify fails the test unless the cache file is valid, and returns the report about it.
func verify(t *testing.T, path string) toolcache.Report {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r := toolcache.Verify(raw)
	if !r.OK() {
		t.Errorf("%s is not valid: %+v", filepath.Base(path), r.Findings)
	}
	return r
}

// tools returns the names of the tools in an entry.
func tools(e gjson.Result) (out []string) {
	for _, name := range e.Get("tools.#.name").Array() {
		out = append(out, name.Str)
	}
	return out
}

// rewrite changes the cache file behind the back of the gateway, as somebody with an editor would.
func rewrite(t *testing.T, path string, edit func(file map[string]any)) {
	t.Helper()
	var file map[string]any
	if err := json.Unmarshal([]byte(stored(t, path)), &file); err != nil {
		t.Fatal(err)
	}
	edit(file)
	raw, err := json.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	replace(t, path, raw)
}

// replace replaces a file atomically, by renaming a new one.
func replace(t *testing.T, path string, data []byte) {
	t.Helper()
	next := path + ".edited"
	err := os.WriteFile(next, data, 0o600)
	if err == nil {
		err = os.Rename(next, path)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// entryOf returns an entry in the form that rewrite uses.
func entryOf(file map[string]any, server string) map[string]any {
	return file["mcpServers"].(map[string]any)[server].(map[string]any)
}

// identity is a version of a file. Two versions with the same text still differ if the file was replaced or written
// again.
type identity struct {
	os.FileInfo
	text string
}

func identify(t *testing.T, path string) identity {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return identity{info, string(raw)}
}

// wantSame fails the test if the file was replaced or written since before.
func wantSame(t *testing.T, path string, before identity) {
	t.Helper()
	if now := identify(t, path); changed(before, now) {
		t.Errorf("%s was written: %v %v, before %v %v", filepath.Base(path), now.Mode(), now.ModTime(), before.Mode(), before.ModTime())
	}
}

func changed(before, now identity) bool {
	return !os.SameFile(before.FileInfo, now.FileInfo) || !before.ModTime().Equal(now.ModTime()) || before.Mode() != now.Mode() || before.text != now.text
}

// temporaries returns the temporary files in the folder of a file.
func temporaries(t *testing.T, path string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".*.tmp"))
	if err != nil {
		t.Fatal(err)
	}
	return list
}
