package chat

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"collie/internal/llm"
	"collie/internal/store"
	"collie/internal/tool"
)

// This file receives the events of an engine, adds them to the answer of the turn, and publishes them.

// sink is the [Sink] of a turn. Events that arrive after the end of the turn are dropped.
type sink struct {
	*liveTurn
	path *path // guarded by saveMu
}

var _ Sink = (*sink)(nil)

// updateUnlessEnded runs fn under the hub's lock unless the turn has ended, and reports whether it did. fn changes the answer, so
// the turn counts as unsaved then, and is saved at once if there is much to save.
func (k *sink) updateUnlessEnded(fn func()) bool {
	k.s.hub.mu.Lock()
	defer k.s.hub.mu.Unlock()
	if k.closed {
		return false
	}
	fn()
	k.dirty = true
	if k.unsaved >= checkpointBytes {
		k.unsaved = 0
		k.signal()
	}
	return true
}

// appendPart appends a part. The caller holds the hub's mu.
func (k *sink) appendPart(part llm.Part) (int, *livePart) {
	p := &livePart{part: part, dirty: true}
	p.text.WriteString(strings.ToValidUTF8(part.Text, "\uFFFD"))
	p.part.Text = ""
	p.part.Opaque = asValidJSON(part.Opaque)
	if part.Kind == llm.PartReasoning || part.Kind == llm.PartToolCall || part.Kind == llm.PartText {
		p.part.Provider = k.provider
	}
	k.parts = append(k.parts, p)
	k.unsaved += len(part.Text) + len(part.Args)
	return len(k.parts) - 1, p
}

// findOrAddPart returns the part of an event, which it adds if it is new. The caller holds the hub's mu.
func (k *sink) findOrAddPart(step int, e *llm.Event, kind llm.PartKind) (int, *livePart) {
	key := partKey{step, e.Index, kind}
	i, there := k.partIndex[key]
	if !there {
		i, _ = k.appendPart(llm.Part{Kind: kind})
		k.partIndex[key] = i
	}
	return i, k.parts[i]
}

// asValidJSON returns data unchanged if it is valid JSON or nil, else as a JSON string.
func asValidJSON(data json.RawMessage) json.RawMessage {
	if data == nil || json.Valid(data) {
		return data
	}
	return encode(string(data))
}

// Emit implements [Sink].
func (k *sink) Emit(step int, e llm.Event) {
	if e.Kind == llm.EventNotice {
		k.Notice(e.Code, e.Text)
		return
	}
	k.updateUnlessEnded(func() {
		k.steps = max(k.steps, step+1)
		switch e.Kind {
		case llm.EventStart:
			k.provider, k.model = cmp.Or(e.Provider, k.provider), cmp.Or(e.Model, k.model)
		case llm.EventText, llm.EventReasoning:
			k.addText(step, &e)
		case llm.EventToolStart:
			_, p := k.findOrAddPart(step, &e, llm.PartToolCall)
			p.part.Call, p.part.Name = e.ID, e.Name
			k.publishAfterText("tool.proposed", proposed{Call: e.ID, Name: e.Name, Step: step, Partial: true})
		case llm.EventToolEnd:
			_, p := k.findOrAddPart(step, &e, llm.PartToolCall)
			p.part.Call, p.part.Name, p.part.Args, p.dirty = e.ID, e.Name, k.redact(e.Name, e.Args), true
			p.part.Opaque = asValidJSON(e.Opaque)
			k.unsaved += len(e.Args)
		case llm.EventRetry:
			k.publishAfterText("retry", struct {
				llm.Retry
				Wait int64 `json:"waitMs"`
			}{e.Retry, e.Retry.Wait.Milliseconds()})
		case llm.EventToolArgs, llm.EventUsage, llm.EventFinish, llm.EventNotice:
			// Proposed publishes arguments, complete and redacted; Usage publishes usage, and Run returns the finish.
		}
	})
}

// addText adds text or reasoning to the answer and publishes it. The caller holds the hub's mu.
func (k *sink) addText(step int, e *llm.Event) {
	kind := llm.PartText
	if e.Kind == llm.EventReasoning {
		kind = llm.PartReasoning
	}
	if e.Text == "" && e.Opaque == nil {
		return
	}
	i, p := k.findOrAddPart(step, e, kind)
	if e.Opaque != nil {
		p.part.Opaque = asValidJSON(e.Opaque)
	}
	p.dirty = true
	if e.Text != "" {
		text := strings.ToValidUTF8(e.Text, "\uFFFD")
		p.text.WriteString(text)
		k.unsaved += len(text)
		k.publishText(i, text)
	}
}

// redact returns arguments without secrets. Arguments that are not JSON are returned as they are.
func (k *sink) redact(name, args string) string {
	if args == "" || !json.Valid([]byte(args)) {
		return strings.ToValidUTF8(args, "\uFFFD")
	}
	return string(k.s.o.Redact(name, json.RawMessage(args)))
}

