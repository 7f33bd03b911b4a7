package history_test

import (
	"net/http"
	"path/filepath"
	"testing"

	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/internal/vault/api"
	"collie/internal/vault/block"
	"collie/internal/vault/document"
	"collie/internal/vault/history"
	"collie/internal/vault/system"
	"collie/internal/vault/vaulttest"
	"collie/internal/vault/workspace"
)

// newContractMux returns the routes that the recordings of the history call.
func newContractMux(t testing.TB) *api.Mux {
	t.Helper()
	ws, err := workspace.Open(t.Context(), filepath.Join(t.TempDir(), "notes.db"), workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ws.Close() })
	mux := api.New(ws, vaulttest.Log(t))
	for _, join := range []func(*api.Mux){system.Register, document.Register, block.Register, history.Register} {
		join(mux)
	}
	return mux
}

func TestMeetsRecordings(t *testing.T) {
	t.Parallel()
	kerneltest.TestHandler(t, kerneltest.Contract{
		Scenarios: []string{"history_repo"}, Endpoints: newContractMux(t).Routes(),
		Skip: map[string]string{
			"history_repo#13": "lists what other scenarios kept",
			"history_repo#32": "a document lost its file when it was brought back to what it was, which the vault does not do",
			"history_repo#90": "follows the removal of a tag, which no tool does",
			"history_repo#33": "the same", "history_repo#34": "the same",
		},
		MinExact: 61, // three lists of snapshots count the files of other scenarios, and the vault has no key
	}, func(t testing.TB) http.Handler { return newContractMux(t) })
}
