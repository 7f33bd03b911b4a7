//go:build !stories

package living_test

// Short forms.
const (
	kills = 20 // of a gateway that writes
)
