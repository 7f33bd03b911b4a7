package card_test

import (
	"net/http"
	"testing"

	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/internal/vault/api"
	"collie/internal/vault/block"
	"collie/internal/vault/card"
	"collie/internal/vault/document"
	"collie/internal/vault/system"
	"collie/internal/vault/vaulttest"
)

// newContractMux returns the routes that the recordings of cards call.
func newContractMux(t testing.TB) *api.Mux {
	return vaulttest.New(t, system.Register, document.Register, block.Register, card.Register).Mux
}

func TestMeetsRecordings(t *testing.T) {
	t.Parallel()
	kerneltest.TestHandler(t, kerneltest.Contract{
		Scenarios: []string{"riff"}, Endpoints: newContractMux(t).Routes(),
		Skip: map[string]string{
			"riff#20": "the index of the vault never lags",
			"riff#22": "follows the renaming of a deck, which no tool does",
			"riff#71": "follows the removal of a deck, which no tool does",
			"riff#34": "cards that are due at one moment come in any order",
			"riff#62": "counts cards by notebook, which nobody asks for",
			"riff#70": "a block that has just been removed is still listed",
		},
	}, func(t testing.TB) http.Handler { return newContractMux(t) })
}
