package chat

import "time"

// Config says how turns of a session are answered. Each field is taken from the turn, else from the session, the
// settings or [Defaults]; a zero field is not set.
type Config struct {
	Agent          string   `json:"agent,omitempty"`  // a named agent; empty for none
	Engine         string   `json:"engine,omitempty"` // chat, react, direct, cli or auto
	Provider       string   `json:"provider,omitempty"`
	Model          string   `json:"model,omitempty"`
	FallbackModels []string `json:"fallbackModels,omitempty"` // MODEL or PROVIDER/MODEL, in order
	SystemPrompt   string   `json:"systemPrompt,omitempty"`
	Temperature    *float64 `json:"temperature,omitempty"`
	MaxOutput      int      `json:"maxOutputTokens,omitempty"`
	Reasoning      string   `json:"reasoning,omitempty"` // off, low, medium, high
	// Tools are patterns of exposed names that the model sees; none means all of the profile.
	Tools   []string `json:"tools,omitempty"`
	Deny    []string `json:"denyTools,omitempty"`
	Profile string   `json:"profile,omitempty"`
	// Allow are the actions, TOOL.ACTION, that a person allowed beforehand for this session.
	Allow          []string `json:"allow,omitempty"`
	MaxSteps       int      `json:"maxSteps,omitempty"`
	MaxTurnSeconds int      `json:"maxTurnSeconds,omitempty"` // running, not waiting for a person
	MaxTurnCost    int64    `json:"maxTurnCostMicros,omitempty"`
	ContextPolicy  string   `json:"contextPolicy,omitempty"`   // compact, truncate or fail
	ResultLimit    int      `json:"toolResultLimit,omitempty"` // bytes a model sees of one result
	BusyPolicy     string   `json:"busyPolicy,omitempty"`      // queue, reject or steer
	Language       string   `json:"language,omitempty"`
	// Folder is where an agent of another program works, an absolute path; empty for a folder of its own.
	Folder string `json:"folder,omitempty"`
}

// Defaults returns the values of fields that are set nowhere.
func Defaults() Config {
	return Config{
		Engine: "auto", MaxSteps: 25, MaxTurnSeconds: int((15 * time.Minute).Seconds()), ContextPolicy: "compact",
		ResultLimit: 64 << 10, BusyPolicy: "queue",
	}
}
