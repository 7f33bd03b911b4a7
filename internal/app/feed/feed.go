// Package feed publishes what happens outside of turns on the event stream of package chat: calls, questions to people,
// changed lists, and states of servers. Browsers follow that stream. The entry point is [Start].
package feed

import (
	"sync"
	"time"

	"collie/internal/chat"
	"collie/internal/event"
	"collie/internal/pipeline/gate"
	"collie/internal/source/upstream"
	"collie/internal/tool"
)

// The kinds of event that are not about conversations.
const (
	eventCallStarted = "call.started"
	eventCallDone    = "call.done"
	eventAsked       = "person.asked"
	eventAnswered    = "person.answered"
	eventCatalog     = "catalog"
	eventServer      = "server.state"
)

// MaxQueuedCalls is how many events about calls may wait; the oldest are dropped. Each keeps arguments and result in
// memory.
const MaxQueuedCalls = 256

// maxQueuedStates is how many states of servers may wait; the oldest are dropped.
const maxQueuedStates = 1024

// callEvent is the body of an event about a call. It holds names and ids, but never arguments or results.
type callEvent struct {
	ID      string       `json:"callId"`
	Tool    string       `json:"tool"`
	Class   tool.Class   `json:"class,omitempty"`
	Origin  tool.Origin  `json:"origin"`
	Outcome tool.Outcome `json:"outcome,omitempty"`
	Millis  *int64       `json:"ms,omitempty"`
	Answer  string       `json:"answer,omitempty"` // of a person: yes, no, or none
}

// catalogEvent is the body of an event about a changed list. It does not name the source, since not every subscriber
// may see that.
type catalogEvent struct {
	List tool.ChangeKind `json:"list"`
}

// serverEvent is the body of an event about the state of a server. It has no error text, which may quote the server and
// is not for every subscriber.
type serverEvent struct {
	Server    string     `json:"server"`
	State     tool.State `json:"state"`
	Since     time.Time  `json:"since"`
	Reason    string     `json:"reason,omitempty"`     // a stable code
	Attempt   int        `json:"attempt,omitempty"`    // failures in a row; with state ready, those it recovered from
	NextRetry time.Time  `json:"nextRetryAt,omitzero"` // when it is started again, or calls are allowed again
}

// Sources are what a [Feed] publishes. All are needed.
type Sources struct {
	Started *event.Bus[*tool.Call]
	Done    *event.Bus[tool.CallDone]
	Asked   *event.Bus[gate.Asked]
	States  *event.Bus[upstream.StateChange]
	// Watch calls told for each change of the catalog until the returned function is called.
	Watch func(told func(tool.Change)) (stop func())
}

// Feed publishes events until it is closed.
type Feed struct {
	to      *chat.Service
	started *event.Subscription[*tool.Call]
	done    *event.Subscription[tool.CallDone]
	asked   *event.Subscription[gate.Asked]
	states  *event.Subscription[upstream.StateChange]
	unwatch func()
	ended   sync.WaitGroup
}

// Start starts publishing events on s. Starts and ends of calls are published only while a client follows s, because most
// calls are made with no browser open. The caller closes the Feed.
func Start(s *chat.Service, from Sources) *Feed {
	f := &Feed{
		to:      s,
		started: from.Started.SubscribeTo(MaxQueuedCalls, func(**tool.Call) bool { return s.Followed() }),
		done:    from.Done.SubscribeTo(MaxQueuedCalls, func(*tool.CallDone) bool { return s.Followed() }),
		asked:   from.Asked.Subscribe(MaxQueuedCalls),
		states:  from.States.Subscribe(maxQueuedStates),
	}
	f.ended.Go(f.calls)
	f.ended.Go(f.servers)
	f.unwatch = from.Watch(func(c tool.Change) {
		switch c.Kind {
		case tool.ToolsChanged, tool.ResourcesChanged, tool.PromptsChanged:
			s.Publish(eventCatalog, "", "", catalogEvent{List: c.Kind})
		case tool.ResourceUpdated, tool.LogMessage, tool.Notice: // they carry content, and are for subscribers of the resource or log only
		}
	})
	return f
}

// Close publishes the events so far, and stops.
func (f *Feed) Close() {
	f.unwatch()
	f.started.Close()
	f.done.Close()
	f.asked.Close()
	f.states.Close()
	f.ended.Wait()
}

// servers publishes states of servers until the subscription is closed. Only clients that see the server's tool get
// them.
func (f *Feed) servers() {
	for c := range f.states.C() {
		f.to.Publish(eventServer, "", c.Server, serverEvent{
			Server: c.Server, State: c.State, Since: c.Since, Reason: c.Reason, Attempt: c.Failures, NextRetry: c.NextRetry,
		})
	}
}

// calls publishes events about calls until all subscriptions are closed. The events of one call stay in order: before a
// later one, calls publishes the earlier ones that are already queued.
func (f *Feed) calls() {
	started, asked, done := f.started.C(), f.asked.C(), f.done.C()
	starts := func() {
		for n := len(started); n > 0; n-- {
			if c, ok := <-started; ok {
				f.call(eventCallStarted, *c, callEvent{})
			}
		}
	}
	asks := func() {
		for n := len(asked); n > 0; n-- {
			if q, ok := <-asked; ok {
				f.person(q)
			}
		}
	}
	for started != nil || asked != nil || done != nil {
		select {
		case c, ok := <-started:
			if !ok {
				started = nil
				continue
			}
			f.call(eventCallStarted, *c, callEvent{})
		case q, ok := <-asked:
			if !ok {
				asked = nil
				continue
			}
			starts()
			f.person(q)
		case d, ok := <-done:
			if !ok {
				done = nil
				continue
			}
			starts()
			asks()
			ms := d.Duration.Milliseconds()
			f.call(eventCallDone, d.Call, callEvent{Outcome: d.Outcome, Millis: &ms})
		}
	}
}

// person publishes that a person is asked about a call, or has answered.
func (f *Feed) person(q *gate.Asked) {
	if q.Code != "" {
		return // it may be answered long after the call has ended
	}
	kind := eventAsked
	if q.Answer != "" {
		kind = eventAnswered
	}
	f.call(kind, q.Call, callEvent{Answer: q.Answer})
}

// call publishes an event about a call, after filling in what e says of the call itself.
func (f *Feed) call(kind string, c *tool.Call, e callEvent) {
	e.ID, e.Tool, e.Origin = c.ID, c.Subject(), c.Origin
	if c.Action != nil {
		e.Class = c.Action.Class()
	}
	session := ""
	if c.Origin == tool.Chat {
		session = c.Session // the id of a conversation; an MCP client's session id is secret
	}
	f.to.Publish(kind, session, e.Tool, e)
}
