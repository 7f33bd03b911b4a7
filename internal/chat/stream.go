package chat

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
)

// This file distributes events to subscribers, who can continue after an interruption as long as the events are still
// buffered.

const (
	ringEvents = 4096
	ringBytes  = 8 << 20
	// quiet is the average time between two events with text of one turn. Pieces of text that come faster are merged.
	quiet = 16 * time.Millisecond
	// burst is how many events with text of one turn may come at once, beyond the one that the time quiet allows. Pieces that
	// arrive together, as on a busy machine, are late already and should not wait any longer.
	burst = 3
	// mergeBytes is the size at which merged pieces are published without waiting any longer.
	mergeBytes = 1 << 10
	// resumeTime is how long a client that has lost its stream may be away and go on where it was.
	resumeTime = time.Minute
)

// Kinds of event that the service itself publishes.
const (
	eventReset   = "reset"   // the client's state is too old: snapshots follow, the rest must be requested
	eventTurn    = "turn"    // Body is a turnBody
	eventSession = "session" // Body has id, and revision, which is 0 for a deleted session
)

// Event is one event of a [Subscription].
type Event struct {
	// ID is what a client passes to Subscribe to continue after losing its connection: "<run>:<n>". Among the snapshots
	// that begin a stream, only the last one has an ID, so that a client that lost the connection in between starts
	// again.
	ID      string
	Kind    string
	Session string
	// Tool names the tool that the event is about, as TOOL or TOOL.ACTION; empty if it is about none. Only clients that
	// see this tool get the event.
	Tool      string
	Body      json.RawMessage
	turn      string
	n         uint64
	size      int // in the ring, in bytes
	unencoded any // not yet encoded Body
}

// unencodedSize is the size in the ring of an event whose body is not encoded.
const unencodedSize = 256

// encodeBody encodes the body if it is not encoded yet. The caller holds the hub's mu.
func (e *Event) encodeBody() *Event {
	if e.unencoded != nil {
		e.Body, e.unencoded = encode(e.unencoded), nil
	}
	return e
}

// turnBody is the body of an event of kind [eventTurn].
type turnBody struct {
	V       int    `json:"v"`
	Seq     int64  `json:"seq"` // from 1, without gaps, in each turn
	Turn    string `json:"turnId"`
	Session string `json:"sessionId"`
	TS      int64  `json:"ts"` // Unix milliseconds
	Type    string `json:"type"`
	Data    any    `json:"data"`
}

// Filter selects the events of a subscription.
type Filter struct {
	Sessions []string // empty: all sessions, and events that belong to none
	Turn     string   // only the events of this turn; the stream ends with it
	Kinds    []string // empty: all kinds; resets are always included, where the stream has them
}

func (f *Filter) matches(e *Event) bool {
	switch {
	case f.Turn != "":
		return e.turn == f.Turn
	case len(f.Sessions) > 0 && !slices.Contains(f.Sessions, e.Session):
		return false
	}
	return len(f.Kinds) == 0 || slices.Contains(f.Kinds, e.Kind)
}

// hub distributes events to subscribers. Its lock also guards the state of running turns, so that a snapshot and the
// events after it are consistent.
type hub struct {
	run string // prefix of event ids, unique to each service

	mu     sync.Mutex
	n      uint64
	ring   []*Event // latest events, oldest first
	bytes  int
	subs   map[string]map[*Subscription]struct{} // by the Turn of their filter, which may be empty
	turns  map[string]*liveTurn
	closed bool
	// unwritten are turns that have ended but are still stored as running, because writing failed.
	unwritten map[string]*Snapshot

	// followed is set while a client subscribes to more than one turn, or did less than [resumeTime] ago. It is written
	// with mu held.
	followed atomic.Bool
	// resumable is the earliest event after which a stream of more than one turn can be resumed. Before it, no client
	// subscribed to such a stream, so events may not have been published.
	resumable uint64
	forget    *time.Timer // clears followed; nil while a client subscribes
}

func newHub() *hub {
	run := uuid.New()
	return &hub{run: fmt.Sprintf("%x", run[:6]), subs: map[string]map[*Subscription]struct{}{}, turns: map[string]*liveTurn{}, unwritten: map[string]*Snapshot{}}
}

func (h *hub) id(n uint64) string {
	var b [40]byte
	return string(strconv.AppendUint(append(append(b[:0], h.run...), ':'), n, 10))
}

