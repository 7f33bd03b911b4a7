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

// caller is the way back to the person at the terminal: progress is one line on stderr
// that changes, and questions are asked on it. Where there is no terminal, nobody is asked.
type caller struct {
	from   string // who asks
	log    *slog.Logger
	screen bool // stderr is a terminal
	person bool // and so is stdin
	yes    bool // what is dangerous is confirmed without asking

	mu    sync.Mutex
	out   io.Writer
	in    *root.Lines
	shown bool // a progress line stands on the screen
}

var _ tool.Caller = (*caller)(nil)

// NewCaller returns the way back from a call of a tool. yes answers for the person what the gate
// asks, and nothing else.
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

// ID is empty: a person is all there is.
func (*caller) ID() string { return "" }

// Supports is what a terminal can do.
func (c *caller) Supports(what tool.Capability) bool {
	switch what {
	case tool.CanElicit:
		return c.person
	case tool.CanConfirm:
		return c.person || c.yes
	case tool.WantsProgress:
		return true
	case tool.CanSample, tool.CanRoots, tool.TakesInputRequired, tool.Attends, tool.TakesAnyRequest, tool.SpeaksForPerson: // the gate asks by CanConfirm
	}
	return false
}

// Capabilities says the same to a server.
func (c *caller) Capabilities() json.RawMessage {
	if c.person {
		return json.RawMessage(`{"elicitation":{"form":{},"url":{}}}`)
	}
	return json.RawMessage(`{}`)
}

// Notify shows progress, and logs the rest at info.
func (c *caller) Notify(_ context.Context, method string, params json.RawMessage) {
	if method != "notifications/progress" || !c.screen {
		c.log.Info(locale.T("server says"), "method", method, "params", string(params)) //nolint:sloglint // the text that commands show
		return
	}
	if !c.mu.TryLock() {
		return // a question is being asked, or other progress shown
	}
	defer c.mu.Unlock()
	_, _ = fmt.Fprintf(c.out, "\r\x1b[K%s", output.Truncate(progressLine(params), 78))
	c.shown = true
}

// progressLine reads "3/10 copying files".
func progressLine(params json.RawMessage) string {
	root := gjson.ParseBytes(params)
	text := rawjson.Member(root, "progress").String()
	if total := rawjson.Member(root, "total"); total.Exists() {
		text += "/" + total.String()
	}
	return output.OneLine(strings.TrimSpace(text + " " + rawjson.Member(root, "message").String()))
}

// Done takes the progress line away.
func (c *caller) Done() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clear()
}

func (c *caller) clear() {
	if c.shown {
		_, _ = io.WriteString(c.out, "\r\x1b[K")
		c.shown = false
	}
}

// Ask puts the question of a server, or of the gate, to the person. One question is asked at
// a time.
func (c *caller) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	switch {
	case method == tool.MethodConfirm && c.yes:
		return confirmation(true), nil
	case method != tool.MethodConfirm && method != "elicitation/create", !c.person:
		return nil, tool.NewProtocolError(remote.CodeMethod, locale.Sprintf("a terminal cannot answer %s", method), nil)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clear()
	if method == tool.MethodConfirm {
		return c.confirm(ctx, params)
	}
	q := &questions{from: c.from, in: c.in, out: c.out}
	return q.ask(ctx, params)
}
