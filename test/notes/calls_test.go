//go:build !stories

package notes_test

// defaultCalls is few, for a test that is run often; make stories makes all 2,000.
const defaultCalls = 300
