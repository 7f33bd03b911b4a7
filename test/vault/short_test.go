//go:build !stories

package vault

// someRounds is how often processes are killed.
const someRounds = 20
