package kerneltest_test

import (
	"net/http"
	"testing"

	"collie/internal/source/siyuan/kernel/kerneltest"
)

// The fake has what the av tool uses; the rest of its recordings differ.
func TestFakeDatabasesMeetRecordings(t *testing.T) {
	t.Parallel()
	kerneltest.TestHandler(t, kerneltest.Contract{
		Scenarios: []string{"av"},
		Endpoints: kerneltest.Endpoints(),
		// Filters, layouts, views and what is computed of columns are left out.
		MinShape: 114,
		MinExact: 113,
	}, func(t testing.TB) http.Handler {
		t.Helper()
		k := kerneltest.New(t)
		k.Lenient()
		return k.Handler()
	})
}
