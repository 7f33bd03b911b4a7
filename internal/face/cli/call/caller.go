package call

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"

	"github.com/tidwall/gjson"

	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/remote"
	"collie/internal/face/cli/root"
	"collie/internal/rawjson"
	"collie/internal/tool"
)

// This file has the Caller of calls from the command line, which shows progress to the person at the terminal and asks
// them questions.

// caller shows progress to the person at the terminal, on one changing line on stderr, and asks
// questions there. Without a terminal it asks no questions.
type caller struct {
	from   string // name of the server or tool that asks
	log    *slog.Logger
	screen bool // stderr is a terminal
	person bool // stdin is a terminal too
	yes    bool // the gate's questions are answered with yes

	mu            sync.Mutex
	out           io.Writer
	in            *root.Lines
	progressShown bool // a progress line is on the screen
}

var _ tool.Caller = (*caller)(nil)

// NewCaller returns the Caller for a call of a tool. from names who asks. yes answers the questions of the
// gate, and no others.
func NewCaller(shared *root.Program, from string, yes bool) (*caller, error) {
	p := commands{shared}

	log, err := p.Logger()
	if err != nil {
		return nil, err
	}
	screen := output.IsTerminal(p.Err)
	return &caller{
		from: from, log: log, screen: screen, person: screen && output.IsTerminal(p.In), yes: yes, out: p.Err, in: root.NewLines(p.In),
	}, nil
}

// ID returns "", because a command has only one caller.
func (*caller) ID() string { return "" }

// Supports reports what a person at this terminal can do.
func (c *caller) Supports(capability tool.Capability) bool {
	switch capability {
	case tool.CanElicit:
		return c.person
	case tool.CanConfirm:
		return c.person || c.yes
	case tool.WantsProgress:
		return true
	case tool.CanSample, tool.CanRoots, tool.TakesInputRequired, tool.Attends, tool.TakesAnyRequest, tool.SpeaksForPerson: // not for a terminal
	}
	return false
}

// Capabilities returns the client capabilities of MCP that a server is told.
func (c *caller) Capabilities() json.RawMessage {
	if c.person {
		return json.RawMessage(`{"elicitation":{"form":{},"url":{}}}`)
	}
	return json.RawMessage(`{}`)
}

// Notify shows progress on a terminal, and logs all other notifications at level info.
func (c *caller) Notify(_ context.Context, method string, params json.RawMessage) {
	if method != "notifications/progress" || !c.screen {
		c.log.Info(locale.T("server says"), "method", method, "params", string(params)) //nolint:sloglint // the message that commands show
		return
	}
	if !c.mu.TryLock() {
		return // a question or other progress is being shown
	}
	defer c.mu.Unlock()
	_, _ = fmt.Fprintf(c.out, "\r\x1b[K%s", output.Truncate(progressLine(params), 78))
	c.progressShown = true
}

// progressLine returns a line such as "3/10 copying files".
func progressLine(params json.RawMessage) string {
	root := gjson.ParseBytes(params)
	text := rawjson.Member(root, "progress").String()
	if total := rawjson.Member(root, "total"); total.Exists() {
		text += "/" + total.String()
	}
	return output.OneLine(strings.TrimSpace(text + " " + rawjson.Member(root, "message").String()))
}

// Line returns the next line that the person types. The error is io.EOF or that of ctx.
func (c *caller) Line(ctx context.Context) (string, error) { return c.in.Next(ctx) }

// Done removes the progress line.
func (c *caller) Done() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clear()
}

// clear removes the progress line. The caller holds c.mu.
func (c *caller) clear() {
	if c.progressShown {
		_, _ = io.WriteString(c.out, "\r\x1b[K")
		c.progressShown = false
	}
}

// Ask asks the person a question of a server or of the gate, one question at a time.
func (c *caller) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	switch {
	case method == tool.MethodConfirm && c.yes:
		return agreedBefore(gjson.GetBytes(params, "name").String()), nil
	case method != tool.MethodConfirm && method != "elicitation/create", !c.person:
		return nil, tool.NewProtocolError(remote.CodeMethod, locale.Sprintf("a terminal cannot answer %s", method), nil)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clear()
	if method == tool.MethodConfirm {
		return c.confirm(ctx, params)
	}
	q := &elicitor{from: c.from, in: c.in, out: c.out}
	return q.ask(ctx, params)
}
