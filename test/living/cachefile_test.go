package living_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/source/upstream/toolcache"
)

// readCacheText returns the text of the tool cache on disk, decompressed.
func readCacheText(t *testing.T, path string) string {
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

// cacheEntry returns the entry of a server in the cache file. The result's Exists is false if the file or the entry is
// missing.
func cacheEntry(t *testing.T, path, server string) gjson.Result {
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

// verifyCache fails the test unless the cache file is valid, and returns the report about it.
func verifyCache(t *testing.T, path string) toolcache.Report {
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

// toolNames returns the names of the tools in an entry.
func toolNames(e gjson.Result) (out []string) {
	for _, name := range e.Get("tools.#.name").Array() {
		out = append(out, name.Str)
	}
	return out
}

// editCache changes the cache file behind the back of the gateway, as somebody with an editor would.
func editCache(t *testing.T, path string, edit func(file map[string]any)) {
	t.Helper()
	var file map[string]any
	if err := json.Unmarshal([]byte(readCacheText(t, path)), &file); err != nil {
		t.Fatal(err)
	}
	edit(file)
	raw, err := json.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	replaceFile(t, path, raw)
}

// replaceFile replaces a file atomically, by renaming a new one.
func replaceFile(t *testing.T, path string, data []byte) {
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

// entryOf returns an entry in the form that editCache uses.
func entryOf(file map[string]any, server string) map[string]any {
	return file["mcpServers"].(map[string]any)[server].(map[string]any)
}

// fileVersion is a version of a file. Two versions with the same text still differ if the file was replaced or written
// again.
type fileVersion struct {
	os.FileInfo
	text string
}

// readVersion returns the version that a file has now.
func readVersion(t *testing.T, path string) fileVersion {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return fileVersion{info, string(raw)}
}

// wantUnwritten fails the test if the file was replaced or written since before.
func wantUnwritten(t *testing.T, path string, before fileVersion) {
	t.Helper()
	if now := readVersion(t, path); versionsDiffer(before, now) {
		t.Errorf("%s was written: %v %v, before %v %v", filepath.Base(path), now.Mode(), now.ModTime(), before.Mode(), before.ModTime())
	}
}

// versionsDiffer reports whether a file was replaced or written between two versions.
func versionsDiffer(before, now fileVersion) bool {
	return !os.SameFile(before.FileInfo, now.FileInfo) || !before.ModTime().Equal(now.ModTime()) || before.Mode() != now.Mode() || before.text != now.text
}

// temporaryFiles returns the temporary files in the folder of a file.
func temporaryFiles(t *testing.T, path string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".*.tmp"))
	if err != nil {
		t.Fatal(err)
	}
	return list
}