// publish queues e for all subscribers whose filter matches. It does not block. The caller holds h.mu.
func (h *hub) publish(e *Event) {
	h.n++
	e.n = h.n
	e.ID = h.id(h.n)
	if e.size = len(e.Body); e.unencoded != nil {
		e.size = unencodedSize
	}
	h.ring = append(h.ring, e)
	h.bytes += e.size
	for len(h.ring) > ringEvents || h.bytes > ringBytes && len(h.ring) > 1 {
		h.bytes -= h.ring[0].size
		h.ring[0] = nil
		h.ring = h.ring[1:]
	}
	for s := range h.subs[""] {
		if s.filter.matches(e) {
			s.add(e.encodeBody())
		}
	}
	if e.turn != "" {
		for s := range h.subs[e.turn] {
			s.add(e) // encoded already, as all events of turns are
		}
	}
}

// join adds a subscriber. The caller holds h.mu.
func (h *hub) join(s *Subscription) {
	of := h.subs[s.filter.Turn]
	if of == nil {
		of = map[*Subscription]struct{}{}
		h.subs[s.filter.Turn] = of
	}
	of[s] = struct{}{}
	if s.filter.Turn != "" {
		return
	}
	if h.forget != nil {
		h.forget.Stop()
		h.forget = nil
	}
	if !h.followed.Load() {
		h.n++ // an id from before must be older than resumable, even if nothing was published since
		h.resumable = h.n
		h.followed.Store(true)
	}
}

// leave removes a subscriber. The caller holds h.mu.
func (h *hub) leave(s *Subscription) {
	of := h.subs[s.filter.Turn]
	if delete(of, s); len(of) > 0 {
		return
	}
	delete(h.subs, s.filter.Turn)
	if s.filter.Turn == "" && !h.closed && h.forget == nil {
		h.forget = time.AfterFunc(resumeTime, func() {
			h.mu.Lock()
			defer h.mu.Unlock()
			if len(h.subs[""]) == 0 {
				h.followed.Store(false)
			}
		})
	}
}

// Subscription is one client's stream of events.
type Subscription struct {
	service *Service
	filter  Filter
	ready   chan struct{} // has an element if there are events to take
	first   []*Event      // first events of the stream; only Next uses it
	taken   []*Event      // last result of Next, whose memory is reused

	// Guarded by the hub's mu.
	queue  []*Event
	bytes  int
	lagged bool // queue was dropped, so the client must start again
	closed bool
}

// add queues e. If the client is so slow that the queue would exceed the ring, it must start again.
func (s *Subscription) add(e *Event) {
	if !s.lagged {
		s.queue = append(s.queue, e)
		s.bytes += len(e.Body)
		if len(s.queue) > ringEvents || s.bytes > ringBytes && len(s.queue) > 1 {
			s.queue, s.bytes, s.lagged = nil, 0, true
		}
	}
	s.wake()
}

func (s *Subscription) wake() {
	select {
	case s.ready <- struct{}{}:
	default:
	}
}

// Latest returns the id of the last event. A stream that begins there has all events from now on.
func (s *Service) Latest() string {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	return s.hub.id(s.hub.n)
}

// Subscribe begins a stream of the events that f selects, after the event with id after. If that id is empty, of another
// run or too old, the stream begins with a reset and a snapshot of each unfinished turn; a stream of a single turn begins with
// the snapshot of that turn, without a reset. If f names a turn that does not exist, the error is of kind NotFound. For a turn
// that has ended, or that another process runs, the stream has what is stored. The caller closes the subscription.
func (s *Service) Subscribe(ctx context.Context, f Filter, after string) (*Subscription, error) {
	sub := &Subscription{service: s, filter: f, ready: make(chan struct{}, 1)}
	h := s.hub
	h.mu.Lock()
	n, known := h.parseKnownID(after)
	known = known && (f.Turn != "" || h.followed.Load() && n >= h.resumable)
	if known {
		for _, e := range h.ring {
			if e.n > n && f.matches(e) {
				sub.queue = append(sub.queue, e.encodeBody())
				sub.bytes += len(e.Body)
			}
		}
	}
	sub.closed = h.closed || f.Turn != "" && h.turns[f.Turn] == nil
	if !sub.closed {
		h.join(sub)
	}
	if known && (len(sub.queue) > 0 || !sub.closed || f.Turn == "") {
		h.mu.Unlock()
		return sub, nil
	}
	var err error
	if sub.first, err = sub.begin(ctx); err != nil {
		sub.Close()
		return nil, err
	}
	return sub, nil
}

