package api_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"collie/internal/vault/api"
	"collie/internal/vault/workspace"
)

// TestFailureOfTheStorageIsNoAnswer lets the storage fail in the middle of handlers. They see an empty workspace from then
// on. What they reply must not be the answer, which has to report the failure instead.
func TestFailureOfTheStorageIsNoAnswer(t *testing.T) {
	t.Parallel()
	w, err := workspace.Open(t.Context(), filepath.Join(t.TempDir(), "vault.db"), workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	var end context.CancelFunc
	look := func(tx *workspace.Tx, _ api.Request) api.Reply {
		end()
		if len(tx.Notebooks()) == 0 {
			return api.Fail(-1, "there are no notebooks")
		}
		return api.Done()
	}
	mux := api.New(w, nil)
	mux.Read("/api/read", look)
	mux.Write("/api/write", look)
	mux.Write("/api/ended", func(tx *workspace.Tx, req api.Request) api.Reply { api.End(tx, look(tx, req)); return api.Done() })
	for _, path := range []string{"/api/read", "/api/write", "/api/ended"} {
		ctx, cancel := context.WithCancel(t.Context())
		end = cancel
		answer := httptest.NewRecorder()
		mux.ServeHTTP(answer, httptest.NewRequestWithContext(ctx, http.MethodPost, path, strings.NewReader("{}")))
		if answer.Code != http.StatusInternalServerError || strings.Contains(answer.Body.String(), "no notebooks") {
			t.Errorf("%s: status %d, %s", path, answer.Code, answer.Body)
		}
	}
}
