package tool

import (
	"encoding/json"
	"time"
)

// This file has the types with which people manage servers: states, steps of a test, changed definitions, log lines.

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
	StateBackoff     State = "backoff"    // failed; starts again at NextRetry
	StateOpen        State = "open"       // failed often: calls are refused until NextRetry (an open circuit breaker)
	StateNeedsAuth   State = "needs_auth" // a person has to sign in
	StateFailed      State = "failed"     // needs a person or a change of its configuration
	StateStopping    State = "stopping"
	StateStopped     State = "stopped"
)

// Freshness says where a server's lists come from and how old they are.
type Freshness string

// The kinds of freshness.
const (
	FreshLive  Freshness = "live"  // from the server, which is running
	FreshHit   Freshness = "hit"   // from the cache, and recent
	FreshStale Freshness = "stale" // from the cache, and old; checked again when the server starts
	FreshNone  Freshness = ""      // nothing is known
)

// ServerStatus says what one upstream server is doing, and why. "collie mcp list" shows it and GET
// /api/v1/mcp/servers returns it.
type ServerStatus struct {
	Name      string    `json:"name"`
	State     State     `json:"state"`
	Since     time.Time `json:"since"`
	Reason    string    `json:"reason,omitempty"` // a stable code
	Detail    string    `json:"detail,omitempty"` // one sentence, for people
	Hint      string    `json:"hint,omitempty"`   // what a person can do, for StateNeedsAuth
	Transport string    `json:"transport"`        // stdio, http or sse
	Command   string    `json:"command,omitempty"`
	Era       string    `json:"era,omitempty"`
	Version   string    `json:"protocolVersion,omitempty"`
	Server    string    `json:"server,omitempty"` // the name and version that the server reports
	PID       int       `json:"pid,omitempty"`
	Tools     int       `json:"tools"`
	Resources int       `json:"resources"`
	Prompts   int       `json:"prompts"`

	Attempt   int        `json:"attempt,omitempty"`     // consecutive failures
	NextRetry *time.Time `json:"nextRetryAt,omitempty"` // when it is started again, or calls are allowed again
	Lifecycle string     `json:"lifecycle,omitempty"`
	Freshness Freshness  `json:"freshness,omitempty"` // of the lists
	// Why is a stable code that says why the lists are not fresh.
	Why       string     `json:"freshnessReason,omitempty"`
	Validated *time.Time `json:"validatedAt,omitempty"` // when the server last confirmed the lists
	Memory    uint64     `json:"memory,omitempty"`      // resident bytes of the child's process group
	// Changed names the tools whose definitions differ from their pins.
	Changed     []string `json:"changedTools,omitempty"`
	AutoApprove []string `json:"autoApprove,omitempty"` // "*" is all
	Starts      uint64   `json:"starts,omitempty"`      // since the gateway started
	Restarts    uint64   `json:"restarts,omitempty"`    // of Starts, those after a crash or a failure
	NoiseLines  uint64   `json:"noiseLines,omitempty"`
	// Dropped counts answers to no waiting request.
	Dropped uint64 `json:"droppedResponses,omitempty"`
	// StartSeconds is how long the last start took until the lists were known.
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

// Step is one step of testing a server, as "collie mcp doctor" reports it.
type Step struct {
	Name    string   `json:"step"`
	OK      bool     `json:"ok"`
	Detail  string   `json:"detail,omitempty"`
	Reason  string   `json:"reason,omitempty"` // a stable code, if it failed
	Hint    string   `json:"hint,omitempty"`
	Said    []string `json:"said,omitempty"`  // the last lines the server logged, if the step failed
	Notes   []string `json:"notes,omitempty"` // worth knowing even though nothing failed
	Seconds float64  `json:"seconds"`
}

// DefinitionChange is a tool definition that differs from its pin.
type DefinitionChange struct {
	Fields []string        `json:"changed"`       // the fields that differ
	Hash   string          `json:"hash"`          // the hash of Now, which an approval repeats
	Was    json.RawMessage `json:"was,omitempty"` // the pinned definition: only the fields that pins compare
	Now    json.RawMessage `json:"now"`
	SeenAt time.Time       `json:"seenAt"`
}

// LogLine is one line that a server wrote to stderr, or a line on stdout that is not a message.
type LogLine struct {
	Time   time.Time `json:"time"`
	Stream string    `json:"stream"`
	Text   string    `json:"text"`
}
