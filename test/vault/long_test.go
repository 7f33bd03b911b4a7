//go:build stories

package vault

// someRounds is how often processes are killed; make crash does it 500 times.
const someRounds = 60
