//go:build !stories

package living_test

// Short forms.
const (
	kills = 20 // of a gateway that writes
	lists = 10 // of two thousand tools
)
