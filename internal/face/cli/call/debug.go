package call

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"collie/internal/app"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/remote"
	"collie/internal/face/cli/root"
	"collie/internal/rawjson"
	"collie/internal/tool"
)

// This file implements the flag --debug, which shows the steps of a call.

// debugger implements --debug: it writes to stderr, without secrets, the request, the response and the
// steps in between. A nil debugger shows nothing.
type debugger struct {
	p     commands
	clean func(json.RawMessage) json.RawMessage
	begun time.Time

	mu     sync.Mutex
	stages []string // lines about stages of the pipeline, in the order in which they end: from the last to the first
}

// debugger returns a debugger if --debug is set, else nil.
func (p commands) debugger() (*debugger, error) {
	if !p.Debug {
		return nil, nil //nolint:nilnil // the documented answer for none
	}
	cfg, err := p.Load()
	if err != nil {
		return nil, err
	}
	var more []string
	for _, s := range []string{p.Kernel.Token, p.Env.Get("SIYUAN_TOKEN")} {
		if s != "" {
			more = append(more, s)
		}
	}
	return &debugger{p: p, clean: app.Cleaner(cfg, p.Env, more...), begun: time.Now()}, nil
}

// println prints a line. Text from a server may contain control characters that JSON does not escape, so they are
// made harmless.
func (d *debugger) println(format string, args ...any) {
	_, _ = locale.Fprintf(d.p.Err, "debug: %s\n", output.Harmless(strings.ReplaceAll(locale.Sprintf(format, args...), "\n", " "))) // only a person uses this output, so errors do not matter
}

// request shows the request and where it goes.
func (d *debugger) request(b root.Backend, c tool.Request) {
	if d == nil {
		return
	}
	by := locale.T("here, no gateway is asked")
	if r, ok := b.(*remote.Client); ok {
		by = locale.Sprintf("by the gateway at %s", r.Gateway.URL)
	}
	d.println("%s runs %s", c.Name, by)
	d.println("request %s", d.clean(c.Args))
}

// trace returns the Trace for the call; nil for a nil debugger.
func (d *debugger) trace() tool.Trace {
	if d == nil {
		return nil
	}
	return d.step
}

// step is a [tool.Trace] that prints each step. It keeps those of stages for answer.
func (d *debugger) step(kind, detail string, took time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	text := fmt.Sprintf("%s %s, %v", kind, output.OneLine(cleanText(d.clean, detail)), took.Round(time.Microsecond))
	if kind == tool.TraceStage {
		d.stages = append(d.stages, text)
		return
	}
	d.println("%s", text)
}

// cleanText removes secrets from a text.
func cleanText(clean func(json.RawMessage) json.RawMessage, text string) string {
	return gjson.ParseBytes(clean(rawjson.Quote(text))).String()
}

// answer shows the stages and then the result or the error.
func (d *debugger) answer(r tool.Result, err error) {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	slices.Reverse(d.stages)
	for _, s := range d.stages {
		d.println("%s", s)
	}
	took := time.Since(d.begun).Round(time.Microsecond)
	switch e, ok := err.(*tool.Error); { //nolint:errorlint // the pipeline's errors are these themselves
	case ok:
		d.println("error after %v: %s", took, d.clean(e.Payload()))
	case err != nil:
		d.println("error after %v: %s", took, cleanText(d.clean, err.Error()))
	default:
		d.println("answer after %v: %s", took, d.clean(r.Raw))
	}
}
