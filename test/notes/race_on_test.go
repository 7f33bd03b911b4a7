//go:build race

package notes_test

// thrifty spares what costs most under the race detector: worlds of their own for further cases
// of an action, which are previewed instead.
const thrifty = true
