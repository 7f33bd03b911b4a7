package secret

// The limits for names and values.
const (
	MaxName  = maxName
	MaxValue = maxValue
)

// ErrNoAnswer is in the chain of an error about a keyring that did not answer in time.
var ErrNoAnswer = errNoAnswer
