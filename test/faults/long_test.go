//go:build stories

package faults_test

// Long forms.
const (
	long       = true
	kills      = 100      // in a row
	floodBytes = 50 << 20 // to stderr, in all
)
