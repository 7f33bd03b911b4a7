//go:build stories

package notes_test

const defaultCalls = 2000
