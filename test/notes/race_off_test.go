//go:build !race

package notes_test

// thrifty is false without the race detector: every case runs, and those that write do so. See race_on_test.go.
const thrifty = false
