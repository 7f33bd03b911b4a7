package mcp

import (
	"encoding/json"
	"slices"
)

// The protocol versions. Those before 2026-07-28 are legacy: a session opened by initialize.
// From then on they are modern: no handshake, every request carries its own metadata.
const (
	Version20241105 = "2024-11-05"
	Version20250326 = "2025-03-26"
	Version20250618 = "2025-06-18"
	Version20251125 = "2025-11-25"
	Version20260728 = "2026-07-28"
)

// LegacyVersions and ModernVersions are what Collie speaks, newest first.
var (
	LegacyVersions = []string{Version20251125, Version20250618, Version20250326, Version20241105}
	ModernVersions = []string{Version20260728}
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

// IsModern reports whether version belongs to the modern era. Versions are dates and
// compare as text.
func IsModern(version string) bool { return version >= Version20260728 }

// Metadata keys of MCP 2026-07-28.
const (
	MetaVersion      = "io.modelcontextprotocol/protocolVersion"
	MetaClientInfo   = "io.modelcontextprotocol/clientInfo"
	MetaCapabilities = "io.modelcontextprotocol/clientCapabilities"
	MetaLogLevel     = "io.modelcontextprotocol/logLevel"
	MetaServerInfo   = "io.modelcontextprotocol/serverInfo"
	MetaSubscription = "io.modelcontextprotocol/subscriptionId"
)

// negotiate answers a legacy client's wish: the same version if we speak it, else our newest.
func negotiate(wanted string) string {
	if slices.Contains(LegacyVersions, wanted) {
		return wanted
	}
	return LegacyVersions[0]
}

// newestCommon returns the newest version of ours that theirs, a JSON array, has as well.
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
