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
	"time"

	"github.com/google/uuid"
)

const (
	ringEvents = 4096
	ringBytes  = 8 << 20
	// quiet is how long a turn must have told nothing for a piece of text to go out at once; pieces in between go together.
	quiet = 16 * time.Millisecond
	// mergeBytes is when pieces go out before that.
	mergeBytes = 1 << 10
)

// The kinds of event that the service itself publishes.
const (
	eventReset   = "reset"   // what the client knows is too old: snapshots follow, all else is to be asked for
	eventTurn    = "turn"    // Body is a turnBody
	eventSession = "session" // Body has id, and revision, which is 0 where it was deleted
)

// Event is what a [Subscription] yields.
type Event struct {
	// ID is where a client goes on that lost its connection: "<run>:<n>". It is empty for all but the last of the snapshots
	// that begin a stream, so that one that was lost in between begins anew.
	ID      string
	Kind    string
	Session string
	// Tool is what it is about, as TOOL or TOOL.ACTION, for those who see that; empty where it is about none.
	Tool  string
	Body  json.RawMessage
	turn  string
	n     uint64
	size  int // in the ring
	later any // what Body is encoded from once somebody takes it
}

// laterSize is what an event counts in the ring whose body is not encoded.
const laterSize = 256

// whole encodes what is not yet. The caller holds the hub's mu.
func (e *Event) whole() *Event {
	if e.later != nil {
		e.Body, e.later = encode(e.later), nil
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

// Filter says which events a subscription has.
type Filter struct {
	Sessions []string // none: all, and what concerns no session
	Turn     string   // one turn: its events alone, and the stream ends with it
	Kinds    []string // none: all; resets come in any case
}

func (f *Filter) has(e *Event) bool {
	switch {
	case f.Turn != "":
		return e.turn == f.Turn
	case len(f.Sessions) > 0 && !slices.Contains(f.Sessions, e.Session):
		return false
	}
	return len(f.Kinds) == 0 || slices.Contains(f.Kinds, e.Kind)
}

// hub hands events to subscribers. Its lock guards the state of the turns that run too, so that a snapshot and the events
// after it fit together.
type hub struct {
	run string // of ids, another one for each service

	mu     sync.Mutex
	n      uint64
	ring   []*Event // the last ones, oldest first
	bytes  int
	subs   map[string]map[*Subscription]struct{} // by the one turn that they want, empty for those that want more
	turns  map[string]*live
	closed bool
	// unwritten are turns that have ended, and stand in the file as running because that could not be written.
	unwritten map[string]*Snapshot
}

func newHub() *hub {
	run := uuid.New()
	return &hub{run: fmt.Sprintf("%x", run[:6]), subs: map[string]map[*Subscription]struct{}{}, turns: map[string]*live{}, unwritten: map[string]*Snapshot{}}
}

func (h *hub) id(n uint64) string {
	var b [40]byte
	return string(strconv.AppendUint(append(append(b[:0], h.run...), ':'), n, 10))
}

// publish hands e to whoever has it in its filter. The caller holds h.mu, and never waits here.
func (h *hub) publish(e *Event) {
	h.n++
	e.n = h.n
	e.ID = h.id(h.n)
	if e.size = len(e.Body); e.later != nil {
		e.size = laterSize
	}
	h.ring = append(h.ring, e)
	h.bytes += e.size
	for len(h.ring) > ringEvents || h.bytes > ringBytes && len(h.ring) > 1 {
		h.bytes -= h.ring[0].size
		h.ring[0] = nil
		h.ring = h.ring[1:]
	}
	for s := range h.subs[""] {
		if s.filter.has(e) {
			s.add(e.whole())
		}
	}
	if e.turn != "" {
		for s := range h.subs[e.turn] {
			s.add(e)
		}
	}
}

// join adds s to those that are told. The caller holds h.mu.
func (h *hub) join(s *Subscription) {
	of := h.subs[s.filter.Turn]
	if of == nil {
		of = map[*Subscription]struct{}{}
		h.subs[s.filter.Turn] = of
	}
	of[s] = struct{}{}
}

// leave is the end of join.
func (h *hub) leave(s *Subscription) {
	of := h.subs[s.filter.Turn]
	if delete(of, s); len(of) == 0 {
		delete(h.subs, s.filter.Turn)
	}
}

// Subscription is one client's stream of events.
type Subscription struct {
	service *Service
	filter  Filter
	ready   chan struct{} // has one where there is something to take
	first   []*Event      // what it begins with, for Next alone
	taken   []*Event      // what Next answered with last, whose room is used again

	// Guarded by the hub's mu.
	queue  []*Event
	bytes  int
	lagged bool // what was in queue is dropped: the client begins anew
	closed bool
}

// add queues e. A client that is too slow for as much as the ring holds begins anew.
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

// Latest returns the id of the last event, from which a stream can begin before what follows is caused.
func (s *Service) Latest() string {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	return s.hub.id(s.hub.n)
}

// Subscribe begins a stream of what f lets through, after the event with the id after. Where that id is not known any more, is
// of another run, or is empty, the stream begins with a reset and a snapshot of each turn that has not ended. A filter for a
// turn that does not exist is an error of kind NotFound; the stream of one that has ended, or that another process runs, is
// what the file has of it. The caller closes the subscription.
func (s *Service) Subscribe(ctx context.Context, f Filter, after string) (*Subscription, error) {
	sub := &Subscription{service: s, filter: f, ready: make(chan struct{}, 1)}
	h := s.hub
	h.mu.Lock()
	n, known := h.known(after)
	if known {
		for _, e := range h.ring {
			if e.n > n && f.has(e) {
				sub.queue = append(sub.queue, e.whole())
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

// begin is what a stream begins with where what was before is not known. The caller holds the hub's mu, which begin frees.
func (s *Subscription) begin(ctx context.Context) (events []*Event, err error) {
	h := s.service.hub
	var snapshots []Snapshot
	for _, l := range h.turns {
		if s.filter.has(&Event{Kind: eventTurn, Session: l.turn.Session, turn: l.turn.ID}) {
			l.flush()
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

// known returns the number of an id whose followers are all in the ring. The caller holds h.mu.
func (h *hub) known(id string) (uint64, bool) {
	run, number, _ := strings.Cut(id, ":")
	n, err := strconv.ParseUint(number, 10, 64)
	oldest := h.n - uint64(len(h.ring))
	return n, err == nil && run == h.run && n >= oldest && n <= h.n
}

// Next returns the events that have come since the last call, at least one, oldest first. It waits for them until ctx ends.
// After the last one it answers [io.EOF]. Events are shared: nobody changes them, and the list of them is valid until the next
// call. It is for one goroutine.
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
			if err != nil { // it is to begin at the next call
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

// Close ends the stream: Next answers [io.EOF].
func (s *Subscription) Close() {
	s.service.hub.mu.Lock()
	defer s.service.hub.mu.Unlock()
	s.end()
}

// end is Close for who holds the hub's mu.
func (s *Subscription) end() {
	s.service.hub.leave(s)
	s.closed = true
	s.wake()
}

// Publish tells subscribers of something outside of turns: a call that started, a server whose state changed. body has a JSON
// form and does not change any more; session and about, the Tool of the event, are empty where it concerns none. It never waits
// for who listens. What nobody takes is never encoded: it is kept all the same, for a client that comes back and asks for what it missed.
func (s *Service) Publish(kind, session, about string, body any) {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	s.hub.publish(&Event{Kind: kind, Session: session, Tool: about, later: body})
}
