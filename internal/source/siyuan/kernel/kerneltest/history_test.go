package kerneltest_test

import (
	"net/http"
	"testing"

	"collie/internal/source/siyuan/kernel/kerneltest"
)

func TestFakeMeetsRecordingsOfHistory(t *testing.T) {
	t.Parallel()
	kerneltest.TestHandler(t, kerneltest.Contract{
		Scenarios: []string{"history_repo"}, Endpoints: kerneltest.Endpoints(),
		Skip: map[string]string{
			"history_repo#13": "lists what other scenarios kept",
			"history_repo#28": "the danger that our fake reports instead of doing it", "history_repo#29": "the same", "history_repo#30": "the same",
			"history_repo#31": "the same", "history_repo#32": "the same", "history_repo#33": "the same",
			"history_repo#38": "removed documents are not kept", "history_repo#39": "the same", "history_repo#40": "the same",
			"history_repo#41": "the same", "history_repo#42": "the same", "history_repo#44": "the same", "history_repo#45": "the same",
			"history_repo#46": "lists what other scenarios kept",
		},
		MinExact: 69, // the other rows count the files that other scenarios left
	}, func(t testing.TB) http.Handler {
		k := kerneltest.New(t)
		k.Lenient()
		return k.Handler()
	})
}
