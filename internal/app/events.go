package app

import (
	"sync"

	"collie/internal/chat"
	"collie/internal/event"
	"collie/internal/tool"
)

// The kinds of event that are not about conversations.
const (
	eventCallStarted = "call.started"
	eventCallDone    = "call.done"
	eventCatalog     = "catalog"
)

// mostCalls is how many calls wait to be told; of more, the oldest are not told. Each keeps its arguments and result until then.
const maxQueuedCalls = 256

// callEvent is the body of an event about a call. It has names and ids, never arguments or results.
type callEvent struct {
	ID      string       `json:"callId"`
	Tool    string       `json:"tool"`
	Origin  tool.Origin  `json:"origin"`
	Outcome tool.Outcome `json:"outcome,omitempty"`
	Millis  *int64       `json:"ms,omitempty"`
}

// catalogEvent is the body of an event about a changed list. It does not name the source, since not every subscriber
// may see that.
type catalogEvent struct {
	List   tool.ChangeKind `json:"list"`
	Source string          `json:"source,omitempty"`
}

// teller passes on to the event stream what happens outside of turns.
type eventForwarder struct {
	to      *chat.Service
	started *event.Subscription[*tool.Call]
	done    *event.Subscription[tool.CallDone]
	unwatch func()
	ended   sync.WaitGroup
}

// tell begins to pass events on to s; the caller closes what it returns.
func (a *App) tell(s *chat.Service) *eventForwarder {
	t := &eventForwarder{to: s, started: a.started.Subscribe(maxQueuedCalls), done: a.Events.Subscribe(maxQueuedCalls)}
	t.ended.Go(t.calls)
	t.unwatch = a.catalog.Watch(func(c tool.Change) {
		switch c.Kind {
		case tool.ToolsChanged, tool.ResourcesChanged, tool.PromptsChanged:
			s.Publish(eventCatalog, "", catalogEvent{List: c.Kind, Source: c.Source})
		case tool.ResourceUpdated, tool.LogMessage, tool.Notice: // they carry content, for who asked for it
		}
	})
	return t
}

// close passes on what has been published so far.
func (t *eventForwarder) close() {
	t.unwatch()
	t.started.Close()
	t.done.Close()
	t.ended.Wait()
}

// calls passes on calls until both subscriptions are closed.
func (t *eventForwarder) calls() {
	started, done := t.started.C(), t.done.C()
	for started != nil || done != nil {
		select {
		case c, ok := <-started:
			if !ok {
				started = nil
				continue
			}
			t.call(eventCallStarted, *c, nil)
		case d, ok := <-done:
			if !ok {
				done = nil
				continue
			}
			for n := len(started); n > 0; n-- { // its own start is there already, and goes first
				if c, ok := <-started; ok {
					t.call(eventCallStarted, *c, nil)
				}
			}
			t.call(eventCallDone, d.Call, d)
		}
	}
}

func (t *eventForwarder) call(kind string, c *tool.Call, done *tool.CallDone) {
	e, session := callEvent{ID: c.ID, Tool: c.Subject(), Origin: c.Origin}, ""
	if c.Origin == tool.Chat {
		session = c.Session // the id of a conversation; an MCP client's session id is secret
	}
	if done != nil {
		ms := done.Duration.Milliseconds()
		e.Outcome, e.Millis = done.Outcome, &ms
	}
	t.to.Publish(kind, session, e)
}
