package system_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/internal/vault/api"
	"collie/internal/vault/system"
	"collie/internal/vault/vaulttest"
)

func newMux(t testing.TB) *api.Mux { return vaulttest.New(t, system.Register).Mux }

// TestMeetsRecordings compares the answers of this package with those recorded from a kernel.
func TestMeetsRecordings(t *testing.T) {
	t.Parallel()
	kerneltest.TestHandler(t, kerneltest.Contract{
		Scenarios: []string{"system", "notification_ui"},
		Endpoints: newMux(t).Routes(),
		Skip:      map[string]string{"system#7": "the configuration names the kernel's machine"},
	}, func(t testing.TB) http.Handler { return newMux(t) })
}

// TestConfigurationHasTheRecordedKeys compares the keys of the configuration with those of a recorded one, and checks that
// it holds no secrets and names no machine.
func TestConfigurationHasTheRecordedKeys(t *testing.T) {
	t.Parallel()
	const path = "/api/system/getConf"
	rec := httptest.NewRecorder()
	req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader("{}"))
	newMux(t).ServeHTTP(rec, req)
	got := rec.Body.String()
	for _, word := range []string{"TEST_", "127.0.0.1", "https://", "debian"} {
		if strings.Contains(got, word) {
			t.Errorf("the answer holds %q", word)
		}
	}
	for _, row := range kerneltest.Recordings(t) {
		if row.Path == path && row.Scenario == "system" {
			if diff := cmp.Diff(keyPaths("", gjson.ParseBytes(row.RespBody)), keyPaths("", gjson.Parse(got))); diff != "" {
				t.Error(diff)
			}
			return
		}
	}
	t.Error("no recording of " + path)
}

// keyPaths returns the paths of all keys in an object, sorted. Each begins with above.
func keyPaths(above string, v gjson.Result) (paths []string) {
	if !v.IsObject() {
		return nil
	}
	v.ForEach(func(key, value gjson.Result) bool {
		path := above + "/" + key.Str
		paths = append(append(paths, path), keyPaths(path, value)...)
		return true
	})
	slices.Sort(paths)
	return paths
}
