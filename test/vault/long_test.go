//go:build stories

package vault

// rounds is how often processes are killed.
const rounds = 500
