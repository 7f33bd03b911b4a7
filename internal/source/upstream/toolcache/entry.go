package toolcache

import (
	"encoding/json"
	"time"
)

// version is the format written: 1.1.0 adds optional fields to 1.0.0.
const version = "1.1.0"

// State of an [Entry]; only an active one is served.
type State string

// The states. Callers set the first; the others are the cache's own.
const (
	Empty   State = "empty" // the server confirmed that it has no tools now
	active  State = "active"
	removed State = "removed" // its server is no longer configured
	invalid State = "invalid" // its configuration changed, or it was found broken
)

// Entry is what is kept of one server. Lists hold definitions byte for byte as the
// server sent them. An Entry is not changed once it has been given to or taken from a
// [Cache].
type Entry struct {
	Tools             []json.RawMessage
	Prompts           []json.RawMessage
	Resources         []json.RawMessage
	ResourceTemplates []json.RawMessage

	ConfigHash  string // entry.ConfigHash: 64 hexadecimal digits
	Fingerprint string // of the files behind the command, entry.Fingerprint; empty if there are none
	Principal   string // digest of who was signed in; empty if nobody was
	// ServerConfig is the redacted snapshot of the configuration, entry.Snapshot.
	ServerConfig json.RawMessage

	Era             string // legacy or modern: what was spoken last
	Eras            string // legacy, modern or both: what the server speaks; empty where only one was tried
	ProtocolVersion string
	Transport       string // stdio, http or sse: what worked
	ServerInfo      json.RawMessage
	Capabilities    json.RawMessage
	Instructions    string

	TTL        time.Duration // smallest ttlMs over all pages; 0 means that none was given
	CacheScope string        // public, private or empty: the strictest over all pages

	Truncated bool      // the list was cut at a limit
	Dropped   []Dropped // what was left out of the lists, and why

	// What the cache itself keeps; ignored in [Cache.Store].
	State         State
	StateReason   string // a stable code
	StateAt       time.Time
	LastUpdated   time.Time // when the content last changed or was first stored
	ValidatedAt   time.Time // when a live server last confirmed it
	ToolsHash     string
	LastErrorCode string // of the last failed refresh; empty if the last one worked
	LastErrorAt   time.Time
	Rev           uint64 // grows with every change
	// Sealed says that this home has written the tools: nobody has edited them since.
	Sealed bool
}

// Dropped is one entry of a list that was left out.
type Dropped struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}
