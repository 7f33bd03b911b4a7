package tool

import (
	"encoding/json"
	"time"
)

// State is what an upstream server is doing.
type State string

// The states of a server.
const (
	StateDisabled    State = "disabled"
	StateConfigError State = "config_error"
	StateIdle        State = "idle" // not running; starts at its first call
	StateStarting    State = "starting"
	StateReady       State = "ready"
	StateDegraded    State = "degraded"   // ready, but health checks fail
	StateBackoff     State = "backoff"    // failed, and tried again at NextRetry
	StateOpen        State = "open"       // failed often: calls are refused until NextRetry
	StateNeedsAuth   State = "needs_auth" // a person has to sign in
	StateFailed      State = "failed"     // needs a person or a change of its configuration
	StateStopping    State = "stopping"
	StateStopped     State = "stopped"
)

// Freshness says where a server's lists come from, and how good they are.
type Freshness string

// The kinds of freshness.
const (
	FreshLive  Freshness = "live"  // told by the server that runs now
	FreshHit   Freshness = "hit"   // from the cache, and recent
	FreshStale Freshness = "stale" // from the cache, and old; confirmed when the server starts
	FreshNone  Freshness = ""      // nothing is known
)

// ServerStatus says what one upstream server is doing, and why. It is what "collie mcp
// list" shows and GET /api/v1/mcp/servers answers with.
type ServerStatus struct {
	Name      string    `json:"name"`
	State     State     `json:"state"`
	Since     time.Time `json:"since"`
	Reason    string    `json:"reason,omitempty"` // a stable code
	Detail    string    `json:"detail,omitempty"` // one sentence, for people
	Hint      string    `json:"hint,omitempty"`   // what a person can do about StateNeedsAuth
	Transport string    `json:"transport"`        // stdio, http or sse
	Command   string    `json:"command,omitempty"`
	Era       string    `json:"era,omitempty"`
	Version   string    `json:"protocolVersion,omitempty"`
	Server    string    `json:"server,omitempty"` // name and version it gave itself
	PID       int       `json:"pid,omitempty"`
	Tools     int       `json:"tools"`
	Resources int       `json:"resources"`
	Prompts   int       `json:"prompts"`

	Attempt   int        `json:"attempt,omitempty"`     // failures in a row
	NextRetry *time.Time `json:"nextRetryAt,omitempty"` // when it is tried again, or may be
	Lifecycle string     `json:"lifecycle,omitempty"`
	Freshness Freshness  `json:"freshness,omitempty"` // of the lists
	// Why says why the lists are not fresh: a stable code of the cache.
	Why       string     `json:"freshnessReason,omitempty"`
	Validated *time.Time `json:"validatedAt,omitempty"` // when the server last confirmed the lists
	Memory    uint64     `json:"memory,omitempty"`      // bytes resident in the child's process group
	// Changed are the tools whose definitions differ from their pins.
	Changed     []string `json:"changedTools,omitempty"`
	AutoApprove []string `json:"autoApprove,omitempty"` // "*" is all
	Starts      uint64   `json:"starts,omitempty"`      // since the gateway started
	Restarts    uint64   `json:"restarts,omitempty"`    // of those, after a crash or a failure
	NoiseLines  uint64   `json:"noiseLines,omitempty"`
	// Dropped are answers that nobody waited for.
	Dropped uint64 `json:"droppedResponses,omitempty"`
	// StartSeconds is how long the last start took until the lists were there.
	StartSeconds float64 `json:"startSeconds,omitempty"`
}

// Unavailable reports whether a call would be refused without trying.
func (s *ServerStatus) Unavailable() bool {
	switch s.State {
	case StateDisabled, StateConfigError, StateOpen, StateNeedsAuth, StateStopped:
		return true
	case StateIdle, StateStarting, StateReady, StateDegraded, StateBackoff, StateFailed, StateStopping:
	}
	return false
}

// Step is one step of trying a server out.
type Step struct {
	Name    string   `json:"step"`
	OK      bool     `json:"ok"`
	Detail  string   `json:"detail,omitempty"`
	Reason  string   `json:"reason,omitempty"` // a stable code, where it failed
	Hint    string   `json:"hint,omitempty"`
	Said    []string `json:"said,omitempty"`  // the server's last lines, where it failed
	Notes   []string `json:"notes,omitempty"` // what is worth knowing, though nothing failed
	Seconds float64  `json:"seconds"`
}

// DefinitionChange is a tool definition that is not the one that was seen first.
type DefinitionChange struct {
	Fields []string        `json:"changed"`       // that differ
	Was    json.RawMessage `json:"was,omitempty"` // the pinned definition: the fields that pins look at
	Now    json.RawMessage `json:"now"`
	SeenAt time.Time       `json:"seenAt"`
}

// LogLine is one line that a server wrote to stderr, or to stdout without being a message.
type LogLine struct {
	Time   time.Time `json:"time"`
	Stream string    `json:"stream"`
	Text   string    `json:"text"`
}
