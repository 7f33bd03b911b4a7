//go:build stories

package toolcachetest

// The sizes of the suite with the build tag stories; short.go has the usual ones.
const (
	each  = 20
	steps = 60
)
