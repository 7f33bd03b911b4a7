package kerneltest_test

import (
	"net/http"
	"testing"

	"collie/internal/source/siyuan/kernel/kerneltest"
)

// TestAssetsAndTemplatesMeetRecordings holds the families of assets, templates and archives to what was recorded.
func TestAssetsAndTemplatesMeetRecordings(t *testing.T) {
	t.Parallel()
	kerneltest.TestHandler(t, kerneltest.Contract{
		Scenarios: []string{"assets", "templates", "export"},
		Endpoints: kerneltest.Endpoints(),
		MinShape:  1, MinExact: 1,
	}, func(t testing.TB) http.Handler {
		k := kerneltest.New(t)
		k.Lenient()
		return k.Handler()
	})
}