// proposed is the data of a tool.proposed event.
type proposed struct {
	Call    string          `json:"callId"`
	Name    string          `json:"name"`
	Step    int             `json:"step"`
	Args    json.RawMessage `json:"args,omitempty"`
	Partial bool            `json:"partial,omitempty"` // the arguments are still being written
}

// Proposed implements [Sink].
func (k *sink) Proposed(step int, call ToolCall) {
	k.updateUnlessEnded(func() {
		k.steps = max(k.steps, step+1)
		args := k.redact(call.Name, string(call.Args))
		if k.findCallPart(call.ID) == nil {
			k.appendPart(llm.Part{Kind: llm.PartToolCall, Call: call.ID, Name: call.Name, Args: args})
		}
		k.findOrAddCall(call.ID, call.Name, step)
		k.publishAfterText("tool.proposed", proposed{Call: call.ID, Name: call.Name, Step: step, Args: validJSON(args)})
	})
}

// findCallPart returns the part of a call.
func (k *sink) findCallPart(call string) *livePart {
	for _, p := range slices.Backward(k.parts) {
		if p.part.Kind == llm.PartToolCall && p.part.Call == call {
			return p
		}
	}
	return nil
}

// findOrAddCall returns the state of a call, which it adds as proposed if it is new. The caller holds the hub's mu.
func (k *sink) findOrAddCall(id, name string, step int) *liveCall {
	c := k.byCall[id]
	if c == nil {
		c = &liveCall{Call: Call{ID: id, Name: name, State: CallProposed, Step: step}, dirty: true}
		k.calls, k.byCall[id] = append(k.calls, c), c
	}
	return c
}

// setState changes the state of a call durably and publishes an event of the given kind. If saving fails, the change is
// undone.
func (k *sink) setState(ctx context.Context, call string, to CallState, kind string) error {
	var c *liveCall
	var before CallState
	if !k.updateUnlessEnded(func() {
		c = k.findOrAddCall(call, "", 0)
		before = c.State
		c.State, c.dirty = to, true
		k.countAwaiting(before, to)
	}) {
		return errGone
	}
	err := k.checkpoint(ctx)
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	k.updateUnlessEnded(func() {
		if err != nil {
			if c.State == to { // an answer may have come meanwhile
				c.State, c.dirty = before, true
				k.countAwaiting(to, before)
			}
			return
		}
		k.publishAfterText(kind, struct {
			Call string `json:"callId"`
		}{call})
	})
	return err
}

// countAwaiting updates the number of calls that wait for a person, and the state of the turn, when the state of a call
// changes. The caller holds the hub's mu.
func (k *sink) countAwaiting(from, to CallState) {
	if from == CallAwaiting {
		k.awaiting--
	}
	if to == CallAwaiting {
		k.awaiting++
	}
	k.state = TurnRunning
	if k.awaiting > 0 {
		k.state = TurnAwaiting
	}
}

// Executing implements [Sink].
func (k *sink) Executing(ctx context.Context, call string) error {
	return k.setState(ctx, call, CallExecuting, "tool.start")
}

// Asking implements [Sink].
func (k *sink) Asking(ctx context.Context, call string) (asked func(), err error) {
	if err := k.setState(ctx, call, CallAwaiting, "tool.asking"); err != nil {
		return nil, err
	}
	return sync.OnceFunc(func() {
		k.updateUnlessEnded(func() {
			if c := k.byCall[call]; c.State == CallAwaiting {
				c.State, c.dirty = CallProposed, true
				k.countAwaiting(CallAwaiting, CallProposed)
				k.publishAfterText("tool.asked", struct {
					Call string `json:"callId"`
				}{call})
			}
		})
		k.signal()
	}), nil
}

// Progress implements [Sink]. Servers choose the numbers, and those that are not finite have no JSON form.
func (k *sink) Progress(call string, done, total float64, message string) {
	if !isFinite(done) {
		return
	}
	if !isFinite(total) {
		total = 0
	}
	k.updateUnlessEnded(func() {
		k.publishAfterText("tool.progress", struct {
			Call    string  `json:"callId"`
			Done    float64 `json:"progress"`
			Total   float64 `json:"total,omitempty"`
			Message string  `json:"message,omitempty"`
		}{call, done, total, message})
	})
}

func isFinite(x float64) bool { return !math.IsInf(x, 0) && !math.IsNaN(x) }

