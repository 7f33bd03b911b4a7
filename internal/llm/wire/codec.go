package wire

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"collie/internal/llm"
)

// This file defines what a package for one API has to provide: functions that encode requests and decode answers.

// Codec describes one provider API as functions that know no network. It is immutable and safe for concurrent use.
type Codec struct {
	// Kind names the API in settings.
	Kind string
	// DefaultBaseURL is used if the settings name no base URL.
	DefaultBaseURL string
	// Version is the first part of all paths, such as /v1. It is added unless the base URL ends with it already, and
	// with VersionAtRootOnly unless the base URL has any path.
	Version           string
	VersionAtRootOnly bool
	// JSONLines means that answers are streamed as JSON lines and not as server-sent events.
	JSONLines bool
	// Authorize sets the key, which may be empty, and other headers that every request needs.
	Authorize func(h http.Header, key string)
	// Encode returns the path after Version, and the body. It fails for a draft with something the API cannot carry.
	Encode func(d *Draft) (path string, body []byte, err error)
	// Decode returns a Decoder for one answer. names are the Names of the draft.
	Decode func(names map[string]string) Decoder
	// ListPath is the path after Version that lists models; ReadList reads the response.
	ListPath string
	ReadList func(body []byte) ([]ListedModel, error)
	// SetsContext means that a request says with how long a context the server loads the model.
	SetsContext bool
	// DescribePath is the path after Version that describes the model named in the body, and ReadDescription reads the
	// response. Both are empty if the list says everything.
	DescribePath    string
	ReadDescription func(body []byte, m *ListedModel) error
	// InfoPages are tried in order on servers on this network; the first that answers is used.
	InfoPages []InfoPage
}

// InfoPage is a page of some servers that says more about their models than the list does. Path follows the base URL
// without the version; Read returns the list with what the page adds, or false if the body is not such a page.
type InfoPage struct {
	Path string
	Read func(body []byte, list []ListedModel) ([]ListedModel, bool)
}

// ListedModel is a model as its provider lists it.
type ListedModel struct {
	ID string
	// Context and Output are limits in tokens; 0 where the provider does not say.
	Context int
	Output  int
	// Loaded means that Context is the length with which the server runs the model.
	Loaded bool
	// Described means that Tools, Images and Reasoning come from the provider.
	Described                bool
	Tools, Images, Reasoning bool
}

// Decoder turns the frames of one answer into events. Its output depends on the frames alone, not on timing. It is not
// safe for concurrent use.
type Decoder interface {
	// Feed appends the events of a frame to out and does not keep the frame. An error ends the answer; it is an
	// [*llm.Error] if the provider reported it. Feed is not called after a finish event.
	Feed(f Frame, out []llm.Event) ([]llm.Event, error)
	// End is called when the stream ends cleanly. It appends the remaining events, a finish event last, or fails if the
	// answer is incomplete.
	End(out []llm.Event) ([]llm.Event, error)
}

// Endpoint says where a request goes, and with which key.
type Endpoint struct {
	Provider string // name in the settings, for errors
	BaseURL  string // empty means the codec's default
	Header   map[string]string
	Key      string
	KeyLabel string // for errors
	// Secrets are further texts that no error may show, such as values of headers.
	Secrets []string
}

// Draft is a request that package transform has adapted to one model of one provider: names, schemas and parts are in
// the form that the provider accepts. A codec only encodes it.
type Draft struct {
	Model  string
	System string
	// Messages hold no notices. The results of calls follow in the next message. Opaque is set only where it came from
	// this provider.
	Messages []llm.Message
	Tools    []llm.Tool
	// Names are our names of tools, by the names in this draft, where they differ.
	Names       map[string]string
	NoTools     bool
	MaxOutput   int
	Temperature *float64
	Effort      llm.Effort
	Stop        []string
	Session     string
	Style       Style
	// Extra are fields of the body that override those of the codec.
	Extra map[string]json.RawMessage
}

// Thinking is the way in which a model is asked to think.
type Thinking string

// The ways to ask. The zero value asks for nothing.
const (
	ThinkEffort   Thinking = "effort"   // by a word: low, medium, high
	ThinkBudget   Thinking = "budget"   // by a number of tokens
	ThinkAdaptive Thinking = "adaptive" // Anthropic: switched on, and an effort beside it
	ThinkNested   Thinking = "nested"   // OpenRouter: an effort in an object of its own
	ThinkSwitch   Thinking = "switch"   // on or off
)

// Style says how requests to a provider or model differ from the usual form.
type Style struct {
	// SystemRole is the role of the system prompt in chat completions: system, developer, or user for
	// models without one.
	SystemRole string
	// MaxOutputField is the name of the output limit in chat completions.
	MaxOutputField string
	Thinking       Thinking
	// ThinkOff is the word or number that switches thinking off; empty if leaving the field out does.
	ThinkOff string
	// KeepReasoning is the field in which chat completions send earlier reasoning back; empty for none.
	KeepReasoning string
	// Sampling is false for models that refuse a temperature.
	Sampling bool
	// CacheMarks means that the request marks what the provider should cache.
	CacheMarks bool
	// ResultImages means that tool results may hold images; otherwise these follow in a user message.
	ResultImages bool
	// RequiresMaxOutput means that a request must limit the output.
	RequiresMaxOutput bool
	// Context is the length with which a local model is loaded; 0 leaves it to the server.
	Context int
}

// address returns the URL of path at base.
func (c *Codec) address(base, path string) (*url.URL, error) {
	if base == "" {
		base = c.DefaultBaseURL
	}
	u, err := url.Parse(strings.TrimRight(base, "/"))
	if err != nil {
		return nil, err
	}
	if !strings.HasSuffix(u.Path, c.Version) && (!c.VersionAtRootOnly || u.Path == "") {
		path = c.Version + path
	}
	return u.Parse(u.Path + path)
}

// Merge encodes body, which must become a JSON object, with the fields of extra in place of its own.
func Merge(body any, extra map[string]json.RawMessage) ([]byte, error) {
	raw, err := json.Marshal(body)
	if err != nil || len(extra) == 0 {
		return raw, err
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil, err
	}
	maps.Copy(fields, extra)
	return json.Marshal(fields)
}
