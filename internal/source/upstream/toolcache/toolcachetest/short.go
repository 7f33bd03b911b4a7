//go:build !stories

package toolcachetest

// Short forms.
const (
	each  = 8  // commits of each of ten writers
	steps = 30 // of the comparison with a map
)
