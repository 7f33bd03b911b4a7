// Package acp speaks the Agent Client Protocol, version 1, as a client: it starts an agent that somebody else wrote,
// asks it once, and hands on what it says and what it wants to be allowed. The wire is JSON-RPC 2.0 over lines of the
// agent's stdin and stdout, which package mcp carries. The package knows no conversations and decides nothing.
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

// Bounds of what an agent may take and send.
const (
	defaultStart = time.Minute // to be ready for the first question; agents from npm load slowly
	maxMessage   = 16 << 20    // bytes of one message
	cancelGrace  = 1500 * time.Millisecond
	stopGrace    = 5 * time.Second
)

// ladder ends an agent: what it wants to keep, it has kept when it answers.
var ladder = process.Ladder{CloseWait: 500 * time.Millisecond, TermWait: 500 * time.Millisecond}

// authRequired is the code of an agent's error that wants a person to sign in.
const authRequired = -32000

// Options say which agent to start. Command and Client are required.
type Options struct {
	// Command is how the agent is started; its Label names it in errors, its Dir is where it works and is absolute.
	Command process.Command
	Process process.Options
	// Version is that of this program.
	Version string
	// Client hears what the agent says.
	Client Client
	// Start is how long the agent may take to be ready; 0 means a minute.
	Start time.Duration
}

// Client is who an agent talks to while it answers.
type Client interface {
	// Update is called for one update after the other, in the order in which the agent sent them, all before
	// [Session.Prompt] returns. It must not block for long.
	Update(u Update)
	// Permit says whether the agent may do what it asks about, once. It is called concurrently. Where it is not decided,
	// the turn is about to end.
	Permit(ctx context.Context, c Call) (allowed, decided bool)
}

// Server is an MCP server that an agent is to use: over HTTP if URL is set, else a command.
type Server struct {
	Name    string
	URL     string
	Headers [][2]string
	Command string
	Args    []string
	Env     [][2]string
}

// Session is a running agent with one conversation. It is safe for concurrent use. The caller closes it.
type Session struct {
	name    string
	client  Client
	process *process.Process
	link    mcp.Link
	id      string // of the session, at the agent

	// What the agent announced.
	HTTP   bool // it takes MCP servers over HTTP
	Images bool // and pictures in a question

	said atomic.Int64 // bytes of all updates
}

// Open starts an agent and agrees on the protocol with it. An error is a [*tool.Error] that names the agent; what was
// started has then ended.
func Open(ctx context.Context, o Options) (*Session, error) {
	s := &Session{name: o.Command.Label, client: o.Client}
	o.Process.Ladder = ladder
	p, err := process.Start(o.Command, &o.Process)
	if err != nil {
		return nil, s.fail(tool.Unavailable, "it does not start", "look whether its command is right: "+o.Command.Name, err)
	}
	s.process = p
	s.link = mcp.NewConn(mcp.NewLines(p.Stdout(), p.Stdin(), maxMessage, func() error { return p.Stdout().Close() }), s, &mcp.ConnOptions{Logger: o.Process.Logger})
	wait := cmp.Or(o.Start, defaultStart)
	ctx, cancel := context.WithTimeoutCause(ctx, wait, s.fail(tool.Timeout, "it was not ready within "+wait.String(), "start it by hand to see what it waits for", nil))
	defer cancel()
	hello, err := s.call(ctx, "initialize", map[string]any{
		"protocolVersion":    version,
		"clientCapabilities": map[string]any{"fs": map[string]bool{"readTextFile": false, "writeTextFile": false}, "terminal": false},
		"clientInfo":         map[string]string{"name": "collie", "version": o.Version},
	})
	if err == nil && hello.Get("protocolVersion").Int() != version {
		err = s.fail(tool.Upstream, fmt.Sprintf("it speaks version %s of the Agent Client Protocol, expected %d", cmp.Or(hello.Get("protocolVersion").Raw, "none"), version),
			"use a version of it that speaks this one", nil)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	able := hello.Get("agentCapabilities")
	s.HTTP, s.Images = able.Get("mcpCapabilities.http").Bool(), able.Get("promptCapabilities.image").Bool()
	return s, nil
}

// Begin begins the conversation in a folder, with MCP servers. It is called once, before [Session.Prompt].
func (s *Session) Begin(ctx context.Context, dir string, servers []Server) error {
	ctx, cancel := context.WithTimeoutCause(ctx, defaultStart, s.fail(tool.Timeout, "it did not begin a session within "+defaultStart.String(), "start it by hand to see what it waits for", nil))
	defer cancel()
	list := make([]map[string]any, len(servers))
	for i, m := range servers {
		if list[i] = map[string]any{"name": m.Name, "command": m.Command, "args": append([]string{}, m.Args...), "env": pairs(m.Env)}; m.URL != "" {
			list[i] = map[string]any{"type": "http", "name": m.Name, "url": m.URL, "headers": pairs(m.Headers)}
		}
	}
	made, err := s.call(ctx, "session/new", map[string]any{"cwd": dir, "mcpServers": list})
	if err != nil {
		return err
	}
	if s.id = made.Get("sessionId").String(); s.id == "" {
		return s.fail(tool.Upstream, "it began a session without an id", "", nil)
	}
	return nil
}

func pairs(all [][2]string) []map[string]string {
	out := make([]map[string]string, len(all))
	for i, p := range all {
		out[i] = map[string]string{"name": p[0], "value": p[1]}
	}
	return out
}

// Block is a piece of a question: a text, or a picture.
type Block struct {
	Text string
	MIME string // of Data, if it is a picture
	Data []byte
}

// Prompt asks the agent and returns why it stopped, in the protocol's word. When ctx ends the agent is told to stop, and
// has a moment to say how far it got; the error is then the cause of ctx.
func (s *Session) Prompt(ctx context.Context, blocks []Block) (stop string, err error) {
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
		_ = s.link.Notify(told, "session/cancel", encode(map[string]string{"sessionId": s.id})) // an agent that cannot be told is ended
	})()
	answer, err := s.call(inner, "session/prompt", map[string]any{"sessionId": s.id, "prompt": prompt})
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil:
		return "", err
	}
	return answer.Get("stopReason").String(), nil
}

