//go:build !stories

package notes_test

// defaultCalls is how many random calls TestTwoWorkspaces makes: few, because the test runs often. `make stories`
// makes 2,000.
const defaultCalls = 300
