// Package acptest is an agent for tests that speaks the Agent Client Protocol and follows a script. A test binary
// becomes the agent if its TestMain calls [Main] when [Is] returns true. [Command] returns the command that starts it.
//
// The last text of a prompt is the script, one step a line:
//
//	say TEXT, think TEXT    sends a piece of the answer, or of reasoning
//	all                     sends the whole prompt as an answer
//	call KIND TITLE         makes a tool call of its own that succeeds
//	open KIND TITLE         makes a tool call that never ends
//	permit KIND TITLE       asks for permission and sends the answer
//	plan STATUS:STEP,…      sends a plan
//	used JSON               sends usage with these members
//	tokens JSON             ends with usage of the answer with these members
//	env NAME, dir           sends a variable, or the working directory
//	mcp TOOL ARGS           calls a tool of the first MCP server and sends the result
//	hang                    waits until it is cancelled
//	deaf                    waits for ever
//	exit CODE TEXT          writes TEXT to stderr and exits
//	garbage                 writes a line that is not a message
//	flood N                 sends N bytes
//	refuse TEXT             responds with an error
//	stop REASON             sets the stop reason; the default is end_turn
package acptest

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"collie/internal/mcp"
	"collie/internal/process"
)

// arg is the first argument of a process that runs the agent; the modes follow it.
const arg = "acp-agent"

// Command returns the command that starts the agent. modes change its behavior: "stdio" does not support MCP servers
// over HTTP, "version" speaks another version, "signin" requires a sign-in, "mute" never answers, "loud" writes to
// stderr, "pictures" supports images.
func Command(modes ...string) []string { return append([]string{os.Args[0], arg}, modes...) }

// Is reports whether this process should run the agent.
func Is() bool { return len(os.Args) > 1 && os.Args[1] == arg }

// message is a JSON-RPC message.
type message struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  any             `json:"result,omitempty"`
	Error   any             `json:"error,omitempty"`
}

// server is an MCP server that the client offers.
type server struct {
	Name, URL, Command string
	Args               []string
	Headers, Env       []struct{ Name, Value string }
}

// agent is the agent with its one session, whose id is s1.
type agent struct {
	modes   map[string]bool
	out     sync.Mutex
	servers []server
	dir     string
	calls   int
	tokens  json.RawMessage
	stop    chan struct{}

	mu      sync.Mutex
	asked   int
	waiting map[string]chan json.RawMessage
}

// Main runs the agent and returns the exit code.
func Main() int {
	a := &agent{modes: map[string]bool{}, stop: make(chan struct{}, 1), waiting: map[string]chan json.RawMessage{}}
	for _, w := range os.Args[2:] {
		a.modes[w] = true
	}
	if a.modes["loud"] {
		fmt.Fprintln(os.Stderr, "starting up")
	}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 64<<20)
	for in.Scan() {
		var m message
		if err := json.Unmarshal(in.Bytes(), &m); err != nil {
			return 2
		}
		switch {
		case m.Method == "":
			a.mu.Lock()
			if c := a.waiting[string(m.ID)]; c != nil {
				raw, _ := json.Marshal(m.Result)
				c <- raw
			}
			a.mu.Unlock()
		case a.modes["mute"]:
		case m.Method == "session/cancel":
			select {
			case a.stop <- struct{}{}:
			default:
			}
		case m.Method == "session/prompt":
			go a.runPrompt(m)
		default:
			a.answerSetup(m)
		}
	}
	return 0
}

// answerSetup answers the requests that begin a session, and refuses methods that the agent does not know.
func (a *agent) answerSetup(m message) {
	switch m.Method {
	case "initialize":
		version := 1
		if a.modes["version"] {
			version = 7
		}
		a.reply(m, map[string]any{"protocolVersion": version, "agentCapabilities": map[string]any{
			"mcpCapabilities": map[string]bool{"http": !a.modes["stdio"]}, "promptCapabilities": map[string]bool{"image": a.modes["pictures"]},
		}})
	case "session/new":
		if a.modes["signin"] {
			a.write(message{ID: m.ID, Error: map[string]any{"code": -32000, "message": "Authentication required"}})
			return
		}
		var p struct {
			CWD        string
			MCPServers []server `json:"mcpServers"`
		}
		_ = json.Unmarshal(m.Params, &p)
		a.dir, a.servers = p.CWD, p.MCPServers
		a.reply(m, map[string]string{"sessionId": "s1"})
	default:
		if m.ID != nil {
			a.write(message{ID: m.ID, Error: map[string]any{"code": -32601, "message": "Method not found"}})
		}
	}
}