// Answered implements [Sink].
func (k *sink) Answered(call string, state CallState, result llm.Part, took int64) {
	k.keepPictures(result.Files)
	taken := k.updateUnlessEnded(func() {
		c := k.findOrAddCall(call, "", 0)
		if c.answered {
			return
		}
		k.countAwaiting(c.State, state)
		c.answered, c.State, c.Took, c.dirty = true, state, took, true
		result.Kind, result.Call = llm.PartToolResult, call
		i, p := k.appendPart(result)
		text := p.text.String()
		preview := truncate(text, previewBytes)
		k.publishAfterText("tool.result", struct {
			Call      string     `json:"callId"`
			Part      int        `json:"partIndex"`
			State     CallState  `json:"state"`
			OK        bool       `json:"ok"`
			Took      int64      `json:"durationMs"`
			Preview   string     `json:"preview"`
			Truncated bool       `json:"truncated,omitempty"`
			Files     []llm.File `json:"files,omitempty"`
		}{call, i, state, state == CallDone && !result.IsError, took, preview, len(preview) < len(text), result.Files})
	})
	if !taken {
		return
	}
	if err := k.checkpoint(context.WithoutCancel(k.ctx)); err != nil {
		k.s.log.Warn("a turn goes on in memory", "turn", k.turn.ID, "error", err) // it is retried
	}
}

// keepPictures stores the pictures of a result with the session, for later turns.
func (k *sink) keepPictures(files []llm.File) {
	for i := range files {
		f := &files[i]
		if f.SHA256 != "" || f.Data == nil {
			continue
		}
		kept, err := k.s.keepBlob(context.WithoutCancel(k.ctx), k.turn.Session, f.Name, f.MIME, f.Data, maxKept)
		if err != nil {
			k.s.log.Warn("a picture is not kept", "turn", k.turn.ID, "error", err)
			continue
		}
		f.SHA256, f.Size = kept.SHA256, kept.Size
	}
}

// truncate returns at most max bytes of text, ending at a character boundary.
func truncate(text string, max int) string {
	if len(text) <= max {
		return text
	}
	for max > 0 && !utf8.RuneStart(text[max]) {
		max--
	}
	return text[:max]
}

// Notice implements [Sink].
func (k *sink) Notice(code, text string) {
	k.updateUnlessEnded(func() {
		i, _ := k.appendPart(llm.Part{Kind: llm.PartNotice, Code: code, Text: text})
		k.publishAfterText("notice", struct {
			Part int    `json:"partIndex"`
			Code string `json:"code"`
			Text string `json:"text"`
		}{i, code, text})
	})
}

// Context implements [Sink].
func (k *sink) Context(used, size int64) {
	k.updateUnlessEnded(func() { k.usage.ContextUsed, k.usage.ContextSize = used, size })
}

// Usage implements [Sink].
func (k *sink) Usage(provider, model, key string, u llm.Usage, cost int64) {
	cost = max(cost, 0)
	k.updateUnlessEnded(func() {
		k.provider, k.model = provider, model
		k.usage.Add(u)
		k.cost += cost
		k.rows = append(k.rows, usageRow{now(), provider, model, key, u, cost})
		k.publishAfterText("usage", struct {
			Usage
			Cost int64 `json:"costMicros,omitempty"`
		}{k.usage, k.cost})
	})
}

// Summarize implements [Sink].
func (k *sink) Summarize(ctx context.Context, keep int, summary string) ([]llm.Message, error) {
	k.saveMu.Lock()
	defer k.saveMu.Unlock()
	n, left := k.path.replaceBySummary(keep, summary)
	if n == 0 {
		return nil, &tool.Error{Op: "summarize", Kind: tool.Invalid, Message: "nothing of the path is left to stand for", Hint: "keep fewer messages"}
	}
	err := k.s.store.Write(ctx, func(tx *store.Tx) error {
		tx.Exec("INSERT OR REPLACE INTO summary VALUES (?, ?, ?, ?)", n, k.turn.ID, summary, now())
		return nil
	})
	if err != nil {
		return nil, err
	}
	k.path = left
	k.updateUnlessEnded(func() {
		k.publishAfterText("summary", struct {
			Text string `json:"text"`
		}{summary})
	})
	return left.messages, nil
}

// Steered implements [Sink].
func (k *sink) Steered(step int) []llm.Message {
	messages, err := k.s.takeSteering(context.WithoutCancel(k.ctx), k)
	if err != nil { // the messages stay queued as turns
		k.s.log.Warn("what was said meanwhile does not reach the model", "turn", k.turn.ID, "step", step, "error", err)
	}
	return messages
}

// Blob implements [Sink].
func (k *sink) Blob(ctx context.Context, name, mime string, data []byte) (handle string, err error) {
	f, err := k.s.keepBlob(ctx, k.turn.Session, name, mime, data, maxKept)
	return f.SHA256, err
}

// ReadBlob implements [Sink].
func (k *sink) ReadBlob(ctx context.Context, handle string) ([]byte, error) {
	return k.s.readBlob(ctx, k.turn.Session, handle)
}
