package process

// Unexported names that the tests of this package use.
type (
	Child   = child
	Gateway = gatewayRun
)

const (
	CommandNotFound = commandNotFound
	SpawnFailed     = spawnFailed
)

var StartTime = startTime
