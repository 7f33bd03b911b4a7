//go:build !stories

package living_test

// Numbers of rounds without the build tag stories; see long_test.go.
const (
	killRounds = 20 // kills of a gateway while it writes, in TestKilledWhileWriting
	listRounds = 10 // requests for a list of two thousand tools, in TestHugeList
)