func (a *agent) write(m message) {
	m.JSONRPC = "2.0"
	raw, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	a.out.Lock()
	defer a.out.Unlock()
	_, _ = os.Stdout.Write(append(raw, '\n'))
}

func (a *agent) reply(to message, result any) { a.write(message{ID: to.ID, Result: result}) }

func (a *agent) sendUpdate(kind string, more map[string]any) {
	more["sessionUpdate"] = kind
	raw, _ := json.Marshal(map[string]any{"sessionId": "s1", "update": more})
	a.write(message{Method: "session/update", Params: raw})
}

func (a *agent) sendText(text string) {
	a.sendUpdate("agent_message_chunk", map[string]any{"content": map[string]string{"type": "text", "text": text}})
}

// runPrompt runs the script of a prompt and responds to it. Steps that end or delay the response are run here, all others by
// step.
func (a *agent) runPrompt(m message) {
	var p struct {
		Prompt []struct{ Type, Text, MimeType string }
	}
	_ = json.Unmarshal(m.Params, &p)
	script, all := "", ""
	for _, b := range p.Prompt {
		if b.Type == "text" {
			script = b.Text
		}
		all += "<" + b.Type + ">" + b.Text + b.MimeType
	}
	reason := "end_turn"
	for line := range strings.Lines(script) {
		verb, rest, _ := strings.Cut(strings.TrimRight(line, "\n"), " ")
		switch verb {
		case "all":
			a.sendText(all)
		case "stop":
			reason = rest
		case "refuse":
			a.write(message{ID: m.ID, Error: map[string]any{"code": -32603, "message": "Internal error", "data": map[string]string{"details": rest}}})
			return
		case "hang":
			<-a.stop
			reason = "cancelled"
		case "deaf":
			select {}
		default:
			a.runStep(verb, rest)
		}
	}
	answer := map[string]any{"stopReason": reason}
	if a.tokens != nil {
		answer["usage"] = a.tokens
	}
	a.reply(m, answer)
}

// runStep runs one step of a script. verb is its first word, rest what follows.
func (a *agent) runStep(verb, rest string) {
	kind, title, _ := strings.Cut(rest, " ")
	switch verb {
	case "say":
		a.sendText(rest)
	case "think":
		a.sendUpdate("agent_thought_chunk", map[string]any{"content": map[string]string{"type": "text", "text": rest}})
	case "plan": // STATUS:STEP, with commas between
		entries := []map[string]string{}
		for step := range strings.SplitSeq(rest, ",") {
			status, content, _ := strings.Cut(step, ":")
			entries = append(entries, map[string]string{"content": content, "priority": "medium", "status": status})
		}
		a.sendUpdate("plan", map[string]any{"entries": entries})
	case "used": // the members of the update as JSON
		figures := map[string]any{}
		_ = json.Unmarshal([]byte(rest), &figures)
		a.sendUpdate("usage_update", figures)
	case "tokens":
		a.tokens = json.RawMessage(rest)
	case "call", "open":
		id := a.beginCall(kind, title)
		a.sendUpdate("tool_call_update", map[string]any{"toolCallId": id, "status": "in_progress", "rawInput": map[string]string{"command": title}})
		if verb == "call" {
			a.sendUpdate("tool_call_update", map[string]any{"toolCallId": id, "status": "completed", "content": []any{
				map[string]any{"type": "content", "content": map[string]string{"type": "text", "text": "did " + title}},
			}})
		}
	case "permit":
		a.askPermission(kind, title)
	case "env":
		value, there := os.LookupEnv(rest)
		a.sendText(fmt.Sprintf("%s=%s,%t ", rest, value, there))
	case "dir":
		a.sendText(a.dir)
	case "mcp":
		a.sendText(a.callTool(kind, title))
	case "exit":
		fmt.Fprintln(os.Stderr, title)
		code, _ := strconv.Atoi(kind)
		os.Exit(code)
	case "garbage":
		a.out.Lock()
		fmt.Println("npm warn something")
		a.out.Unlock()
	case "flood":
		n, _ := strconv.Atoi(rest)
		a.sendText(strings.Repeat("x", n))
	}
}

