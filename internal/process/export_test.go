package process

// What the tests of this package name and nobody else does.
type (
	Child   = child
	Gateway = gateway
)

const (
	CommandNotFound = commandNotFound
	SpawnFailed     = spawnFailed
)

var StartTime = startTime
