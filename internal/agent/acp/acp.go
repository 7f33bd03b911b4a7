// Package acp is a client of the Agent Client Protocol, version 1. It starts an agent of another program, sends one
// prompt, and passes on updates and requests for permission. The wire is JSON-RPC 2.0, one message a line on stdin and
// stdout, which package mcp implements. The package does not know conversations and makes no decisions.
//
// The entry point is [Open].
package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tidwall/gjson"

	"collie/internal/mcp"
	"collie/internal/process"
	"collie/internal/tool"
)

// version is the version of the protocol.
const version = 1

// Limits on what an agent may take and send.
const (
	defaultStart = time.Minute // time to start; agents from npm load slowly
	maxMessage   = 16 << 20    // bytes of one message
	cancelGrace  = 1500 * time.Millisecond
	stopGrace    = 5 * time.Second
)

// stopLadder stops an agent. The waits are short, since an agent has saved its state when it answers.
var stopLadder = process.Ladder{CloseWait: 500 * time.Millisecond, TermWait: 500 * time.Millisecond}

// authRequired is the error code of an agent that needs a person to sign in.
const authRequired = -32000

// Options say which agent to start. Command and Client are required.
type Options struct {
	// Command is how the agent is started; its Label names it in errors, its Dir is where it works and is absolute.
	Command process.Command
	Process process.Options
	// Version is the version of this program.
	Version string
	// Client receives what the agent sends.
	Client Client
}

// Client is the peer of an agent while it answers.
type Client interface {
	// Update is called for each update, one at a time and in order, always before [Session.Prompt] returns. It must not
	// block for long.
	Update(u Update)
	// Permit reports whether the agent may make the call c once. It may be called concurrently. decided is false if the
	// turn ends before there is an answer.
	Permit(ctx context.Context, c Call) (allowed, decided bool)
}

// Server is an MCP server for the agent: over HTTP if URL is set, otherwise a command.
type Server struct {
	Name    string
	URL     string
	Headers [][2]string
	Command string
	Args    []string
	Env     [][2]string
}

// Session is a running agent with one conversation. It is safe for concurrent use. The caller must close it.
type Session struct {
	name    string
	client  Client
	process *process.Process
	link    mcp.Link
	id      string // of the session, at the agent

	// The capabilities that the agent announced.
	HTTP   bool // supports MCP servers over HTTP
	Images bool // supports images in prompts

	received atomic.Int64 // bytes of all updates
}

