package search_test

import (
	"net/http"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/internal/vault/api"
	"collie/internal/vault/block"
	"collie/internal/vault/document"
	"collie/internal/vault/search"
	"collie/internal/vault/system"
	"collie/internal/vault/vaulttest"
	"collie/internal/vault/workspace"
	"collie/test/await"
)

// joins register the endpoints that the scenarios call.
var joins = []func(*api.Mux){system.Register, document.Register, block.Register, search.Register}

// TestMeetsRecordings replays recorded searches. Each document is created in another second of a fake clock, because hits are
// ordered by the second in which they were written.
func TestMeetsRecordings(t *testing.T) {
	t.Parallel()
	mux := api.New(nil, nil)
	for _, join := range joins {
		join(mux)
	}
	contract := kerneltest.Contract{
		Scenarios: []string{"sql", "search", "refs_tags_outline"}, Endpoints: mux.Routes(),
		Skip: map[string]string{
			"refs_tags_outline#11": "ids in no order",
			"refs_tags_outline#36": "rows without an order, one of which changed while they were recorded",
			"refs_tags_outline#56": "follows the removal of a tag, which no tool does",
			"refs_tags_outline#66": "the heading was moved by an endpoint that no tool uses",
			"search#26":            "hits of one sort have no order",
			"search#82":            "lists the assets of other scenarios",
			"search#83":            "finds an asset of another scenario",
			"sql#2":                "the tokenizer of the full text table is the kernel's own",
			"sql#13":               "the version of SQLite",
			"sql#16":               "the index lags",
			"sql#19":               "the end of a measurement whose other requests were not kept",
			"sql#23":               "lists the rows of that measurement",
			"sql#24":               "counts doubled rows",
			"sql#26":               "lists the rows of that measurement",
			"sql#27":               "lists the rows of that measurement",
			"sql#28":               "counts doubled rows",
			"sql#33":               "counts doubled rows",
			"sql#62":               "the index lags",
			"sql#66":               "the index lags",
			"sql#77":               "asked while the index was rebuilt",
		},
	}
	synctest.Test(t, func(t *testing.T) {
		await.Sleep(24 * time.Hour) // the fake clock begins in 2000 in UTC; a day later it is 2000 in every time zone
		kerneltest.TestHandler(t, contract, func(t testing.TB) http.Handler {
			w, err := workspace.Open(t.Context(), filepath.Join(t.TempDir(), "notes.db"), workspace.Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = w.Close() })
			mux := api.New(w, vaulttest.Log(t))
			for _, join := range joins {
				join(mux)
			}
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/api/filetree/createDocWithMd" {
					await.Sleep(time.Second)
				}
				mux.ServeHTTP(w, r)
			})
		})
	})
}
