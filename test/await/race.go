//go:build race

package await

// Race says whether the race detector is on.
const Race = true
