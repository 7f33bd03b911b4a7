//go:build !race

package notes_test

// thrifty: see the other file; without the race detector every case writes.
const thrifty = false
