package tooltest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"collie/internal/tool"
)

// This file has an in-memory source for tests.

// Fake is an in-memory source that a test scripts. It passes the suite like any other source, records what it
// is asked, and is safe for concurrent use.
type Fake struct {
	name    string
	offer   atomic.Pointer[tool.Offer]
	started chan struct{}
	start   sync.Once

	mu       sync.Mutex
	answers  map[string]tool.Runner // by target
	calls    []tool.Call
	subs     map[string]bool
	asked    []string // calls of Subscribe and Unsubscribe, in order
	levels   []string
	watchers map[int]func(tool.Change)
	next     int

	deliver sync.Mutex // held while watchers are called
}

var (
	_ tool.Peer      = (*Fake)(nil)
	_ tool.Refresher = (*Fake)(nil)
)

// NewFake returns a source of that name that is ready and offers offer. By default an action answers with its
// arguments as text, a resource with its URI and a prompt with its name; [Fake.On] changes that.
func NewFake(name string, offer tool.Offer) *Fake {
	f := NewStarting(name)
	f.Publish(offer)
	return f
}

// NewStarting returns a source that offers nothing and is not ready until its first [Fake.Publish] or
// [Fake.Fail].
func NewStarting(name string) *Fake {
	f := &Fake{
		name: name, started: make(chan struct{}),
		answers: map[string]tool.Runner{}, subs: map[string]bool{}, watchers: map[int]func(tool.Change){},
	}
	f.offer.Store(&tool.Offer{})
	return f
}

// Name implements [tool.Source].
func (f *Fake) Name() string { return f.name }

// Offer returns what was published last.
func (f *Fake) Offer() *tool.Offer { return f.offer.Load() }

// Listed does nothing, since the offer is never out of date.
func (f *Fake) Listed(tool.ListKind, func() bool) {}

// Ready returns a channel that is closed by the first Publish or Fail.
func (f *Fake) Ready(tool.ListKind) <-chan struct{} { return f.started }

// Current returns c.Action.
func (f *Fake) Current(_ context.Context, c *tool.Call) (*tool.Action, error) { return c.Action, nil }

// Listens returns false: there is no program behind a Fake.
func (f *Fake) Listens() bool { return false }

// Owns returns false.
func (f *Fake) Owns(*tool.Message) bool { return false }

// Tell drops m.
func (f *Fake) Tell(*tool.Message) {}

// SetSessions does nothing.
func (f *Fake) SetSessions([]*tool.Session) {}

// Fail ends the start without an offer.
func (f *Fake) Fail() { f.start.Do(func() { close(f.started) }) }

// Publish replaces the offer and tells the watchers that the lists of these kinds changed; without kinds, all
// three.
func (f *Fake) Publish(offer tool.Offer, kinds ...tool.ChangeKind) {
	f.offer.Store(&offer)
	f.Fail()
	if len(kinds) == 0 {
		kinds = []tool.ChangeKind{tool.ToolsChanged, tool.ResourcesChanged, tool.PromptsChanged}
	}
	for _, kind := range kinds {
		f.Report(tool.Change{Kind: kind})
	}
}

// Report sends the watchers a change in the source's name.
func (f *Fake) Report(ch tool.Change) {
	ch.Source = f.name
	f.deliver.Lock()
	defer f.deliver.Unlock()
	f.mu.Lock()
	list := slices.Collect(maps.Values(f.watchers))
	f.mu.Unlock()
	for _, w := range list {
		w(ch)
	}
}

// Touch reports an update of a resource, if anybody is subscribed to it.
func (f *Fake) Touch(uri string) {
	if slices.Contains(f.Subscribed(), uri) {
		f.Report(tool.Change{
			Kind: tool.ResourceUpdated, Method: "notifications/resources/updated",
			Params: json.RawMessage(`{"uri":` + quote(uri) + `}`), URI: uri,
		})
	}
}

