package mcp

// Unexported names that the tests of this package use.
type (
	Conn         = conn
	HTTPLink     = httpLink
	InvalidError = invalidError
)

const (
	MaxDepth        = maxDepth
	Version20250326 = version20250326
	Version20260728 = version20260728
)

var (
	Check             = checkJSON
	DecodeHeaderValue = decodeHeaderValue
	ErrNoAsking       = errNoAsking
	ErrSessionGone    = errSessionGone
	LegacyVersions    = legacyVersions
	ParseBatch        = parseBatch
)
