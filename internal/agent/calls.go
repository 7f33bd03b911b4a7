package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"collie/internal/chat"
	"collie/internal/llm"
	"collie/internal/pipeline/guardian"
	"collie/internal/tool"
)

const (
	maxReads    = 8         // calls of one step that run at once
	maxInStep   = 256 << 10 // bytes of results that a model gets for one step
	maxCalls    = 100       // of one turn
	answerGrace = 2 * time.Second
)

// call is a tool call of a model on its way.
type call struct {
	id, name, written string // written are the arguments as the model wrote them

	step   int
	taint  string // see [tool.Request]
	args   json.RawMessage
	err    error  // why it is not made
	key    string // calls with effects on the same key wait for each other; empty for a read
	result llm.Part
	done   chat.CallState
}

// callAll makes the calls of one step and returns their results in the order of the calls, one for
// each, whatever happened. What only reads runs side by side; what may change something waits for the
// call before it on the same source.
func (r *run) callAll(ctx context.Context, step int, calls []*call) []llm.Part {
	lanes := map[string][]*call{}
	var order []string
	taint := r.outside.String() // what the model had read when it wanted these
	for i, c := range calls {
		c.step, c.taint = step, taint
		r.prepare(ctx, c)
		lane := c.key
		if lane == "" {
			lane = fmt.Sprint(i) // sources' names are not numbers: entries begin with a letter
		}
		if lanes[lane] == nil {
			order = append(order, lane)
		}
		lanes[lane] = append(lanes[lane], c)
		r.sink.Proposed(step, chat.ToolCall{ID: c.id, Name: c.name, Args: c.args})
	}
	places := make(chan struct{}, maxReads)
	var all sync.WaitGroup
	for _, lane := range order {
		all.Go(func() {
			for _, c := range lanes[lane] {
				places <- struct{}{}
				r.make(ctx, c)
				<-places
			}
		})
	}
	all.Wait()
	results, left := make([]llm.Part, len(calls)), maxInStep
	for i, c := range calls {
		results[i] = r.shorten(ctx, c.result, left)
		left = max(left-len(results[i].Text), 1<<10)
	}
	return results
}

// prepare reads the arguments of c and looks what it would do.
func (r *run) prepare(ctx context.Context, c *call) {
	c.args, c.err = readArgs(c.written)
	if c.err != nil {
		c.args = json.RawMessage(`{}`)
		return
	}
	r.made++
	switch {
	case r.made > maxCalls:
		c.err = &tool.Error{Op: "call", Kind: tool.Busy, Subject: c.name, Message: fmt.Sprintf("this turn has made %d calls, no more are made", maxCalls), Hint: "answer with what is known"}
	case !r.set.has(c.name):
		c.err = r.set.unknown(c.name)
	case c.name == outputTool, c.name == skillTool:
	default:
		resolved, err := r.agent.opts.Pipeline.Resolve(ctx, r.request(c))
		switch {
		case err == nil:
			c.err = r.files.permit(resolved)
		case r.files.agent.Level != "": // what it would do is not known
			c.err = err
		}
		if err == nil && resolved.HasEffects() && resolved.Source != nil {
			c.key = resolved.Source.Name()
		}
	}
}

// readArgs reads what a model wrote as arguments: an object, where nothing and null stand for an empty
// one. What does not parse is repaired once where only its end is wrong.
func readArgs(written string) (json.RawMessage, error) {
	text := strings.TrimSpace(written)
	switch {
	case text == "" || text == "null":
		return json.RawMessage(`{}`), nil
	case strings.HasPrefix(text, "{") && json.Valid([]byte(text)):
		return json.RawMessage(text), nil
	}
	if mended := mend(text); strings.HasPrefix(mended, "{") && json.Valid([]byte(mended)) {
		return json.RawMessage(mended), nil
	}
	return nil, &tool.Error{
		Op: "call", Kind: tool.Invalid, Subject: "arguments", Message: "they are not a JSON object; nothing was called",
		Hint: "call it again with the arguments as one JSON object",
	}
}

