//go:build race

package notes_test

// thrifty leaves out the most expensive parts under the race detector: nine in ten cases of the permission matrix,
// six in seven probes for hidden things, and separate workspaces for further cases of an action that writes, which
// are only previewed. `make test` also runs this package without the detector, and then nothing is left out.
const thrifty = true
