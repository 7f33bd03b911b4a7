package wire

import (
	"encoding/json"
	"slices"
	"strings"

	"collie/internal/llm"
)

// This file assembles the events of an answer, for the decoders of all APIs.

// argsLimit is the maximum size of the arguments of one call, in bytes.
const argsLimit = 16 << 20

// Answer assembles the events of one answer for a decoder: it numbers the parts, collects the pieces of calls and
// translates tool names back to ours. The zero value is an answer that has not begun.
type Answer struct {
	Names map[string]string // our names of tools, by the names the provider knows
	Out   []llm.Event       // events not taken yet; Take empties it

	started bool
	open    llm.EventKind // kind of the last part while more can be added to it
	next    int           // the index of the next part
	calls   []*call
	usage   llm.Usage
}

// call is a tool call, which may still be receiving its arguments.
type call struct {
	key   string // how the provider refers to the call within this answer
	index int
	id    string
	name  string
	args  strings.Builder
	ended bool
}

// Start begins the answer. Only the first call has an effect.
func (a *Answer) Start(model, id string) {
	if !a.started {
		a.started = true
		a.Out = append(a.Out, llm.Event{Kind: llm.EventStart, Model: model, ID: id})
	}
}

// Text appends to the last part if that is text, else it begins a new part.
func (a *Answer) Text(text string) {
	if text == "" {
		return
	}
	a.Out = append(a.Out, llm.Event{Kind: llm.EventText, Index: a.openPart(llm.EventText), Text: text})
}

// Reasoning is like Text, for reasoning. A non-nil opaque also ends the part.
func (a *Answer) Reasoning(text string, opaque any) {
	e := llm.Event{Kind: llm.EventReasoning, Text: text}
	if opaque != nil {
		e.Opaque, _ = json.Marshal(opaque)
	}
	if text == "" && opaque == nil {
		return
	}
	e.Index = a.openPart(llm.EventReasoning)
	if opaque != nil {
		a.open = ""
	}
	a.Out = append(a.Out, e)
}

// Close ends the last part, so that what comes next begins a new one.
func (a *Answer) Close() { a.open = "" }

// openPart returns the index of the open part of this kind, and begins one if there is none.
func (a *Answer) openPart(kind llm.EventKind) int {
	if a.open != kind {
		a.open = kind
		a.next++
	}
	return a.next - 1
}

// Call begins the call that the provider refers to as key in this answer. The id may be empty.
func (a *Answer) Call(key, id, name string) {
	if ours, ok := a.Names[name]; ok {
		name = ours
	}
	a.open = ""
	c := &call{key: key, index: a.next, id: id, name: name}
	a.next++
	a.calls = append(a.calls, c)
	a.Out = append(a.Out, llm.Event{Kind: llm.EventToolStart, Index: c.index, ID: id, Name: name})
}

// Args appends to the arguments of a call.
func (a *Answer) Args(key, text string) error {
	c := a.findCall(key)
	if c == nil || c.ended || text == "" {
		return nil
	}
	if c.args.Len()+len(text) > argsLimit {
		return &llm.Error{Class: llm.ClassUnknown, Message: "the arguments of a tool call are over 16 MiB"}
	}
	c.args.WriteString(text)
	a.Out = append(a.Out, llm.Event{Kind: llm.EventToolArgs, Index: c.index, Text: text})
	return nil
}

// ArgsIfNone sets the arguments of a call that has none yet, for providers that repeat the streamed arguments at the
// end.
func (a *Answer) ArgsIfNone(key, text string) error {
	if c := a.findCall(key); c == nil || c.args.Len() > 0 {
		return nil
	}
	return a.Args(key, text)
}

// EndCall ends a call; a second time it does nothing. opaque goes back to the provider with the call.
func (a *Answer) EndCall(key string, opaque any) {
	if c := a.findCall(key); c != nil {
		a.endCall(c, opaque)
	}
}

func (a *Answer) endCall(c *call, opaque any) {
	if c.ended {
		return
	}
	c.ended = true
	e := llm.Event{Kind: llm.EventToolEnd, Index: c.index, ID: c.id, Name: c.name, Args: repairArgs(c.args.String())}
	if opaque != nil {
		e.Opaque, _ = json.Marshal(opaque)
	}
	a.Out = append(a.Out, e)
}

// CompleteCall adds a call that arrives in one piece.
func (a *Answer) CompleteCall(key, id, name, args string, opaque any) error {
	a.Call(key, id, name)
	if err := a.Args(key, args); err != nil {
		return err
	}
	a.EndCall(key, opaque)
	return nil
}

// HasCalls reports whether the answer calls any tool.
func (a *Answer) HasCalls() bool { return len(a.calls) > 0 }

// HasCall reports whether a call with that key has begun.
func (a *Answer) HasCall(key string) bool { return a.findCall(key) != nil }

func (a *Answer) findCall(key string) *call {
	for _, c := range slices.Backward(a.calls) {
		if c.key == key {
			return c
		}
	}
	return nil
}

// Usage sets what the answer costs, and emits an event if that changed.
func (a *Answer) Usage(u llm.Usage) {
	if u != a.usage {
		a.usage = u
		a.Out = append(a.Out, llm.Event{Kind: llm.EventUsage, Usage: u})
	}
}

// Finish ends the open calls and the answer. An answer that stops after calling tools finishes with FinishToolCalls,
// whatever the provider says.
func (a *Answer) Finish(why llm.Finish) {
	for _, c := range a.calls {
		a.endCall(c, nil)
	}
	if why == llm.FinishStop && a.HasCalls() {
		why = llm.FinishToolCalls
	}
	a.Start("", "")
	a.Out = append(a.Out, llm.Event{Kind: llm.EventFinish, Finish: why})
}

// Take appends the events since the last Take to out.
func (a *Answer) Take(out []llm.Event) []llm.Event {
	out = append(out, a.Out...)
	a.Out = a.Out[:0]
	return out
}
