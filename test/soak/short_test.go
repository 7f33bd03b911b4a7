//go:build !stories

package soak_test

import "time"

// Short form.
const (
	length = 30 * time.Second
	// roomy is how many times the memory of the second third the last one may have: ten seconds
	// hold one or two collections of garbage.
	roomy = 1.35
)
