//go:build !stories

package toolcachetest

// The sizes of the suite in usual test runs; long.go has larger ones.
const (
	each  = 8  // commits of each of ten writers
	steps = 30 // of the comparison with a map
)
