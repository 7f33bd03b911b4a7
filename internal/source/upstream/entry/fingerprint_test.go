package entry_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"collie/internal/source/upstream/entry"
)

// writeExecutable writes an executable file, whose path is given in parts, and returns the whole path.
func writeExecutable(t *testing.T, content string, path ...string) string {
	t.Helper()
	name := filepath.Join(path...)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o700); err != nil {
		t.Fatal(err)
	}
	return name
}

// The fingerprint changes with the program and its script, and not with other files that the arguments name.
func TestFingerprint(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	bin := writeExecutable(t, "", dir, "bin", "node.exe") // the ending is for Windows
	script := writeExecutable(t, "1", dir, "dist", "index.js")
	notes := writeExecutable(t, "1", dir, "notes.db")
	env := []string{"PATH=" + filepath.Dir(bin)}
	fingerprint := func(args ...string) string {
		t.Helper()
		raw, err := json.Marshal(map[string]any{"command": "node.exe", "args": args})
		if err != nil {
			t.Fatal(err)
		}
		e, problems := entry.Parse("s", raw, entry.Options{Dir: dir})
		for _, p := range problems {
			t.Log(p)
		}
		return e.Fingerprint(env, entry.EnvironmentOptions{})
	}
	before := fingerprint("dist/index.js", "notes.db")
	if strings.Count(before, " ") != 1 {
		t.Errorf("fingerprint %q, want that of the program and the script", before)
	}
	if again := fingerprint("dist/index.js", "notes.db"); again != before {
		t.Errorf("nothing changed, but %q became %q", before, again)
	}
	writeExecutable(t, "longer", notes)
	if got := fingerprint("dist/index.js", "notes.db"); got != before {
		t.Error("a file that the server writes to makes its tools look old")
	}
	writeExecutable(t, "rebuilt", script)
	rebuilt := fingerprint("dist/index.js", "notes.db")
	if rebuilt == before {
		t.Error("a rebuilt script does not show")
	}
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(bin, later, later); err != nil {
		t.Fatal(err)
	}
	if fingerprint("dist/index.js", "notes.db") == rebuilt {
		t.Error("a program that was replaced does not show")
	}
	if fingerprint(script) != fingerprint("dist/index.js") {
		t.Error("the same file has two fingerprints")
	}
	if fingerprint("--directory", "dist", "index.js") != fingerprint("dist/index.js") {
		t.Error("a script in another folder is not found")
	}
	e, _ := entry.Parse("s", json.RawMessage(`{"url": "http://h/mcp"}`), entry.Options{})
	if got := e.Fingerprint(env, entry.EnvironmentOptions{}); got != "" {
		t.Errorf("a remote server has the fingerprint %q", got)
	}
}

// The fingerprint of a server that a package runner starts is the installed version of its package.
func TestFingerprintOfAPackage(t *testing.T) {
	t.Parallel()
	home, dir := t.TempDir(), t.TempDir()
	raw := json.RawMessage(`{"command": "npx", "args": ["-y", "@modelcontextprotocol/server-everything@2026.8.31"]}`)
	e, _ := entry.Parse("s", raw, entry.Options{Dir: dir})
	env := []string{"HOME=" + home, "PATH=" + writeExecutable(t, "", dir, "npx")}
	if got := e.Fingerprint(env, entry.EnvironmentOptions{}); got != "" {
		t.Errorf("nothing is installed, but the fingerprint is %q", got)
	}
	// The folder is what npm 11 made for this package.
	name := filepath.Join(home, ".npm", "_npx", "a705c79b42eea4c8", "node_modules", "@modelcontextprotocol", "server-everything", "package.json")
	writeExecutable(t, `{"version": "2026.8.31"}`, name)
	if got, want := e.Fingerprint(env, entry.EnvironmentOptions{}), "@modelcontextprotocol/server-everything@2026.8.31"; got != want {
		t.Errorf("fingerprint %q, want %q", got, want)
	}
	writeExecutable(t, `{"version": "3.0.0"}`, dir, "node_modules", "@modelcontextprotocol", "server-everything", "package.json")
	if got := e.Fingerprint(env, entry.EnvironmentOptions{}); !strings.HasSuffix(got, "@3.0.0") {
		t.Errorf("fingerprint %q, want the version in the server's own folder", got)
	}
	for _, odd := range []string{`["npx", "../x"]`, `["npx", "."]`, `["npx", "https://h/p.tgz"]`, `["npx"]`} {
		e, _ := entry.Parse("s", json.RawMessage(`{"command": `+odd+`}`), entry.Options{Dir: dir})
		if got := e.Fingerprint(env, entry.EnvironmentOptions{}); got != "" {
			t.Errorf("%s has the fingerprint %q", odd, got)
		}
	}
}