// Watch implements [tool.Source].
func (f *Fake) Watch(w func(tool.Change)) (stop func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next++
	id := f.next
	f.watchers[id] = w
	return func() {
		f.mu.Lock()
		delete(f.watchers, id)
		f.mu.Unlock()
		f.deliver.Lock() // wait for a call that is in progress
		defer f.deliver.Unlock()
	}
}

// Watchers returns the number of watchers.
func (f *Fake) Watchers() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.watchers)
}

// On sets what answers calls of a target: an action's own name, a URI or a prompt.
func (f *Fake) On(target string, run tool.Runner) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answers[target] = run
}

// Hang makes calls of a target last until their context ends.
func (f *Fake) Hang(target string) {
	f.On(target, func(ctx context.Context, c *tool.Call) (tool.Result, error) {
		<-ctx.Done()
		return tool.Result{}, endedError(ctx, c)
	})
}

// Calls returns copies of all calls so far, in order.
func (f *Fake) Calls() []tool.Call {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.calls)
}

// Run implements [tool.Source].
func (f *Fake) Run(ctx context.Context, c *tool.Call) (tool.Result, error) {
	f.mu.Lock()
	f.calls = append(f.calls, *c)
	run := f.answers[c.Target]
	f.mu.Unlock()
	if ctx.Err() != nil {
		return tool.Result{}, endedError(ctx, c)
	}
	if run == nil {
		run = f.answer
	}
	return run(ctx, c)
}

// answer runs a call that no test scripted: it returns the default answer.
func (f *Fake) answer(_ context.Context, c *tool.Call) (tool.Result, error) {
	offer := f.Offer()
	switch c.Kind {
	case tool.KindCall:
		for i := range offer.Tools {
			for j := range offer.Tools[i].Actions {
				if offer.Tools[i].Actions[j].Name == c.Target {
					return Text(string(c.Args)), nil
				}
			}
		}
	case tool.KindRead:
		for _, r := range offer.Resources {
			if r.URI == c.Target {
				return Contents(c.Target, "contents of "+c.Target), nil
			}
		}
		return tool.Result{}, tool.NewProtocolError(-32002, "Resource not found", nil)
	case tool.KindPrompt:
		for _, p := range offer.Prompts {
			if p.Name == c.Target {
				return raw(`{"messages":[{"role":"user","content":{"type":"text","text":%s}}]}`, quote(p.Name)), nil
			}
		}
	case tool.KindComplete:
		return raw(`{"completion":{"values":[%s],"hasMore":false}}`, quote(c.Target)), nil
	case tool.KindRequest:
	}
	return tool.Result{}, tool.NewProtocolError(-32602, fmt.Sprintf("unknown %s %q", c.Kind, c.Target), nil)
}

// endedError returns the error for a call whose context has ended.
func endedError(ctx context.Context, c *tool.Call) error {
	return &tool.Error{Op: "call", Kind: tool.Canceled, Subject: c.Name, Err: context.Cause(ctx)}
}

// Subscribe implements [tool.Peer].
func (f *Fake) Subscribe(_ context.Context, uri string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.subs[uri] = true
	f.asked = append(f.asked, "subscribe "+uri)
	return nil
}

// Unsubscribe implements [tool.Peer].
func (f *Fake) Unsubscribe(_ context.Context, uri string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.subs, uri)
	f.asked = append(f.asked, "unsubscribe "+uri)
	return nil
}

// Subscribed returns what is subscribed to now, sorted.
func (f *Fake) Subscribed() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Sorted(maps.Keys(f.subs))
}

// Asked returns all Subscribe and Unsubscribe calls so far, as "subscribe URI".
func (f *Fake) Asked() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.asked)
}

// SetLevel implements [tool.Peer].
func (f *Fake) SetLevel(_ context.Context, level string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.levels = append(f.levels, level)
	return nil
}

// Levels returns all levels that were set, in order.
func (f *Fake) Levels() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.levels)
}