// beginCall reports a new tool call as pending and returns its id.
func (a *agent) beginCall(kind, title string) string {
	a.calls++
	id := fmt.Sprint("tool-", a.calls)
	a.sendUpdate("tool_call", map[string]any{"toolCallId": id, "title": title, "kind": kind, "status": "pending"})
	return id
}

// askPermission asks the client whether it may make a tool call, waits for the answer, and sends it as text.
func (a *agent) askPermission(kind, title string) {
	id := a.beginCall(kind, title)
	raw, _ := json.Marshal(map[string]any{
		"sessionId": "s1", "toolCall": map[string]any{"toolCallId": id, "rawInput": map[string]string{"command": title}},
		"options": []map[string]string{
			{"optionId": "always", "name": "Always", "kind": "allow_always"},
			{"optionId": "yes", "name": "Yes", "kind": "allow_once"},
			{"optionId": "no", "name": "No", "kind": "reject_once"},
		},
	})
	answered := make(chan json.RawMessage, 1)
	a.mu.Lock()
	a.asked++
	ask := json.RawMessage(strconv.Quote(fmt.Sprint("ask-", a.asked)))
	a.waiting[string(ask)] = answered
	a.mu.Unlock()
	a.write(message{ID: ask, Method: "session/request_permission", Params: raw})
	var result struct {
		Outcome struct{ Outcome, OptionID string }
	}
	_ = json.Unmarshal(<-answered, &result)
	chosen := cmp.Or(result.Outcome.OptionID, result.Outcome.Outcome)
	status := "failed"
	if chosen == "yes" {
		status = "completed"
	}
	a.sendUpdate("tool_call_update", map[string]any{"toolCallId": id, "status": status})
	a.sendText("[" + chosen + "]")
}

// deafClient is an MCP client that ignores notifications and refuses all requests.
type deafClient struct{}

func (deafClient) Notification(mcp.Message, any) {}

func (deafClient) Request(context.Context, mcp.Message, any) (json.RawMessage, error) {
	return nil, &mcp.Error{Code: mcp.CodeMethodNotFound, Message: "Method not found"}
}

// callTool calls a tool of the first MCP server and returns the result as text.
func (a *agent) callTool(name, args string) string {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if len(a.servers) == 0 {
		return "no server"
	}
	s := a.servers[0]
	var link mcp.Link
	if s.URL != "" {
		header := http.Header{}
		for _, h := range s.Headers {
			header.Set(h.Name, h.Value)
		}
		link = mcp.DialHTTP(s.URL, deafClient{}, &mcp.HTTPOptions{Header: func() http.Header { return header }})
	} else {
		env := os.Environ()
		for _, e := range s.Env {
			env = append(env, e.Name+"="+e.Value)
		}
		p, err := process.Start(process.Command{Name: s.Command, Args: s.Args, Env: env}, nil)
		if err != nil {
			return err.Error()
		}
		defer func() { _ = p.Stop(ctx) }()
		link = mcp.NewConn(mcp.NewLines(p.Stdout(), p.Stdin(), 0, func() error { return p.Stdout().Close() }), deafClient{}, nil)
	}
	defer link.Close()
	c, err := mcp.Connect(ctx, link, mcp.ClientOptions{Info: json.RawMessage(`{"name":"fake","version":"1"}`)})
	if err != nil {
		return "connect: " + err.Error()
	}
	if name == "list" {
		raw, err := c.Request(ctx, "tools/list", nil)
		return fmt.Sprint(string(raw), err)
	}
	params := fmt.Sprintf(`{"name":%q,"arguments":%s}`, name, cmp.Or(args, "{}"))
	answer, err := c.Call(ctx, &mcp.Request{Method: "tools/call", Name: name, Params: c.Own(json.RawMessage(params))})
	return fmt.Sprint(string(answer.Result), string(answer.Error), err)
}
