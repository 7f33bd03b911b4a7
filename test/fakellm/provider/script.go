package provider

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// The APIs, as in [Request.API] and [When.API].
const (
	Anthropic   = "anthropic"
	Responses   = "responses"
	Completions = "completions"
	Gemini      = "gemini"
	Ollama      = "ollama"
)

// Script is everything that the model does.
type Script struct {
	// Models is the answer to a request for the list of models; "fake-1" if empty. Requests may name any
	// model.
	Models []string `json:"models,omitempty"`
	// Conversations are tried in order.
	Conversations []Conversation `json:"conversations"`
}

// Conversation is what the model does in the conversations that match When.
type Conversation struct {
	When  When   `json:"when,omitzero"`
	Turns []Turn `json:"turns"`
	// Aside answers requests outside of the conversation; "{}" if empty, which is valid as JSON and as a
	// short text.
	Aside string `json:"aside,omitempty"`
	// Wait is called as long as a turn calls a tool that the request does not offer; it uses up no turn. It
	// should be a tool of the client that takes a moment, for clients that do not wait for their servers.
	Wait *Call `json:"wait,omitempty"`
}

// When matches requests. An empty field matches all.
type When struct {
	API    string `json:"api,omitempty"`
	Model  string `json:"model,omitempty"`  // exactly
	Key    string `json:"key,omitempty"`    // exactly
	Prompt string `json:"prompt,omitempty"` // a part of a message of the user
	Path   string `json:"path,omitempty"`   // the end of the path
	// Header and Body are the values of headers, by name, and of fields of the body, by paths like messages.0.role. The
	// index -1 is the last.
	Header map[string]string `json:"header,omitempty"`
	Body   map[string]string `json:"body,omitempty"`
}

// Turn is one answer of the model: its reasoning, then its text, then its calls.
type Turn struct {
	Think string `json:"think,omitempty"`
	// Say is the text. In it, $RESULTS stands for the results of the preceding calls and, in a stream, $NOW for the
	// time at which its piece is sent, in nanoseconds since 1970.
	Say  string `json:"say,omitempty"`
	Call []Call `json:"call,omitempty"`
	// Stop is why the answer ends: empty for its natural end, [StopLength] or [StopFilter].
	Stop string `json:"stop,omitempty"`
	// Usage is estimated from the texts if nil.
	Usage *Usage `json:"usage,omitempty"`
	// Chunk is the number of characters in one piece of a stream; 0 means 16.
	Chunk int `json:"chunk,omitempty"`
	// Pace is the time between two pieces of a stream.
	Pace Duration `json:"pace,omitempty"`
	// Until holds a stream after half of its pieces until it is closed, for tests that do something in the middle of
	// an answer; nil holds nothing.
	Until <-chan struct{} `json:"-"`
	// Split is how many bytes of a stream are sent at once; 0 sends each piece at once.
	Split int `json:"split,omitempty"`
	// Raw is sent instead of an answer made from the other fields.
	Raw *Raw `json:"raw,omitempty"`
	// Fail lists the failures of the first attempts, one for each.
	Fail []Failure `json:"fail,omitempty"`
}

// Reasons for an answer to end early.
const (
	StopLength = "length"
	StopFilter = "filter"
)

// Call is a call of a tool.
type Call struct {
	// Tool is the tool's name in the request, or the part of it after a client's prefix.
	Tool string          `json:"tool"`
	Args json.RawMessage `json:"args,omitempty"` // {} where empty
	// Raw is sent instead of Args, for arguments that are not JSON.
	Raw string `json:"raw,omitempty"`
}

// Usage is the number of tokens of an answer.
type Usage struct {
	Input  int `json:"input"`
	Output int `json:"output"`
	Cached int `json:"cached,omitempty"` // of Input
}

// Failure is an attempt without a complete answer. With a Status, that status and an error are sent. Without
// one, the stream begins normally; after After pieces it has an error event, is cut, or sends nothing more
// until the client leaves.
type Failure struct {
	Status  int               `json:"status,omitempty"`
	Type    string            `json:"type,omitempty"` // the vendor's word; empty: derived from Status
	Message string            `json:"message,omitempty"`
	Header  map[string]string `json:"header,omitempty"`

	After int  `json:"after,omitempty"`
	Cut   bool `json:"cut,omitempty"`
	Hang  bool `json:"hang,omitempty"`
}

// Duration is written as Go writes it: "20ms".
type Duration time.Duration

// UnmarshalText implements [encoding.TextUnmarshaler].
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	*d = Duration(v)
	return err
}

// MarshalText implements [encoding.TextMarshaler].
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// ParseScript parses a script as JSON. An unknown field is an error.
func ParseScript(data []byte) (Script, error) {
	var s Script
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&s); err != nil {
		return Script{}, fmt.Errorf("read the script: %w", err)
	}
	return s, s.check()
}

// check returns an error if the script cannot be played.
func (s Script) check() error {
	for i, c := range s.Conversations {
		switch c.When.API {
		case "", Anthropic, Responses, Completions, Gemini, Ollama:
		default:
			return fmt.Errorf("conversations[%d].when.api: %q is none of %s, %s, %s, %s, %s", i, c.When.API, Anthropic, Responses, Completions, Gemini, Ollama)
		}
		for j, t := range c.Turns {
			if err := t.check(); err != nil {
				return fmt.Errorf("conversations[%d].turns[%d].%w", i, j, err)
			}
		}
	}
	return nil
}

func (t Turn) check() error {
	switch t.Stop {
	case "", StopLength, StopFilter:
	default:
		return fmt.Errorf("stop: %q is neither %q nor %q", t.Stop, StopLength, StopFilter)
	}
	if t.Raw != nil {
		if err := t.Raw.check(); err != nil {
			return err
		}
	}
	for i, c := range t.Call {
		if c.Tool == "" {
			return fmt.Errorf("call[%d].tool: a name is wanted", i)
		}
		if len(c.Args) > 0 && !json.Valid(c.Args) {
			return fmt.Errorf("call[%d].args: no JSON; raw takes any text", i)
		}
	}
	for i, f := range t.Fail {
		if f.Status == 0 && !f.Cut && !f.Hang && f.Message == "" {
			return fmt.Errorf("fail[%d]: a status, a message, cut or hang is wanted", i)
		}
		if f.Status != 0 && (f.Status < 400 || f.Status > 599) {
			return fmt.Errorf("fail[%d].status: %d is not an error; 400 to 599 are", i, f.Status)
		}
	}
	return nil
}

// fits reports whether the condition w holds for the request r.
func (w When) fits(r *Request) bool {
	if w.API != "" && w.API != r.API || w.Model != "" && w.Model != r.Model || w.Key != "" && w.Key != r.Key {
		return false
	}
	if !strings.HasSuffix(r.Path, w.Path) {
		return false
	}
	for name, value := range w.Header {
		if r.Header.Get(name) != value {
			return false
		}
	}
	if len(w.Body) > 0 {
		var body any
		if json.Unmarshal(r.Body, &body) != nil {
			return false
		}
		for path, want := range w.Body {
			if value, ok := textAt(body, path); !ok || value != want {
				return false
			}
		}
	}
	if w.Prompt == "" {
		return true
	}
	for _, m := range r.Messages {
		if m.Role == User && strings.Contains(m.Text, w.Prompt) {
			return true
		}
	}
	return false
}

// hasCalls reports whether any turn calls a tool.
func (c Conversation) hasCalls() bool {
	for _, t := range c.Turns {
		if len(t.Call) > 0 {
			return true
		}
	}
	return false
}
