package api_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"collie/internal/vault/api"
	"collie/internal/vault/workspace"
)

// openWorkspace opens the file of a vault.
func openWorkspace(t *testing.T, path string, o workspace.Options) *workspace.Workspace {
	t.Helper()
	w, err := workspace.Open(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return w
}

// postEmpty sends an empty object and returns the status and the answer.
func postEmpty(t *testing.T, h http.Handler, path string) (status int, answer string) {
	t.Helper()
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader("{}")))
	return rec.Code, rec.Body.String()
}

// addMakeRoute adds the route /make, which writes a record only if there is none yet, and answers whether it could write.
func addMakeRoute(mux *api.Mux) {
	mux.ReadFirst("/make", func(tx *workspace.Tx, _ api.Request) api.Reply {
		if tx.Record("test", "made") == nil {
			api.NeedWrite(tx)
			tx.PutRecord(workspace.Record{Kind: "test", ID: "made"})
		}
		return api.OK(tx.Writes())
	})
}

func TestReadFirstWritesOnlyWhenItMust(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "notes.db")
	mux := api.New(openWorkspace(t, path, workspace.Options{}), nil)
	addMakeRoute(mux)
	readOnly := api.New(openWorkspace(t, path, workspace.Options{ReadOnly: true}), nil)
	addMakeRoute(readOnly)
	if status, got := postEmpty(t, readOnly, "/make"); status != http.StatusInternalServerError || !strings.Contains(got, "opened for reading only") {
		t.Errorf("a write over a file that is only read: status %d, %s", status, got)
	}
	for _, want := range []string{"true", "false", "false"} {
		if status, got := postEmpty(t, mux, "/make"); status != http.StatusOK || !strings.Contains(got, `"data":`+want) {
			t.Errorf("status %d, %s; want that it writes: %s", status, got, want)
		}
	}
	if status, got := postEmpty(t, readOnly, "/make"); status != http.StatusOK || !strings.Contains(got, `"data":false`) {
		t.Errorf("a read over a file that is only read: status %d, %s", status, got)
	}
}

// TestReadFirstUndoesWhatIsRefused checks that a refused request leaves nothing behind, also when it began as a read.
func TestReadFirstUndoesWhatIsRefused(t *testing.T) {
	t.Parallel()
	w := openWorkspace(t, filepath.Join(t.TempDir(), "notes.db"), workspace.Options{})
	mux := api.New(w, nil)
	mux.ReadFirst("/refuse", func(tx *workspace.Tx, _ api.Request) api.Reply {
		api.NeedWrite(tx)
		tx.PutRecord(workspace.Record{Kind: "test", ID: "refused"})
		return api.Fail(-1, "no")
	})
	if _, got := postEmpty(t, mux, "/refuse"); !strings.Contains(got, `"code":-1,"msg":"no"`) {
		t.Errorf("answered %s", got)
	}
	err := w.View(t.Context(), func(tx *workspace.Tx) error {
		if tx.Record("test", "refused") != nil {
			t.Error("what was refused is there")
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestPanicIsAnswered checks that a request that panics is answered with an error, that it changes nothing, and that the
// next request is answered.
func TestPanicIsAnswered(t *testing.T) {
	t.Parallel()
	w := openWorkspace(t, filepath.Join(t.TempDir(), "notes.db"), workspace.Options{})
	var log strings.Builder
	mux := api.New(w, slog.New(slog.NewTextHandler(&log, nil)))
	wrong := func(tx *workspace.Tx, _ api.Request) api.Reply {
		if tx.Writes() {
			tx.PutRecord(workspace.Record{Kind: "test", ID: "made"})
		}
		panic("wrong")
	}
	mux.Read("/read", wrong)
	mux.Write("/write", wrong)
	mux.Read("/answer", func(*workspace.Tx, api.Request) api.Reply { return api.OK(func() {}) })
	mux.Read("/made", func(tx *workspace.Tx, _ api.Request) api.Reply { return api.OK(tx.Record("test", "made") != nil) })
	for _, path := range []string{"/read", "/write", "/answer"} {
		log.Reset()
		if status, got := postEmpty(t, mux, path); status != http.StatusInternalServerError || !strings.Contains(log.String(), "stack=") {
			t.Errorf("%s: status %d, %s, logged %q", path, status, got, log.String())
		}
	}
	if status, got := postEmpty(t, mux, "/made"); status != http.StatusOK || !strings.Contains(got, `"data":false`) {
		t.Errorf("status %d, %s", status, got)
	}
}

// TestReadMustNotWrite checks that a request fails when its handler wants to write although its route only reads.
func TestReadMustNotWrite(t *testing.T) {
	t.Parallel()
	mux := api.New(openWorkspace(t, filepath.Join(t.TempDir(), "notes.db"), workspace.Options{}), nil)
	mux.Read("/read", func(tx *workspace.Tx, _ api.Request) api.Reply {
		api.NeedWrite(tx)
		return api.Done()
	})
	if status, got := postEmpty(t, mux, "/read"); status != http.StatusInternalServerError {
		t.Errorf("status %d, %s", status, got)
	}
}
