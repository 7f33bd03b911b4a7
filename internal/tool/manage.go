package tool

import "time"

// State is what an upstream server is doing (mcp-client-and-cache.md 1).
type State string

// The states of a server.
const (
	StateDisabled    State = "disabled"
	StateConfigError State = "config_error"
	StateIdle        State = "idle" // not running; starts at its first call
	StateStarting    State = "starting"
	StateReady       State = "ready"
	StateFailed      State = "failed"
	StateStopped     State = "stopped"
)

// ServerStatus says what one upstream server is doing, and why. It is what "collie mcp
// list" shows and GET /api/v1/mcp/servers answers with.
type ServerStatus struct {
	Name      string    `json:"name"`
	State     State     `json:"state"`
	Since     time.Time `json:"since"`
	Reason    string    `json:"reason,omitempty"` // a stable code
	Detail    string    `json:"detail,omitempty"` // one sentence, for people
	Transport string    `json:"transport"`        // stdio, http or sse
	Command   string    `json:"command,omitempty"`
	Era       string    `json:"era,omitempty"`
	Version   string    `json:"protocolVersion,omitempty"`
	Server    string    `json:"server,omitempty"` // name and version it gave itself
	PID       int       `json:"pid,omitempty"`
	Tools     int       `json:"tools"`
	Resources int       `json:"resources"`
	Prompts   int       `json:"prompts"`
}

// LogLine is one line that a server wrote to stderr, or to stdout without being a message.
type LogLine struct {
	Time   time.Time `json:"time"`
	Stream string    `json:"stream"`
	Text   string    `json:"text"`
}
