package provider

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// The roles of messages. Results of tools have the user's role, as in most APIs.
const (
	User  = "user"
	Model = "model"
)

// Request is a client's request in a form common to all APIs, with its answer.
type Request struct {
	API    string      `json:"api,omitempty"` // empty for an unknown path
	Method string      `json:"method"`
	Path   string      `json:"path"`
	Header http.Header `json:"header,omitempty"`

	// Counts means that the request only counts tokens, Lists that it lists models.
	Counts bool `json:"counts,omitempty"`
	Lists  bool `json:"lists,omitempty"`
	Shows  bool `json:"shows,omitempty"` // it asks for the description of a model

	Model    string    `json:"model,omitempty"`
	Key      string    `json:"key,omitempty"`
	Stream   bool      `json:"stream,omitempty"`
	System   string    `json:"system,omitempty"`
	Tools    []Tool    `json:"tools,omitempty"`
	Messages []Message `json:"messages,omitempty"`

	// Turn is the index of the script's turn that answered; -1 if none did. Attempt says how many earlier
	// requests there were for that turn.
	Turn    int    `json:"turn"`
	Attempt int    `json:"attempt,omitempty"`
	Status  int    `json:"status"`          // 0 if the connection was cut at once
	Fault   string `json:"fault,omitempty"` // why it was refused, if not by a [Failure]

	Body json.RawMessage `json:"body,omitempty"`
}

// Tool is a tool as shown to the model.
type Tool struct {
	Namespace   string          `json:"namespace,omitempty"` // if the API has namespaces
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"schema,omitempty"`
	Strict      bool            `json:"strict,omitempty"`
}

// Message is one message of the history.
type Message struct {
	Role    string     `json:"role"`
	Text    string     `json:"text,omitempty"`
	Calls   []PastCall `json:"calls,omitempty"`
	Results []Result   `json:"results,omitempty"`
}

// PastCall is a call in the history.
type PastCall struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args,omitempty"`
}

// Result is the result of a call. Name is known only if the API sends it.
type Result struct {
	ID    string `json:"id,omitempty"`
	Name  string `json:"name,omitempty"`
	Text  string `json:"text"`
	Error bool   `json:"error,omitempty"` // if the API can express that
}

// Names returns the names of the offered tools, with their namespaces, in order.
func (r Request) Names() []string {
	names := make([]string, len(r.Tools))
	for i, t := range r.Tools {
		names[i] = t.Namespace + t.Name
	}
	return names
}

// Offers reports whether the request offers the tool that a script calls name.
func (r Request) Offers(name string) bool {
	_, err := r.find(name)
	return err == nil
}

// Results returns all results of tools in the request's history.
func (r Request) Results() (results []Result) {
	for _, m := range r.Messages {
		results = append(results, m.Results...)
	}
	return results
}

// answered returns the number of the model's answers in the history, except those that only call wait. Some
// APIs split an answer into several messages, so adjacent ones count once.
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

// find returns the offered tool that a script calls name: the one with that name, else the only one whose
// name is a prefix followed by it. Some clients write _ instead of other characters.
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

// plain rewrites names as the strictest clients do.
var plain = strings.NewReplacer("-", "_", ".", "_")

// check returns an error if the real API would refuse the request.
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
	return r.checkResults()
}

// checkResults returns an error unless the calls of each answer have their results before the next answer.
func (r *Request) checkResults() error {
	var open []PastCall
	for i, m := range r.Messages {
		if m.Role == Model {
			if len(open) > 0 && r.Messages[i-1].Role != Model {
				return fmt.Errorf("messages[%d]: no result for the call %s of %s", i, open[0].ID, open[0].Name)
			}
			open = append(open, m.Calls...)
		}
		for _, res := range m.Results {
			at := slices.IndexFunc(open, func(c PastCall) bool {
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