// Open starts an agent and initializes the connection. The error wraps a [*tool.Error] that names the agent, or is the cause of
// ctx; the process has been stopped then.
func Open(ctx context.Context, o Options) (*Session, error) {
	s := &Session{name: o.Command.Label, client: o.Client}
	o.Process.Ladder = stopLadder
	p, err := process.Start(o.Command, &o.Process)
	if err != nil {
		return nil, s.newError(tool.Unavailable, "it does not start", "look whether its command is right: "+o.Command.Name, err)
	}
	s.process = p
	s.link = mcp.NewConn(mcp.NewLines(p.Stdout(), p.Stdin(), maxMessage, func() error { return p.Stdout().Close() }), s, &mcp.ConnOptions{Logger: o.Process.Logger})
	wait := defaultStart
	ctx, cancel := context.WithTimeoutCause(ctx, wait, s.newError(tool.Timeout, "it was not ready within "+wait.String(), "start it by hand to see what it waits for", nil))
	defer cancel()
	result, err := s.call(ctx, "initialize", map[string]any{
		"protocolVersion":    version,
		"clientCapabilities": map[string]any{"fs": map[string]bool{"readTextFile": false, "writeTextFile": false}, "terminal": false},
		"clientInfo":         map[string]string{"name": "collie", "version": o.Version},
	})
	if err == nil && result.Get("protocolVersion").Int() != version {
		err = s.newError(tool.Upstream, fmt.Sprintf("it speaks version %s of the Agent Client Protocol, expected %d", cmp.Or(result.Get("protocolVersion").Raw, "none"), version),
			"use a version of it that speaks this one", nil)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	able := result.Get("agentCapabilities")
	s.HTTP, s.Images = able.Get("mcpCapabilities.http").Bool(), able.Get("promptCapabilities.image").Bool()
	return s, nil
}

// Begin creates the conversation, in the folder dir with these MCP servers. It must be called once, before
// [Session.Prompt].
func (s *Session) Begin(ctx context.Context, dir string, servers []Server) error {
	ctx, cancel := context.WithTimeoutCause(ctx, defaultStart, s.newError(tool.Timeout, "it did not begin a session within "+defaultStart.String(), "start it by hand to see what it waits for", nil))
	defer cancel()
	list := make([]map[string]any, len(servers))
	for i, m := range servers {
		if list[i] = map[string]any{"name": m.Name, "command": m.Command, "args": append([]string{}, m.Args...), "env": encodePairs(m.Env)}; m.URL != "" {
			list[i] = map[string]any{"type": "http", "name": m.Name, "url": m.URL, "headers": encodePairs(m.Headers)}
		}
	}
	made, err := s.call(ctx, "session/new", map[string]any{"cwd": dir, "mcpServers": list})
	if err != nil {
		return err
	}
	if s.id = made.Get("sessionId").String(); s.id == "" {
		return s.newError(tool.Upstream, "it began a session without an id", "", nil)
	}
	return nil
}

// encodePairs encodes names and values.
func encodePairs(all [][2]string) []map[string]string {
	out := make([]map[string]string, len(all))
	for i, p := range all {
		out[i] = map[string]string{"name": p[0], "value": p[1]}
	}
	return out
}

// Block is a part of a prompt: text or an image.
type Block struct {
	Text string
	MIME string // of Data, if it is a picture
	Data []byte
}

// Answer is how a prompt ended.
type Answer struct {
	Stop   string // the stop reason of the protocol
	Tokens Tokens
}

// Tokens are the token counts of the answer as the agent reports them, unverified. Most agents report none. The
// protocol marks this member as unstable.
type Tokens struct{ Input, CacheRead, CacheWrite, Output, Thought, Total int64 }

// Prompt sends a prompt and returns how it ended. If ctx ends, the agent is told to cancel and gets
// a moment for its last updates; the error is then the cause of ctx.
func (s *Session) Prompt(ctx context.Context, blocks []Block) (Answer, error) {
	prompt := make([]map[string]any, len(blocks))
	for i, b := range blocks {
		if prompt[i] = map[string]any{"type": "text", "text": b.Text}; b.MIME != "" {
			prompt[i] = map[string]any{"type": "image", "mimeType": b.MIME, "data": b.Data}
		}
	}
	inner, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	defer context.AfterFunc(ctx, func() {
		late := time.AfterFunc(cancelGrace, func() { cancel(context.Cause(ctx)) })
		context.AfterFunc(inner, func() { late.Stop() })
		told, done := context.WithTimeout(inner, cancelGrace)
		defer done()
		_ = s.link.Notify(told, "session/cancel", encode(map[string]string{"sessionId": s.id})) // best effort: Close stops the agent anyway
	})()
	answer, err := s.call(inner, "session/prompt", map[string]any{"sessionId": s.id, "prompt": prompt})
	switch {
	case ctx.Err() != nil:
		return Answer{}, context.Cause(ctx)
	case err != nil:
		return Answer{}, err
	}
	return Answer{answer.Get("stopReason").String(), readTokens(answer.Get("usage"))}, nil
}

// call sends a request and returns its result. It never retries, so if the agent has ended, the error says how.
func (s *Session) call(ctx context.Context, method string, params any) (gjson.Result, error) {
	answer, err := s.link.Call(ctx, &mcp.Request{Method: method, Params: encode(params), NoCancel: true})
	switch {
	case err != nil && ctx.Err() != nil:
		return gjson.Result{}, context.Cause(ctx)
	case err != nil:
		return gjson.Result{}, s.brokenLinkError(err)
	case answer.Error != nil:
		e := gjson.ParseBytes(answer.Error)
		if e.Get("code").Int() == authRequired {
			return gjson.Result{}, s.newError(tool.NeedsAuth, "it wants you to sign in", "start "+s.name+" by hand once and sign in there", agentError(e))
		}
		return gjson.Result{}, s.newError(tool.Upstream, "it refused "+method, "", agentError(e))
	}
	return gjson.ParseBytes(answer.Result), nil
}

// agentError returns an error of the agent with the details that some agents put into data.
func agentError(e gjson.Result) error {
	text := e.Get("message").String()
	for _, more := range []string{"data.details", "data.message", "data"} {
		if d := e.Get(more); d.Type == gjson.String && d.String() != text {
			text += ": " + d.String()
			break
		}
	}
	return errors.New(truncateMessage(text))
}

// brokenLinkError returns the error for a connection that broke: how the process ended and its last output.
func (s *Session) brokenLinkError(err error) error {
	if e, ok := errors.AsType[*mcp.LinkError](err); ok && e.TooLarge {
		return s.newError(tool.TooLarge, fmt.Sprintf("it sent a message of more than %d bytes", maxMessage), "", nil)
	}
	if s.received.Load() > maxReceived {
		return s.newError(tool.TooLarge, fmt.Sprintf("it sent more than %d bytes", maxReceived), "", nil)
	}
	select {
	case <-s.process.Done():
	case <-time.After(time.Second): // it closed its output but still runs
		return s.newError(tool.Crashed, "it closed the line", "", err)
	}
	message := "it ended with " + s.process.Exit().String()
	if tail := s.process.Tail(5); len(tail) > 0 {
		message += ": " + truncateMessage(strings.Join(tail, " | "))
	}
	return s.newError(tool.Crashed, message, "send the message again to restart it", nil)
}

// newError returns an error about the agent.
func (s *Session) newError(kind tool.ErrorKind, message, hint string, err error) *tool.Error {
	return &tool.Error{Op: "agent", Kind: kind, Subject: s.name, Message: message, Hint: hint, Err: err}
}

// Close stops the agent and its child processes. It may be called twice.
func (s *Session) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), stopGrace)
	defer cancel()
	err := s.process.Stop(ctx)
	_ = s.link.Close() // the end of the process has closed its pipes
	return err
}

// truncateMessage cuts a message of an agent to 2 KiB.
func truncateMessage(text string) string {
	const maxBytes = 2 << 10
	return strings.ToValidUTF8(text[:min(len(text), maxBytes)], "\uFFFD")
}

func encode(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // cannot happen: all values can be encoded
	}
	return raw
}
