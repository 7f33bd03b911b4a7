//go:build stories

package faults_test

// Long forms.
const (
	long       = true
	floodBytes = 50 << 20 // to stderr, in all
)
