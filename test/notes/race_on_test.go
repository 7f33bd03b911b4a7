//go:build race

package notes_test

// thrifty spares what costs most under the race detector: workspaces of their own for further cases
// of an action, which are previewed instead, two in three cases of the matrix, and six in seven of the probes for what is
// hidden. Without the detector, as make test runs it too, all of them are made.
const thrifty = true
