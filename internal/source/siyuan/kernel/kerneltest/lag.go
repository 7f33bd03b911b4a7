package kerneltest

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"collie/internal/vault"
)

// lag is the state of the vault that SQL and searches see while the index is delayed.
type lag struct {
	past *vault.Vault
}

// DelayIndex makes SQL and searches see old data until a flush or [Kernel.IndexNow], as they do on a real kernel for
// some seconds. By default they see every write at once.
func (k *Kernel) DelayIndex(on bool) {
	k.t.Helper()
	k.NeedsVault("its index lags as it likes")
	k.mu.Lock()
	k.lag = nil
	k.mu.Unlock()
	if on {
		k.catchUp()
	}
}

// IndexNow makes SQL see the current data, as a real kernel does some seconds after a write.
func (k *Kernel) IndexNow() {
	k.mu.Lock()
	lags := k.lag != nil
	k.mu.Unlock()
	if lags {
		k.catchUp()
	}
}

// catchUp copies the vault as it is now to what SQL sees.
func (k *Kernel) catchUp() {
	k.t.Helper()
	dir, err := os.MkdirTemp(k.t.TempDir(), "past-")
	if err != nil {
		k.t.Errorf("kerneltest: %v", err)
		return
	}
	file := filepath.Join(dir, "vault.db")
	w, err := k.vault.Workspace(k.t.Context())
	if err == nil {
		err = w.Backup(k.t.Context(), file)
	}
	if err != nil {
		k.t.Errorf("kerneltest: keep what the index knows: %v", err)
		return
	}
	past := vault.New(file, vault.Options{})
	k.t.Cleanup(func() { _ = past.Close() })
	k.mu.Lock()
	defer k.mu.Unlock()
	k.lag = &lag{past: past}
}

// answerLate answers requests to a delayed index, and reports whether it did.
func (k *Kernel) answerLate(w http.ResponseWriter, r *http.Request) bool {
	k.mu.Lock()
	now := k.lag
	k.mu.Unlock()
	path := r.URL.Path
	switch {
	case now == nil:
		return false
	case path == "/api/sqlite/flushTransaction":
		k.catchUp()
		return false
	case path == "/api/query/sql", path == "/api/filetree/searchDocs", strings.HasPrefix(path, "/api/search/"):
		now.past.ServeHTTP(w, r)
		return true
	}
	return false
}
