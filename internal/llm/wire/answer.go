package wire

import (
	"encoding/json"
	"slices"
	"strings"

	"collie/internal/llm"
)

// argsLimit is what the arguments of one call may hold, in bytes.
const argsLimit = 16 << 20

// Answer writes the events of one answer in their order, for decoders: it counts parts, keeps the pieces of
// calls, and gives tools their own names back. The zero value is an answer that has not begun.
type Answer struct {
	Names map[string]string // of tools, ours by theirs
	Out   []llm.Event       // what has been written; its reader empties it

	started bool
	open    llm.EventKind // what the last part is, if more can be added to it
	next    int           // the index of the next part
	calls   []*call
	usage   llm.Usage
}

// call is a call that may still get arguments.
type call struct {
	key   string // by which the provider names it in this answer
	index int
	id    string
	name  string
	args  strings.Builder
	ended bool
}

// Start begins the answer; once is enough.
func (a *Answer) Start(model, id string) {
	if !a.started {
		a.started = true
		a.Out = append(a.Out, llm.Event{Kind: llm.EventStart, Model: model, ID: id})
	}
}

// Text adds text, to the last part if that is text.
func (a *Answer) Text(text string) {
	if text == "" {
		return
	}
	a.Out = append(a.Out, llm.Event{Kind: llm.EventText, Index: a.part(llm.EventText), Text: text})
}

// Reasoning adds thoughts, to the last part if that is thoughts. With opaque that part is closed.
func (a *Answer) Reasoning(text string, opaque any) {
	e := llm.Event{Kind: llm.EventReasoning, Text: text}
	if opaque != nil {
		e.Opaque, _ = json.Marshal(opaque)
	}
	if text == "" && opaque == nil {
		return
	}
	e.Index = a.part(llm.EventReasoning)
	if opaque != nil {
		a.open = ""
	}
	a.Out = append(a.Out, e)
}

// Close ends the last part, so that what comes next is a part of its own.
func (a *Answer) Close() { a.open = "" }

// part returns the index of the part of a kind that is being written.
func (a *Answer) part(kind llm.EventKind) int {
	if a.open != kind {
		a.open = kind
		a.next++
	}
	return a.next - 1
}

// Call begins the call that the provider names key in this answer. The id may be empty.
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

// Args adds to the arguments of a call.
func (a *Answer) Args(key, text string) error {
	c := a.find(key)
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

// ArgsIfNone adds all arguments of a call that has none, for providers that repeat at the end what came in pieces.
func (a *Answer) ArgsIfNone(key, text string) error {
	if c := a.find(key); c == nil || c.args.Len() > 0 {
		return nil
	}
	return a.Args(key, text)
}

// EndCall ends a call; twice does nothing. Opaque goes back to the provider with the call.
func (a *Answer) EndCall(key string, opaque any) {
	if c := a.find(key); c != nil {
		a.end(c, opaque)
	}
}

func (a *Answer) end(c *call, opaque any) {
	if c.ended {
		return
	}
	c.ended = true
	e := llm.Event{Kind: llm.EventToolEnd, Index: c.index, ID: c.id, Name: c.name, Args: repair(c.args.String())}
	if opaque != nil {
		e.Opaque, _ = json.Marshal(opaque)
	}
	a.Out = append(a.Out, e)
}

// Whole writes a call that comes in one piece.
func (a *Answer) Whole(key, id, name, args string, opaque any) error {
	a.Call(key, id, name)
	if err := a.Args(key, args); err != nil {
		return err
	}
	a.EndCall(key, opaque)
	return nil
}

// Called says whether the answer calls a tool.
func (a *Answer) Called() bool { return len(a.calls) > 0 }

// Has says whether a call of that key has begun.
func (a *Answer) Has(key string) bool { return a.find(key) != nil }

func (a *Answer) find(key string) *call {
	for _, c := range slices.Backward(a.calls) {
		if c.key == key {
			return c
		}
	}
	return nil
}

// Usage notes what the answer costs; it is told when it changes.
func (a *Answer) Usage(u llm.Usage) {
	if u != a.usage {
		a.usage = u
		a.Out = append(a.Out, llm.Event{Kind: llm.EventUsage, Usage: u})
	}
}

// Finish ends the calls that are open, and the answer. One that stops with calls ends for their sake, whatever
// the provider says.
func (a *Answer) Finish(why llm.Finish) {
	for _, c := range a.calls {
		a.end(c, nil)
	}
	if why == llm.FinishStop && a.Called() {
		why = llm.FinishToolCalls
	}
	a.Start("", "")
	a.Out = append(a.Out, llm.Event{Kind: llm.EventFinish, Finish: why})
}

// Take returns out with what has been written since the last Take.
func (a *Answer) Take(out []llm.Event) []llm.Event {
	out = append(out, a.Out...)
	a.Out = a.Out[:0]
	return out
}
