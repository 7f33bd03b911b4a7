//go:build race

package await

// Race reports whether the race detector is on.
const Race = true
