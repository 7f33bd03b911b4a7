//go:build stories

package living_test

// Long forms.
const (
	kills = 200 // of a gateway that writes
	lists = 100 // of two thousand tools
)
