package provider

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// Whose message it is. What tools gave is the user's: that is how most APIs count it.
const (
	User  = "user"
	Model = "model"
)

// Request is what a client asked, in one form for all APIs, and how it was answered.
type Request struct {
	API    string      `json:"api,omitempty"` // empty for a path that no API has
	Method string      `json:"method"`
	Path   string      `json:"path"`
	Header http.Header `json:"header,omitempty"`

	// Counts says that only tokens were to be counted, Lists that models were to be listed.
	Counts bool `json:"counts,omitempty"`
	Lists  bool `json:"lists,omitempty"`
	Shows  bool `json:"shows,omitempty"` // a model was to be described

	Model    string    `json:"model,omitempty"`
	Key      string    `json:"key,omitempty"`
	Stream   bool      `json:"stream,omitempty"`
	System   string    `json:"system,omitempty"`
	Tools    []Tool    `json:"tools,omitempty"`
	Messages []Message `json:"messages,omitempty"`

	// Turn is the turn of the script that answered, and Attempt the how manieth request
	// for it this was, both from 0; Turn is -1 where none did.
	Turn    int    `json:"turn"`
	Attempt int    `json:"attempt,omitempty"`
	Status  int    `json:"status"`          // 0 where the connection was cut at once
	Fault   string `json:"fault,omitempty"` // why it was refused, if not by a [Failure]

	Body json.RawMessage `json:"body,omitempty"`
}

// Tool is a tool as the model is shown it.
type Tool struct {
	Namespace   string          `json:"namespace,omitempty"` // where the API has such
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"schema,omitempty"`
	Strict      bool            `json:"strict,omitempty"`
}

// Message is one message of the history.
type Message struct {
	Role    string   `json:"role"`
	Text    string   `json:"text,omitempty"`
	Calls   []Made   `json:"calls,omitempty"`
	Results []Result `json:"results,omitempty"`
}

// Made is a call as it stands in the history.
type Made struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args,omitempty"`
}

// Result is what a call gave. Name is known only where the API sends it along.
type Result struct {
	ID    string `json:"id,omitempty"`
	Name  string `json:"name,omitempty"`
	Text  string `json:"text"`
	Error bool   `json:"error,omitempty"` // where the API can say so
}

// Names returns the names of the offered tools, behind their namespaces, in their order.
func (r Request) Names() []string {
	names := make([]string, len(r.Tools))
	for i, t := range r.Tools {
		names[i] = t.Namespace + t.Name
	}
	return names
}

// Offers says whether the request offers the tool that a script calls name.
func (r Request) Offers(name string) bool {
	_, err := r.find(name)
	return err == nil
}

// Results returns all that tools gave in the request's history.
func (r Request) Results() (results []Result) {
	for _, m := range r.Messages {
		results = append(results, m.Results...)
	}
	return results
}

// answered returns how many answers of the model the history has, but for those that only call
// wait. Some APIs keep what belongs to one answer as several messages, so neighbours count once.
func (r *Request) answered(wait string) (n int) {
	before := ""
	for _, m := range r.Messages {
		if m.Role == Model && before != Model && (wait == "" || len(m.Calls) == 0 || m.Calls[0].Name != wait) {
			n++
		}
		before = m.Role
	}
	return n
}

// find returns the offered tool that a script calls name: the one of that name, else the only
// one whose name ends with it behind a prefix. Some clients write _ for other signs.
func (r *Request) find(name string) (Tool, error) {
	var same, behind []Tool
	for _, t := range r.Tools {
		full := t.Namespace + t.Name
		if full == name {
			return t, nil
		}
		before, ok := strings.CutSuffix(plain.Replace(full), plain.Replace(name))
		switch {
		case !ok:
		case before == "":
			same = append(same, t)
		case len(before) <= len(t.Namespace) || strings.HasSuffix(before, "_"):
			behind = append(behind, t)
		}
	}
	meant := behind
	if len(same) > 0 {
		meant = same
	}
	if len(meant) == 1 {
		return meant[0], nil
	}
	return Tool{}, fmt.Errorf("the script calls %q, which %d of the %d tools offered may be: %s",
		name, len(meant), len(r.Tools), strings.Join(r.Names(), " "))
}

// plain writes names as the strictest clients do.
var plain = strings.NewReplacer("-", "_", ".", "_")

// check says what the real API would refuse.
func (r *Request) check(name *regexp.Regexp) error {
	if r.Model == "" {
		return fmt.Errorf("model: field required")
	}
	if len(r.Messages) == 0 {
		return fmt.Errorf("messages: at least one message is required")
	}
	seen := map[string]bool{}
	for i, t := range r.Tools {
		if !name.MatchString(t.Name) {
			return fmt.Errorf("tools[%d].name: %q does not match %s", i, t.Name, name)
		}
		if seen[t.Namespace+t.Name] {
			return fmt.Errorf("tools[%d].name: %q stands twice, names must be unique", i, t.Name)
		}
		seen[t.Namespace+t.Name] = true
	}
	return r.paired()
}

// paired says whether the calls of each answer have their results before the next one.
func (r *Request) paired() error {
	var open []Made
	for i, m := range r.Messages {
		if m.Role == Model {
			if len(open) > 0 && r.Messages[i-1].Role != Model {
				return fmt.Errorf("messages[%d]: no result for the call %s of %s", i, open[0].ID, open[0].Name)
			}
			open = append(open, m.Calls...)
		}
		for _, res := range m.Results {
			at := slices.IndexFunc(open, func(c Made) bool {
				return c.ID == res.ID && (res.Name == "" || res.Name == c.Name)
			})
			if at < 0 {
				return fmt.Errorf("messages[%d]: the result %s %s is of no call in the answer before", i, res.ID, res.Name)
			}
			open = slices.Delete(open, at, at+1)
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("messages: no result for the call %s of %s", open[0].ID, open[0].Name)
	}
	return nil
}