// call sends a request and returns its result. Nothing is repeated, so an agent that went away is an error that says how.
func (s *Session) call(ctx context.Context, method string, params any) (gjson.Result, error) {
	answer, err := s.link.Call(ctx, &mcp.Request{Method: method, Params: encode(params), NoCancel: true})
	switch {
	case err != nil && ctx.Err() != nil:
		return gjson.Result{}, context.Cause(ctx)
	case err != nil:
		return gjson.Result{}, s.gone(err)
	case answer.Error != nil:
		e := gjson.ParseBytes(answer.Error)
		if e.Get("code").Int() == authRequired {
			return gjson.Result{}, s.fail(tool.NeedsAuth, "it wants you to sign in", "start "+s.name+" by hand once and sign in there", refusal(e))
		}
		return gjson.Result{}, s.fail(tool.Upstream, "it refused "+method, "", refusal(e))
	}
	return gjson.ParseBytes(answer.Result), nil
}

// refusal is what an agent's error says, with what some agents put beside the message.
func refusal(e gjson.Result) error {
	text := e.Get("message").String()
	for _, more := range []string{"data.details", "data.message", "data"} {
		if d := e.Get(more); d.Type == gjson.String && d.String() != text {
			text += ": " + d.String()
			break
		}
	}
	return errors.New(clip(text))
}

// gone is the error of an agent that can no longer be talked to: how it ended, and what it said last.
func (s *Session) gone(err error) error {
	if e, ok := errors.AsType[*mcp.LinkError](err); ok && e.TooLarge {
		return s.fail(tool.TooLarge, fmt.Sprintf("it sent a message of more than %d bytes", maxMessage), "", nil)
	}
	if s.said.Load() > maxSaid {
		return s.fail(tool.TooLarge, fmt.Sprintf("it said more than %d bytes", maxSaid), "", nil)
	}
	select {
	case <-s.process.Done():
	case <-time.After(time.Second): // it closed its output and lives on
		return s.fail(tool.Crashed, "it closed the line", "", err)
	}
	message := "it ended with " + s.process.Exit().String()
	if tail := s.process.Tail(5); len(tail) > 0 {
		message += ": " + clip(strings.Join(tail, " | "))
	}
	return s.fail(tool.Crashed, message, "send the message again to start it anew", nil)
}

func (s *Session) fail(kind tool.ErrorKind, message, hint string, err error) *tool.Error {
	return &tool.Error{Op: "agent", Kind: kind, Subject: s.name, Message: message, Hint: hint, Err: err}
}

// Close ends the agent and whatever it started. It may be called twice.
func (s *Session) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), stopGrace)
	defer cancel()
	err := s.process.Stop(ctx)
	_ = s.link.Close() // the end of the process has closed its pipes
	return err
}

// clip is the beginning of what an agent said about itself.
func clip(text string) string {
	const most = 2 << 10
	return strings.ToValidUTF8(text[:min(len(text), most)], "\uFFFD")
}

func encode(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // texts and numbers alone
	}
	return raw
}