// begin returns the first events of a stream whose earlier events are unknown. The caller holds the hub's mu, which
// begin unlocks.
func (s *Subscription) begin(ctx context.Context) (events []*Event, err error) {
	h := s.service.hub
	var snapshots []Snapshot
	for _, l := range h.turns {
		if s.filter.matches(&Event{Kind: eventTurn, Session: l.turn.Session, turn: l.turn.ID}) {
			l.publishWaiting()
			snapshots = append(snapshots, l.snapshot())
		}
	}
	s.lagged, s.queue, s.bytes = false, nil, 0
	here := h.id(h.n)
	h.mu.Unlock()

	slices.SortFunc(snapshots, func(a, b Snapshot) int { return strings.Compare(a.Turn, b.Turn) })
	if s.filter.Turn == "" {
		events = append(events, &Event{Kind: eventReset, Body: json.RawMessage(`{}`)})
	} else if len(snapshots) == 0 {
		ended, err := s.service.Turn(ctx, s.filter.Turn)
		if err != nil {
			return nil, err
		}
		snapshots = append(snapshots, ended)
	}
	for i := range snapshots {
		events = append(events, snapshotEvent(&snapshots[i]))
		if one := &snapshots[i]; one.State.Ended() {
			one.Seq++
			events = append(events, turnEvent(one, "turn.end", turnEnd{State: one.State, Finish: one.Finish, Error: one.Error}))
		}
	}
	events[len(events)-1].ID = here
	return events, nil
}

// parseKnownID returns the number in the id of an event, and whether all later events are still in the ring. The caller holds h.mu.
func (h *hub) parseKnownID(id string) (uint64, bool) {
	run, number, _ := strings.Cut(id, ":")
	n, err := strconv.ParseUint(number, 10, 64)
	oldest := h.n - uint64(len(h.ring))
	return n, err == nil && run == h.run && n >= oldest && n <= h.n
}

// Next returns the events since the last call, at least one, oldest first. It waits for them until ctx ends. After the
// last event it returns [io.EOF]. Events are shared and must not be changed; the slice is valid until the next call.
// Next must not be called concurrently.
func (s *Subscription) Next(ctx context.Context) ([]*Event, error) {
	if events := s.first; len(events) > 0 {
		s.first = nil
		return events, nil
	}
	h := s.service.hub
	for {
		h.mu.Lock()
		if s.lagged {
			events, err := s.begin(ctx)
			if err != nil { // the next call tries again
				h.mu.Lock()
				s.lagged = true
				h.mu.Unlock()
			}
			return events, err
		}
		events, ended := s.queue, s.closed
		clear(s.taken)
		s.queue, s.taken, s.bytes = s.taken[:0], events, 0
		h.mu.Unlock()
		switch {
		case len(events) > 0:
			return events, nil
		case ended:
			return nil, io.EOF
		}
		select {
		case <-s.ready:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

func snapshotEvent(s *Snapshot) *Event { return turnEvent(s, "snapshot", s) }

func turnEvent(s *Snapshot, kind string, data any) *Event {
	return &Event{Kind: eventTurn, Session: s.Session, turn: s.Turn, Body: encode(turnBody{
		V: 1, Seq: s.Seq, Turn: s.Turn, Session: s.Session, TS: time.Now().UnixMilli(), Type: kind, Data: data,
	})}
}

// Close ends the stream: Next then returns [io.EOF].
func (s *Subscription) Close() {
	s.service.hub.mu.Lock()
	defer s.service.hub.mu.Unlock()
	s.end()
}

// end is like Close for callers that hold the hub's mu.
func (s *Subscription) end() {
	s.service.hub.leave(s)
	s.closed = true
	s.wake()
}

// Followed reports whether a client subscribes to more than one turn, or did within the last minute and may resume.
// Otherwise events need not be published, because a later subscriber starts with a reset. It is cheap enough for
// every call of a tool.
func (s *Service) Followed() bool { return s.hub.followed.Load() }

// Publish publishes an event that is not part of a turn, such as a started call or a changed server state. body is
// encoded as JSON, possibly later, so it must not be changed. session and about, the event's Tool, may be empty. Publish
// does not block. An event without subscribers is not encoded, but kept in the ring for clients that reconnect.
func (s *Service) Publish(kind, session, about string, body any) {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	s.hub.publish(&Event{Kind: kind, Session: session, Tool: about, unencoded: body})
}