// mend closes what a JSON text leaves open, and takes out a comma before a closing bracket.
func mend(text string) string {
	var out []byte
	var open []byte
	quoted, escaped := false, false
	for i := range len(text) {
		b := text[i]
		switch {
		case escaped:
			escaped = false
		case quoted && b == '\\':
			escaped = true
		case b == '"':
			quoted = !quoted
		case quoted:
		case b == '{':
			open = append(open, '}')
		case b == '[':
			open = append(open, ']')
		case b == '}' || b == ']':
			out = withoutComma(out)
			if len(open) > 0 {
				open = open[:len(open)-1]
			}
		}
		out = append(out, b)
	}
	if quoted {
		out = append(out, '"')
	}
	out = withoutComma(out)
	for _, b := range slices.Backward(open) {
		out = append(out, b)
	}
	return string(out)
}

func withoutComma(out []byte) []byte {
	for i, b := range slices.Backward(out) {
		switch b {
		case ' ', '\n', '\r', '\t':
			continue
		case ',':
			return out[:i]
		}
		break
	}
	return out
}

// request is c for the pipeline.
func (r *run) request(c *call) tool.Request {
	origin := tool.Chat
	if r.typed {
		origin = tool.Direct
	}
	return tool.Request{
		Kind: tool.KindCall, Name: c.name, Args: c.args, Profile: r.set.profile, Origin: origin,
		Principal: r.turn.Principal, Client: "collie agent", Session: r.turn.Session,
		Parent: r.turn.ID + ":" + strconv.Itoa(c.step), Taint: c.taint,
		Caller: &caller{agent: r.agent, turn: r.turn, sink: r.sink, call: c.id, name: c.name, wait: r.watch},
	}
}

// make makes c and tells the conversation how it went.
func (r *run) make(ctx context.Context, c *call) {
	begun := time.Now()
	var result tool.Result
	switch {
	case c.err != nil:
	case ctx.Err() != nil:
		c.err, c.done = skipped(ctx), chat.CallSkipped
	case c.name == outputTool:
		result, c.err = r.readOn(ctx, c.args)
	case c.name == skillTool:
		result, c.err = r.files.skill(c.args)
	default:
		if err := r.sink.Executing(ctx, c.id); err != nil {
			c.err, c.done = &tool.Error{Op: "call", Kind: tool.Internal, Subject: c.name, Message: "it could not be written down that it runs, so it was not run", Err: err}, chat.CallSkipped
			break
		}
		result, c.err = r.do(ctx, c)
	}
	c.result = llm.Part{Kind: llm.PartToolResult, Call: c.id, Name: c.name}
	switch {
	case c.err != nil:
		c.result.Text, c.result.IsError = failure(c.err), true
		if c.done == "" {
			c.done = stateOf(c.err)
		}
	default:
		c.result.Text, c.result.Files = resultText(result.Raw, r.info.Images)
		c.result.IsError = result.IsError
		if c.done = chat.CallDone; result.IsError {
			c.done = chat.CallFailed
		}
	}
	kept := r.keep(context.WithoutCancel(ctx), c.result)
	if c.name != skillTool { // the person wrote those
		kept = r.screen(context.WithoutCancel(ctx), kept)
	}
	c.result = kept
	r.sink.Answered(c.id, c.done, kept, time.Since(begun).Milliseconds())
}

// do sends c through the pipeline. A call that goes on after its turn was cancelled has a moment left to say how it
// ended.
func (r *run) do(ctx context.Context, c *call) (tool.Result, error) {
	type answer struct {
		result tool.Result
		err    error
	}
	answered := make(chan answer, 1)
	first, last := r.said()
	go func() {
		result, err := r.agent.opts.Pipeline.Do(guardian.Said(ctx, first, last), r.request(c))
		answered <- answer{result, err}
	}()
	select {
	case a := <-answered:
		return a.result, a.err
	case <-ctx.Done():
	}
	late := time.NewTimer(answerGrace)
	defer late.Stop()
	select {
	case a := <-answered:
		return a.result, a.err
	case <-late.C:
		return tool.Result{}, &tool.Error{Op: "call", Kind: tool.Canceled, Subject: c.name, Message: "the turn ended while it ran", OutcomeUnknown: true}
	}
}

