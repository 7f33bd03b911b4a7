//go:build !stories

package faults_test

// Short forms.
const (
	long       = false   // also what takes longer than eight seconds
	floodBytes = 5 << 20 // to stderr, in all
)
