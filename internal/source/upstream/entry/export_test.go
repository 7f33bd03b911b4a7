package entry

// Types that only the tests of this package need to name.
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
	Warn   = trustWarn
)

var NewValue = newValue
