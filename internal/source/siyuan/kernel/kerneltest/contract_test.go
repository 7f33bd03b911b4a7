package kerneltest_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"collie/internal/source/siyuan/kernel/kerneltest"
)

// test/vault compares the vault's answers with the recordings; the tests here are about what kerneltest adds.
func TestTokensMeetRecordings(t *testing.T) {
	t.Parallel()
	kerneltest.TestHandler(t, kerneltest.Contract{
		Scenarios: []string{"auth"},
		Endpoints: []string{"/api/system/version", "/api/notebook/lsNotebooks", "/api/system/currentTime"},
	}, func(t testing.TB) http.Handler {
		k := kerneltest.New(t)
		k.Lenient()
		return k.Handler()
	})
}

// TestContractSeesDifferences: a handler that answers one thing wrong loses a row, in shape or in values.
func TestContractSeesDifferences(t *testing.T) {
	t.Parallel()
	c := kerneltest.Contract{
		Scenarios: []string{"notebook"},
		Endpoints: kerneltest.Endpoints(),
		MinShape:  1, MinExact: 1,
	}
	total := func(change func(path, body string) string) (shape, exact int) {
		scores := kerneltest.TestHandler(t, c, func(t testing.TB) http.Handler {
			k := kerneltest.New(t)
			k.Lenient()
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				rec := httptest.NewRecorder()
				k.Handler().ServeHTTP(rec, r)
				w.WriteHeader(rec.Code)
				_, _ = w.Write([]byte(change(r.URL.Path, rec.Body.String())))
			})
		})
		for _, s := range scores {
			shape, exact = shape+s.Shape, exact+s.Exact
		}
		return shape, exact
	}
	rightShape, rightExact := total(func(_, body string) string { return body })
	tests := []struct {
		name, path, from, to string
		inShape              bool
	}{
		{"a key is gone", "/api/notebook/createNotebook", `"sortMode":15,`, "", true},
		{"a kind changes", "/api/notebook/lsNotebooks", `"closed":false`, `"closed":"no"`, true},
		{"a code changes", "/api/notebook/renameNotebook", `"code":-1`, `"code":1`, false},
		{"a name changes", "/api/notebook/getNotebookConf", "Work notes", "Notes", false},
		{"a text changes", "/api/notebook/openNotebook", "is required", "is needed", false},
		{"ids are swapped", "/api/notebook/getNotebookConf", `"box":"2`, `"box":"1`, false},
	}
	for _, tt := range tests {
		shape, exact := total(func(path, body string) string {
			if path == tt.path {
				return strings.ReplaceAll(body, tt.from, tt.to)
			}
			return body
		})
		if exact >= rightExact || tt.inShape && shape >= rightShape {
			t.Errorf("%s: %d rows match in shape and %d exactly, as many as without the mistake (%d, %d)", tt.name, shape, exact, rightShape, rightExact)
		}
	}
}
