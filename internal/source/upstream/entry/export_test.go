package entry

// What the tests of this package name and nobody else does.
type (
	AutoApprove = autoApprove
	Inherit     = inherit
	Isolation   = isolation
	Override    = override
	Tools       = tools
	Trust       = trust
)

const (
	HTTP   = httpTransport
	Shared = shared
	Warn   = warn
)

var NewValue = newValue
