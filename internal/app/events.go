package app

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

// maxQueuedCalls is how many events about calls may wait; the oldest are dropped. Each keeps arguments and result in
// memory.
const maxQueuedCalls = 256

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

// eventForwarder publishes on the event stream what happens outside of turns.
type eventForwarder struct {
	to      *chat.Service
	started *event.Subscription[*tool.Call]
	done    *event.Subscription[tool.CallDone]
	asked   *event.Subscription[gate.Asked]
	states  *event.Subscription[upstream.StateChange]
	unwatch func()
	ended   sync.WaitGroup
}

// forwardEvents starts publishing events on s. The caller closes the result.
func (a *App) forwardEvents(s *chat.Service) *eventForwarder {
	t := &eventForwarder{
		to: s, started: a.started.Subscribe(maxQueuedCalls), done: a.Events.Subscribe(maxQueuedCalls), asked: a.asked.Subscribe(maxQueuedCalls),
		states: a.states.Subscribe(maxQueuedStates),
	}
	t.ended.Go(t.calls)
	t.ended.Go(t.servers)
	t.unwatch = a.catalog.Watch(func(c tool.Change) {
		switch c.Kind {
		case tool.ToolsChanged, tool.ResourcesChanged, tool.PromptsChanged:
			s.Publish(eventCatalog, "", "", catalogEvent{List: c.Kind})
		case tool.ResourceUpdated, tool.LogMessage, tool.Notice: // they carry content, and are for subscribers of the resource or log only
		}
	})
	return t
}

// close publishes the events so far, and stops.
func (t *eventForwarder) close() {
	t.unwatch()
	t.started.Close()
	t.done.Close()
	t.asked.Close()
	t.states.Close()
	t.ended.Wait()
}

// servers publishes states of servers until the subscription is closed. Only clients that see the server's tool get
// them.
func (t *eventForwarder) servers() {
	for c := range t.states.C() {
		t.to.Publish(eventServer, "", c.Server, serverEvent{
			Server: c.Server, State: c.State, Since: c.Since, Reason: c.Reason, Attempt: c.Failures, NextRetry: c.NextRetry,
		})
	}
}

// calls publishes events about calls until all subscriptions are closed. The events of one call stay in order: before a
// later one, calls publishes the earlier ones that are already queued.
func (t *eventForwarder) calls() {
	started, asked, done := t.started.C(), t.asked.C(), t.done.C()
	starts := func() {
		for n := len(started); n > 0; n-- {
			if c, ok := <-started; ok {
				t.call(eventCallStarted, *c, callEvent{})
			}
		}
	}
	asks := func() {
		for n := len(asked); n > 0; n-- {
			if q, ok := <-asked; ok {
				t.person(q)
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
			t.call(eventCallStarted, *c, callEvent{})
		case q, ok := <-asked:
			if !ok {
				asked = nil
				continue
			}
			starts()
			t.person(q)
		case d, ok := <-done:
			if !ok {
				done = nil
				continue
			}
			starts()
			asks()
			ms := d.Duration.Milliseconds()
			t.call(eventCallDone, d.Call, callEvent{Outcome: d.Outcome, Millis: &ms})
		}
	}
}

func (t *eventForwarder) person(q *gate.Asked) {
	if q.Code != "" {
		return // it may be answered long after the call has ended
	}
	kind := eventAsked
	if q.Answer != "" {
		kind = eventAnswered
	}
	t.call(kind, q.Call, callEvent{Answer: q.Answer})
}

func (t *eventForwarder) call(kind string, c *tool.Call, e callEvent) {
	e.ID, e.Tool, e.Origin = c.ID, c.Subject(), c.Origin
	if c.Action != nil {
		e.Class = c.Action.Class()
	}
	session := ""
	if c.Origin == tool.Chat {
		session = c.Session // the id of a conversation; an MCP client's session id is secret
	}
	t.to.Publish(kind, session, e.Tool, e)
}
