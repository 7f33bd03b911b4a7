//go:build stories

package notes_test

// defaultCalls is how many random calls TestTwoWorkspaces makes in `make stories`; see calls_test.go.
const defaultCalls = 2000
