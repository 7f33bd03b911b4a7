package mcp

import (
	"encoding/json"
	"slices"
)

// The protocol versions. Those before 2026-07-28 are legacy: initialize opens a session. The later ones are
// modern: there is no handshake, and every request carries its own metadata.
const (
	version20241105 = "2024-11-05"
	version20250326 = "2025-03-26"
	version20250618 = "2025-06-18"
	version20251125 = "2025-11-25"
	version20260728 = "2026-07-28"
)

// legacyVersions and ModernVersions are the versions that Collie supports, newest first.
var (
	legacyVersions = []string{version20251125, version20250618, version20250326, version20241105}
	ModernVersions = []string{version20260728}
)

// Era is a family of protocol versions.
type Era int

// The eras.
const (
	Legacy Era = iota + 1
	Modern
)

// String returns "legacy" or "modern".
func (e Era) String() string {
	switch e {
	case Legacy:
		return "legacy"
	case Modern:
		return "modern"
	}
	return "unknown"
}

// IsModern reports whether version belongs to the modern era. Versions are dates, so they compare as text.
func IsModern(version string) bool { return version >= version20260728 }

// Metadata keys of MCP 2026-07-28.
const (
	MetaVersion      = "io.modelcontextprotocol/protocolVersion"
	MetaClientInfo   = "io.modelcontextprotocol/clientInfo"
	MetaCapabilities = "io.modelcontextprotocol/clientCapabilities"
	MetaLogLevel     = "io.modelcontextprotocol/logLevel"
	metaServerInfo   = "io.modelcontextprotocol/serverInfo"
	MetaSubscription = "io.modelcontextprotocol/subscriptionId"
)

// negotiate returns the version to answer a legacy client with: the wanted one if we support it, else our
// newest.
func negotiate(wanted string) string {
	if slices.Contains(legacyVersions, wanted) {
		return wanted
	}
	return legacyVersions[0]
}

// newestCommon returns the newest of our versions that is also in theirs, a JSON array.
func newestCommon(ours []string, theirs json.RawMessage) string {
	var list []string
	if json.Unmarshal(theirs, &list) != nil {
		return ""
	}
	for _, v := range ours {
		if slices.Contains(list, v) {
			return v
		}
	}
	return ""
}
