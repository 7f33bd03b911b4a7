package acp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"collie/internal/mcp"
)

// This file reads what an agent of another program reports while it answers: text, tool calls, plans, usage, and
// requests for permission.

// UpdateKind says what an [Update] is about.
type UpdateKind string

// The kinds of update. Others, such as commands and modes, are ignored.
const (
	Said     UpdateKind = "agent_message_chunk" // Text
	Thought  UpdateKind = "agent_thought_chunk" // Text
	Plan     UpdateKind = "plan"                // Text, a line for each step
	Called   UpdateKind = "tool_call"           // Call, whole
	Progress UpdateKind = "tool_call_update"    // Call, with what has changed
	Used     UpdateKind = "usage_update"        // Usage, of the session so far
)

// Update is a message of the agent while it answers.
type Update struct {
	Kind UpdateKind
	Text string
	Call Call

	Usage Usage
}

// Usage is the usage of the session so far, as the agent reports it. It is not verified.
type Usage struct {
	Tokens   int64   // in the context now
	Window   int64   // length of the context in tokens; 0 if unknown
	Cost     float64 // 0 if unknown
	Currency string  // currency of Cost: USD or another code of the agent, at most 16 bytes
}

// Call is a call that the agent makes, or wants to make, with a tool of its own.
type Call struct {
	ID     string
	Title  string
	Kind   string // read, edit, delete, move, search, execute, think, fetch, switch_mode or other; empty if it did not change
	Status string // pending, in_progress, completed or failed; empty if it did not change
	Input  json.RawMessage
	Paths  []string
	Output string
}

// maxReceived is the limit for all updates of a session, in bytes.
const maxReceived = 64 << 20

// Notification implements [mcp.Handler].
func (s *Session) Notification(m mcp.Message, _ any) {
	if m.Method != "session/update" {
		return
	}
	if s.received.Add(int64(len(m.Params))) > maxReceived {
		_ = s.process.Stdout().Close() // ends the prompt
		return
	}
	if u, ok := readUpdate(gjson.GetBytes(m.Params, "update")); ok {
		s.client.Update(u)
	}
}

// Request implements [mcp.Handler]. The only request that our capabilities allow is the one for permission.
func (s *Session) Request(ctx context.Context, m mcp.Message, _ any) (json.RawMessage, error) {
	if m.Method != "session/request_permission" {
		return nil, &mcp.Error{Code: mcp.CodeMethodNotFound, Message: "Method not found: " + m.Method}
	}
	p := gjson.ParseBytes(m.Params)
	c := readCall(p.Get("toolCall"))
	options := p.Get("options")
	yes, no := optionOfKind(options, "allow_once"), optionOfKind(options, "reject_once")
	if no == "" {
		no = optionOfKind(options, "reject_always")
	}
	allowed, decided := s.client.Permit(ctx, c)
	choice := no
	if allowed { // only once: what a permanent permission would cover is up to the agent
		choice = yes
	}
	if choice == "" || !decided {
		return json.RawMessage(`{"outcome":{"outcome":"cancelled"}}`), nil
	}
	return encode(map[string]any{"outcome": map[string]string{"outcome": "selected", "optionId": choice}}), nil
}

// optionOfKind returns the id of the option of a kind, empty if there is none.
func optionOfKind(options gjson.Result, kind string) (id string) {
	options.ForEach(func(_, o gjson.Result) bool {
		if o.Get("kind").String() == kind {
			id = o.Get("optionId").String()
		}
		return id == ""
	})
	return id
}

// readUpdate parses an update. It returns false if the update is to be ignored.
func readUpdate(u gjson.Result) (Update, bool) {
	out := Update{Kind: UpdateKind(u.Get("sessionUpdate").String())}
	switch out.Kind {
	case Said, Thought:
		out.Text = contentText(u.Get("content"))
		return out, out.Text != ""
	case Plan:
		out.Text = planText(u.Get("entries"))
		return out, out.Text != ""
	case Called, Progress:
		out.Call = readCall(u)
		return out, out.Call.ID != ""
	case Used:
		out.Usage = readUsage(u)
		return out, out.Usage != Usage{}
	}
	return out, false
}

// Limits of what an agent may report. Larger figures are ignored.
const (
	maxTokens = 1 << 40
	maxCost   = 1e6
)

// readUsage parses usage.
func readUsage(u gjson.Result) (out Usage) {
	if n := u.Get("used").Int(); n > 0 && n < maxTokens {
		out.Tokens = n
	}
	if n := u.Get("size").Int(); out.Tokens > 0 && n >= out.Tokens && n < maxTokens {
		out.Window = n
	}
	amount, unit := u.Get("cost.amount").Float(), u.Get("cost.currency").String()
	if amount > 0 && amount < maxCost && unit != "" && len(unit) <= 16 {
		out.Cost, out.Currency = amount, unit
	}
	return out
}

// readTokens parses the usage in the response to a prompt. Impossible figures are ignored.
func readTokens(u gjson.Result) Tokens {
	count := func(name string) int64 {
		if n := u.Get(name).Float(); n > 0 && n < maxTokens {
			return int64(n)
		}
		return 0
	}
	return Tokens{count("inputTokens"), count("cachedReadTokens"), count("cachedWriteTokens"), count("outputTokens"), count("thoughtTokens"), count("totalTokens")}
}

// contentText returns a content block as text.
func contentText(c gjson.Result) string {
	switch c.Get("type").String() {
	case "text":
		return c.Get("text").String()
	case "resource_link":
		return "[" + c.Get("name").String() + ": " + c.Get("uri").String() + "]"
	case "resource":
		if text := c.Get("resource.text"); text.Exists() {
			return text.String()
		}
		return "[" + c.Get("resource.uri").String() + "]"
	case "image", "audio":
		return "[" + c.Get("type").String() + ", " + c.Get("mimeType").String() + "]"
	}
	return ""
}

// planText returns the steps of a plan, one a line, with a mark for their state.
func planText(entries gjson.Result) string {
	var b strings.Builder
	entries.ForEach(func(_, e gjson.Result) bool {
		mark := map[string]string{"completed": "x", "in_progress": "~"}[e.Get("status").String()]
		if mark == "" {
			mark = " "
		}
		fmt.Fprintf(&b, "[%s] %s\n", mark, e.Get("content").String())
		return true
	})
	return strings.TrimSuffix(b.String(), "\n")
}

// readCall parses a tool call or the changed fields of one.
func readCall(c gjson.Result) Call {
	out := Call{ID: c.Get("toolCallId").String(), Title: c.Get("title").String(), Kind: knownKind(c.Get("kind").String()), Status: c.Get("status").String()}
	if in := c.Get("rawInput"); in.IsObject() {
		out.Input = json.RawMessage(in.Raw)
	}
	c.Get("locations").ForEach(func(_, l gjson.Result) bool {
		out.Paths = append(out.Paths, l.Get("path").String())
		return true
	})
	var texts []string
	c.Get("content").ForEach(func(_, t gjson.Result) bool {
		switch t.Get("type").String() {
		case "content":
			texts = append(texts, contentText(t.Get("content")))
		case "diff":
			texts = append(texts, "[changed "+t.Get("path").String()+"]")
		}
		return true
	})
	out.Output = strings.Join(texts, "\n")
	if raw := c.Get("rawOutput"); out.Output == "" && raw.Exists() && raw.Type != gjson.Null {
		out.Output = raw.String()
	}
	return out
}

// knownKind returns k if the protocol defines it, otherwise other.
func knownKind(k string) string {
	switch k {
	case "", "read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode":
		return k
	}
	return "other"
}
