//go:build stories

package living_test

// Numbers of rounds with the build tag stories; see short_test.go.
const (
	killRounds = 200 // kills of a gateway while it writes, in TestKilledWhileWriting
	listRounds = 100 // requests for a list of two thousand tools, in TestHugeList
)
