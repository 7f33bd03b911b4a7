//go:build race

package notes_test

// thrifty leaves out the most expensive parts under the race detector: separate workspaces for further cases of an
// action, which are only previewed; two in three cases of the matrix; six in seven probes for hidden things. make test
// also runs without the detector, and then everything is done.
const thrifty = true
