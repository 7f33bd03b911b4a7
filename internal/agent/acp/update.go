package acp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"collie/internal/mcp"
)

// UpdateKind says what an [Update] is about.
type UpdateKind string

// The kinds. What else an agent tells (its commands, modes) is dropped.
const (
	Said     UpdateKind = "agent_message_chunk" // Text
	Thought  UpdateKind = "agent_thought_chunk" // Text
	Plan     UpdateKind = "plan"                // Text, a line for each step
	Called   UpdateKind = "tool_call"           // Call, whole
	Progress UpdateKind = "tool_call_update"    // Call, with what has changed
	Used     UpdateKind = "usage_update"        // Usage, of the session so far
)

// Update is something that an agent says while it answers.
type Update struct {
	Kind UpdateKind
	Text string
	Call Call

	Usage Usage
}

// Usage is what an agent says that its session has taken so far. Nobody checks it.
type Usage struct {
	Tokens   int64   // in its context now
	Window   int64   // tokens that its context can have; 0 if it does not say
	Cost     float64 // 0 if it does not say
	Currency string  // of Cost: USD, or what else the agent counts in, at most 16 bytes
}

// Call is what an agent does, or wants to do, with a tool of its own.
type Call struct {
	ID     string
	Title  string
	Kind   string // read, edit, delete, move, search, execute, think, fetch, switch_mode or other; empty if it did not change
	Status string // pending, in_progress, completed or failed; empty if it did not change
	Input  json.RawMessage
	Paths  []string
	Output string
}

// maxSaid bounds the bytes of all updates of an answer.
const maxSaid = 64 << 20

// Notification is that of [mcp.Handler].
func (s *Session) Notification(m mcp.Message, _ any) {
	if m.Method != "session/update" {
		return
	}
	if s.said.Add(int64(len(m.Params))) > maxSaid {
		_ = s.process.Stdout().Close() // which ends the question
		return
	}
	if u, ok := readUpdate(gjson.GetBytes(m.Params, "update")); ok {
		s.client.Update(u)
	}
}

// Request is that of [mcp.Handler]: agents ask for permission, and for nothing else that we announced.
func (s *Session) Request(ctx context.Context, m mcp.Message, _ any) (json.RawMessage, error) {
	if m.Method != "session/request_permission" {
		return nil, &mcp.Error{Code: mcp.CodeMethodNotFound, Message: "Method not found: " + m.Method}
	}
	p := gjson.ParseBytes(m.Params)
	c := readCall(p.Get("toolCall"))
	options := p.Get("options")
	yes, no := option(options, "allow_once"), option(options, "reject_once")
	if no == "" {
		no = option(options, "reject_always")
	}
	allowed, decided := s.client.Permit(ctx, c)
	choice := no
	if allowed { // never for longer than this once: what else it would cover, nobody could say
		choice = yes
	}
	if choice == "" || !decided {
		return json.RawMessage(`{"outcome":{"outcome":"cancelled"}}`), nil
	}
	return encode(map[string]any{"outcome": map[string]string{"outcome": "selected", "optionId": choice}}), nil
}

// option is the id of the option of a kind, empty if there is none.
func option(options gjson.Result, kind string) (id string) {
	options.ForEach(func(_, o gjson.Result) bool {
		if o.Get("kind").String() == kind {
			id = o.Get("optionId").String()
		}
		return id == ""
	})
	return id
}

func readUpdate(u gjson.Result) (Update, bool) {
	out := Update{Kind: UpdateKind(u.Get("sessionUpdate").String())}
	switch out.Kind {
	case Said, Thought:
		out.Text = content(u.Get("content"))
		return out, out.Text != ""
	case Plan:
		out.Text = plan(u.Get("entries"))
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

// Figures beyond these are not believed.
const (
	maxTokens = 1 << 40
	maxCost   = 1e6
)

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

// content is a content block as text.
func content(c gjson.Result) string {
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

func plan(entries gjson.Result) string {
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

// readCall reads a tool call, or what of it has changed.
func readCall(c gjson.Result) Call {
	out := Call{ID: c.Get("toolCallId").String(), Title: c.Get("title").String(), Kind: kind(c.Get("kind").String()), Status: c.Get("status").String()}
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
			texts = append(texts, content(t.Get("content")))
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

// kind is a kind that the protocol names; any other is other.
func kind(k string) string {
	switch k {
	case "", "read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode":
		return k
	}
	return "other"
}
