//go:build !stories

package faults_test

// Short forms.
const (
	long       = false   // also what takes longer than eight seconds
	kills      = 15      // in a row
	floodBytes = 5 << 20 // to stderr, in all
)
