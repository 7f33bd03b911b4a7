package av_test

import (
	"net/http"
	"testing"

	"collie/internal/source/siyuan/kernel/kerneltest"
)

func TestMeetsRecordings(t *testing.T) {
	t.Parallel()
	kerneltest.TestHandler(t, kerneltest.Contract{
		Scenarios: []string{"av"},
		Endpoints: newVault(t).Mux.Routes(),
		// av#106 shows a name that the database has no more, and av#167 the order of columns in the editor's forms, which the
		// kernel takes from a map; av#126, 127 and 128, of endpoints only the editor calls, have the DOM of bound blocks as
		// covers of cards. Rows that are listed by the time of their last change may have the same one here: test/vault
		// replays them with the recorded clock, and there each is held to.
		MinShape: 155, MinExact: 150,
	}, func(t testing.TB) http.Handler { return newVault(t).Mux })
}
