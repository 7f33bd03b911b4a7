package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"

	"github.com/tidwall/gjson"

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
	in    *lines
	shown bool // a progress line stands on the screen
}

var _ tool.Caller = (*caller)(nil)

// caller returns the way back from a call of a tool. yes answers for the person what the gate
// asks, and nothing else.
func (p *program) caller(from string, yes bool) (*caller, error) {
	log, err := p.logger()
	if err != nil {
		return nil, err
	}
	screen := terminal(p.err)
	return &caller{
		from: from, log: log, screen: screen, person: screen && terminal(p.in), yes: yes, out: p.err, in: newLines(p.in),
	}, nil
}

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
		c.log.Info("server says", "method", method, "params", string(params))
		return
	}
	if !c.mu.TryLock() {
		return // a question is being asked, or other progress shown
	}
	defer c.mu.Unlock()
	_, _ = fmt.Fprintf(c.out, "\r\x1b[K%s", truncate(progressLine(params), 78))
	c.shown = true
}

// progressLine reads "3/10 copying files".
func progressLine(params json.RawMessage) string {
	root := gjson.ParseBytes(params)
	text := member(root, "progress").String()
	if total := member(root, "total"); total.Exists() {
		text += "/" + total.String()
	}
	return oneLine(strings.TrimSpace(text + " " + member(root, "message").String()))
}

// done takes the progress line away.
func (c *caller) done() {
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
		return nil, tool.NewProtocolError(codeMethod, "a terminal cannot answer "+method, nil)
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

// lines reads a stream line by line for those who may give up waiting. Its goroutine starts
// with the first question and ends with the stream, or with the process: a read of a
// terminal cannot be interrupted.
type lines struct {
	start sync.Once
	r     io.Reader
	ch    chan string
}

func newLines(r io.Reader) *lines { return &lines{r: r, ch: make(chan string)} }

// next returns a line without its end. The error is io.EOF, or ctx's.
func (l *lines) next(ctx context.Context) (string, error) {
	l.start.Do(func() {
		go func() {
			defer close(l.ch)
			s := bufio.NewScanner(l.r)
			for s.Scan() {
				l.ch <- s.Text()
			}
		}()
	})
	select {
	case text, ok := <-l.ch:
		if !ok {
			return "", io.EOF
		}
		return text, nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}