// said returns the first and the last text of the person, for those who judge whether a call fits.
func (r *run) said() (first, last string) {
	for _, m := range r.turn.Path {
		if m.Role != llm.RoleUser {
			continue
		}
		for _, p := range m.Parts {
			if p.Kind == llm.PartText && p.Text != "" {
				if last = p.Text; first == "" {
					first = p.Text
				}
			}
		}
	}
	return first, last
}

func skipped(ctx context.Context) error {
	return &tool.Error{Op: "call", Kind: tool.Canceled, Message: "the turn ended before it began; nothing was done", Err: context.Cause(ctx)}
}

// failure is what a model is told of an error.
func failure(err error) string {
	if e, ok := errors.AsType[*tool.Error](err); ok {
		return string(e.Payload())
	}
	if e, ok := errors.AsType[*tool.ProtocolError](err); ok {
		return `{"error":` + string(e.Raw) + `}`
	}
	return string((&tool.Error{Op: "call", Kind: tool.Internal, Err: err}).Payload())
}

func stateOf(err error) chat.CallState {
	e, ok := errors.AsType[*tool.Error](err)
	switch {
	case ok && e.OutcomeUnknown:
		return chat.CallUnknown
	case tool.KindOf(err).Refused():
		return chat.CallRefused
	}
	return chat.CallFailed
}

// keep leaves of a result what a model sees of it. The rest, up to a bound, is a blob of the session that
// tool_output reads.
func (r *run) keep(ctx context.Context, p llm.Part) llm.Part {
	limit := r.turn.Config.ResultLimit
	if limit <= 0 {
		limit = chat.Defaults().ResultLimit
	}
	return r.cutTo(ctx, p, limit)
}

// shorten cuts p further where the results of a step are more than a model gets at once.
func (r *run) shorten(ctx context.Context, p llm.Part, left int) llm.Part {
	return r.cutTo(context.WithoutCancel(ctx), p, left)
}

func (r *run) cutTo(ctx context.Context, p llm.Part, limit int) llm.Part {
	if len(p.Text) <= limit {
		return p
	}
	full := p.Text
	at := cut(full, limit)
	handle, err := r.sink.Blob(ctx, p.Name, "text/plain", []byte(full[:min(len(full), maxStored)]))
	note := fmt.Sprintf("\n[cut: %d of %d bytes are shown; %s with handle %q and offset %d reads on]", at, len(full), outputTool, handle, at)
	if err != nil {
		note = fmt.Sprintf("\n[cut: %d of %d bytes are shown; the rest could not be kept]", at, len(full))
	}
	p.Text = full[:at] + note
	return p
}

// readOn answers tool_output.
func (r *run) readOn(ctx context.Context, args json.RawMessage) (tool.Result, error) {
	in := gjson.ParseBytes(args)
	handle, offset, limit := in.Get("handle").String(), int(in.Get("offset").Int()), int(in.Get("limit").Int())
	data, err := r.sink.ReadBlob(ctx, handle)
	switch {
	case handle == "" || err != nil:
		return tool.Result{}, &tool.Error{
			Op: "call", Kind: tool.NotFound, Subject: "handle", Message: "there is no result of this conversation with that handle",
			Hint: "take the handle from the end of a result that was cut", Err: err,
		}
	case offset < 0 || offset > len(data):
		return tool.Result{}, &tool.Error{Op: "call", Kind: tool.Invalid, Subject: "offset", Message: fmt.Sprintf("it is %d, expected 0 to %d", offset, len(data))}
	}
	if limit <= 0 || limit > chat.Defaults().ResultLimit-256 {
		limit = chat.Defaults().ResultLimit - 256
	}
	rest := string(data[offset:])
	at := cut(rest, limit)
	text := rest[:at]
	if at < len(rest) {
		text += fmt.Sprintf("\n[%d of %d bytes were read up to here; go on with offset %d]", offset+at, len(data), offset+at)
	}
	raw, err := json.Marshal(map[string]any{"content": []map[string]string{{"type": "text", "text": text}}})
	return tool.Result{Raw: raw}, err
}
