package wire

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"collie/internal/llm"
)

// Codec is the API of a kind of provider, as functions that know no network. It is not changed
// once made, and safe for concurrent use.
type Codec struct {
	// Kind names the API in settings.
	Kind string
	// Base is the address where settings name none.
	Base string
	// Version is the first part of all paths. A base that ends with it has it once; with Rooted, a base that has
	// any path needs no version.
	Version string
	Rooted  bool
	// Lines says that answers are streamed as JSON lines and not as server-sent events.
	Lines bool
	// Authorize adds the key to the headers of a request, and whatever else they must have. The key may be empty.
	Authorize func(h http.Header, key string)
	// Encode returns the path behind Version, and the body. Its error says what in the draft the API
	// cannot carry.
	Encode func(d *Draft) (path string, body []byte, err error)
	// Decode returns a Decoder for one answer to a draft with such names.
	Decode func(names map[string]string) Decoder
	// Models is the path behind Version that lists models, and List reads what it answers.
	Models string
	List   func(body []byte) ([]Listed, error)
	// Loads says that requests name the context that a model is loaded with.
	Loads bool
	// Show is the path behind Version that describes the model that the body names, and Shown reads what it answers;
	// nil where the list says all.
	Show  string
	Shown func(body []byte, m *Listed) error
}

// Listed is a model as its provider lists it.
type Listed struct {
	ID string
	// Context and Output are limits in tokens; 0 where the provider does not say.
	Context int
	Output  int
	// Described says that the provider told what the model can do.
	Described                bool
	Tools, Images, Reasoning bool
}

// Decoder turns the frames of one answer into events. What it returns depends on the frames alone, not on when
// they came. It is for one goroutine.
type Decoder interface {
	// Feed appends what a frame says to out. The frame is the caller's again afterwards. An error ends the
	// answer, an [*llm.Error] if the provider reported one. After a finish event there is nothing to feed.
	Feed(f Frame, out []llm.Event) ([]llm.Event, error)
	// End appends what is left when the stream ends cleanly, a finish event at the end; an error says that
	// the answer is not whole.
	End(out []llm.Event) ([]llm.Event, error)
}

// Endpoint is where a request goes, and with which key.
type Endpoint struct {
	Provider string // its name in settings, for errors
	BaseURL  string // the codec's where empty
	Header   map[string]string
	Key      string
	KeyLabel string // for errors
}

// Draft is a request made ready for one model of one provider by package transform: names, schemas and parts
// are as that takes them. A codec only writes it down.
type Draft struct {
	Model  string
	System string
	// Messages hold no notices; each call has its result in the message behind it; Opaque is set only
	// where it came from this provider.
	Messages []llm.Message
	Tools    []llm.Tool
	// Names are those of tools, ours by theirs, where they differ.
	Names       map[string]string
	NoTools     bool
	MaxOutput   int
	Temperature *float64
	Effort      llm.Effort
	Stop        []string
	Session     string
	Style       Style
	// Extra are fields that go into the body last, over those of the codec.
	Extra map[string]json.RawMessage
}

// Thinking says in which words a model is asked to think.
type Thinking string

// The ways to ask. The zero value asks for nothing.
const (
	ThinkEffort   Thinking = "effort"   // by a word: low, medium, high
	ThinkBudget   Thinking = "budget"   // by a number of tokens
	ThinkAdaptive Thinking = "adaptive" // Anthropic: switched on, and an effort beside it
	ThinkNested   Thinking = "nested"   // OpenRouter: an effort in an object of its own
	ThinkSwitch   Thinking = "switch"   // on or off
)

// Style is how a provider and a model want what most take otherwise.
type Style struct {
	// SystemRole is the role of the system prompt in chat completions: system, developer, or user for
	// models without one.
	SystemRole string
	// OutputField is the name of the limit of output in chat completions.
	OutputField string
	Thinking    Thinking
	// ThinkOff is the word or number that switches thinking off; empty where leaving it out does.
	ThinkOff string
	// KeepReasoning is the field in which chat completions want thoughts back; empty for none.
	KeepReasoning string
	// Sampling is false for models that refuse a temperature.
	Sampling bool
	// CacheMarks says that the request marks what the provider should keep in its cache.
	CacheMarks bool
	// ResultImages says that results of tools may hold images; else they follow in a user message.
	ResultImages bool
	// MustLimit says that a request has to limit the output.
	MustLimit bool
	// Context is the length that a local model is loaded with; 0 leaves it.
	Context int
}

// address returns where path of c is at base.
func (c *Codec) address(base, path string) (*url.URL, error) {
	if base == "" {
		base = c.Base
	}
	u, err := url.Parse(strings.TrimRight(base, "/"))
	if err != nil {
		return nil, err
	}
	if !strings.HasSuffix(u.Path, c.Version) && (!c.Rooted || u.Path == "") {
		path = c.Version + path
	}
	return u.Parse(u.Path + path)
}

// Merge returns body, an object, with the fields of extra in place of its own of the same names.
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
