//go:build stories

package soak_test

import "time"

// Long form.
const (
	length = 3 * time.Minute
	roomy  = growth // a minute is enough to tell
)
