//go:build race

package await

// Race tells whether the race detector runs.
const Race = true
