package living_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"collie/internal/tool"
	"collie/test/gateway"
)

// registry is an npm registry with one package, which contains the test server fakemcp.
type registry struct {
	*httptest.Server
	packed, sum string
	downloads   atomic.Int64
}

// newRegistry serves the package, packed from the program fake.
func newRegistry(t *testing.T, fake string) *registry {
	t.Helper()
	program, err := os.ReadFile(fake)
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	zip, err := gzip.NewWriterLevel(&packed, gzip.NoCompression) // for speed
	if err != nil {
		t.Fatal(err)
	}
	files := tar.NewWriter(zip)
	add := func(name string, mode int64, data []byte) {
		if err := files.WriteHeader(&tar.Header{Name: "package/" + name, Mode: mode, Size: int64(len(data)), Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := files.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	add("package.json", 0o644, []byte(`{"name":"fakemcp","version":"1.0.0","bin":{"fakemcp":"fakemcp"}}`))
	add("fakemcp", 0o755, program)
	if err := files.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	sum := sha512.Sum512(packed.Bytes())
	r := &registry{packed: packed.String(), sum: "sha512-" + base64.StdEncoding.EncodeToString(sum[:])}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

// ServeHTTP implements [http.Handler].
func (r *registry) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	switch req.URL.Path {
	case "/fakemcp":
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{
			"name": "fakemcp", "dist-tags": map[string]string{"latest": "1.0.0"},
			"versions": map[string]any{"1.0.0": map[string]any{
				"name": "fakemcp", "version": "1.0.0", "bin": map[string]string{"fakemcp": "fakemcp"},
				"dist": map[string]string{"tarball": "http://" + req.Host + "/fakemcp.tgz", "integrity": r.sum},
			}},
		})
	case "/fakemcp.tgz":
		r.downloads.Add(1)
		_, _ = w.Write([]byte(r.packed))
	default:
		http.NotFound(w, req)
	}
}

// A server is started by npx, which first has to install its package. The log says that a download may be running. A
// second run downloads nothing.
func TestPackageRunner(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("npx"); err != nil {
		t.Skipf("npx, which comes with Node, is not here: %v", err)
	}
	h := newHome(t, nil)
	r := newRegistry(t, h.Fake)
	cache := filepath.Join(t.TempDir(), "npm")
	h.configure(t, []gateway.Server{{Name: "fake", Entry: entryJSON(t, map[string]any{
		"command": "npx", "args": []string{"-y", "fakemcp", "--offer", "echo,pid,fail,env,slow"},
		"env": map[string]string{"npm_config_registry": r.URL, "npm_config_cache": cache, "npm_config_update_notifier": "false", "HOME": h.dir},
	})}}, `"cache":{"enabled":false}`)
	var took []time.Duration
	for range 2 {
		begun := time.Now()
		out, stderr, code := h.run(t, "tools", "fake", "--json")
		took = append(took, time.Since(begun).Round(time.Millisecond))
		if code != 0 || strings.Count(out, `"usage"`) != 5 {
			t.Fatalf("tools: exit code %d: %s%s", code, out, stderr)
		}
	}
	t.Logf("with the download %v, without %v", took[0], took[1])
	if n := r.downloads.Load(); n != 1 {
		t.Errorf("the package was downloaded %d times", n)
	}
	if err := os.RemoveAll(cache); err != nil {
		t.Fatal(err)
	}
	g := h.serve(t)
	g.AwaitStderr(t, "may download")
	st := awaitState(t, g, "fake", tool.StateReady)
	wantEcho(t, dialLegacy(t, g), "fake")
	if r.downloads.Load() != 2 || st.Tools != 5 {
		t.Errorf("%d downloads, %+v", r.downloads.Load(), st)
	}
	stopGateway(t, g)
	if left := h.Running(t); len(left) > 0 {
		t.Errorf("left: %q", fmt.Sprint(left))
	}
}
