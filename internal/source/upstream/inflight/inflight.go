// Package inflight keeps the calls in flight on one connection to an MCP server: their time limits, their progress,
// the server's questions that belong to them, and the ids that client and server use for them, which differ. It does
// not know servers or connections themselves.
package inflight

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"collie/internal/mcp"
	"collie/internal/tool"
	"collie/internal/units"
)

// Calls holds the calls in flight on one connection. A connection with calls counts as in use; a retired one takes no
// more. It is safe for concurrent use.
type Calls struct {
	lastToken atomic.Uint64

	mu      sync.Mutex
	byID    map[uint64]*Call // by the progress token that we gave the server
	last    time.Time        // end of the last call, or begin of the connection
	retired bool             // takes no more calls
	ended   chan struct{}    // closed when the last call of a retired connection has ended; nil before it is retired
	watch   *time.Timer      // ends calls that take too long; runs while there are calls
	watched bool             // watch is set
	limit   time.Duration    // limit of the call added last
}

// New returns the calls of a connection that begins now.
func New(now time.Time) *Calls { return &Calls{last: now, byID: map[uint64]*Call{}} }

// Call is one call in flight: whom to notify, whom to ask, and its deadline.
type Call struct {
	Request *tool.Call
	Caller  tool.Caller     // never nil
	Token   json.RawMessage // the caller's progress token; nil for none
	Seq     uint64          // our progress token for the server; rises from call to call
	Wire    atomic.Uint64   // id of the request on the link; 0 before it is sent

	limit       time.Duration
	begun       time.Time
	cancel      context.CancelCauseFunc // cancels the call's context; see [Call.End]
	ownsContext bool                    // the context was made here

	asking sync.WaitGroup // questions of the server that belong to the call

	mu             sync.Mutex
	ended          bool                                  // takes no more questions
	asked          map[*context.CancelCauseFunc]struct{} // open questions
	due            time.Time                             // deadline; progress extends it
	paused         int
	progress       float64
	reported       bool
	rateWindow     time.Time       // begin of the current second of progressRate
	forwarded      int             // notifications passed on in that second
	latestProgress json.RawMessage // latest progress that is not passed on yet
}

// ErrOver is the cause with which the questions of an ended call are canceled.
var ErrOver = errors.New("the call that asked is over")

// progressRate bounds the progress notifications passed on per second. The last one of a call is always passed on.
const progressRate = 10

// noCaller is the Caller of a call that nobody waits for.
type noCaller struct{}

func (noCaller) ID() string                                      { return "" }
func (noCaller) Supports(tool.Capability) bool                   { return false }
func (noCaller) Capabilities() json.RawMessage                   { return json.RawMessage("{}") }
func (noCaller) Notify(context.Context, string, json.RawMessage) {}
func (noCaller) Ask(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	return nil, tool.NewProtocolError(mcp.CodeMethodNotFound, "nobody can be asked", nil)
}

// Add registers a call. The returned context ends when the call takes longer than limit. It is the call's own context
// if that can be ended from outside, since making another one would cost more than everything else here. The caller
// must call Remove. Add returns a nil Call if the connection is retired.
func (t *Calls) Add(ctx context.Context, call *tool.Call, limit time.Duration) (context.Context, *Call) {
	now := time.Now()
	f := &Call{Request: call, Caller: call.Caller, limit: limit, begun: now, due: now.Add(limit)}
	if f.Caller == nil {
		f.Caller = noCaller{}
	}
	f.Token = TokenOf(call)
	outer := ctx
	if f.cancel = call.Cancel; f.cancel == nil {
		ctx, f.cancel = context.WithCancelCause(ctx)
		f.ownsContext = true
	}
	f.Seq = t.lastToken.Add(1)
	t.mu.Lock()
	if t.retired {
		t.mu.Unlock()
		f.release()
		return outer, nil
	}
	t.byID[f.Seq], t.limit = f, limit
	if !t.watched {
		t.watched = true
		if every := watchEvery(limit); t.watch == nil {
			t.watch = time.AfterFunc(every, t.endLateCalls)
		} else {
			t.watch.Reset(every)
		}
	}
	t.mu.Unlock()
	return ctx, f
}

// TokenOf returns the progress token of a call's caller, nil if the caller wants no progress. A caller that does not
// speak MCP gets a token of ours.
func TokenOf(call *tool.Call) json.RawMessage {
	switch {
	case call.Caller == nil:
		return nil
	case call.Params == nil && call.Caller.Supports(tool.WantsProgress):
		return json.RawMessage(`"progress"`)
	}
	return mcp.Get(call.Params, "_meta", "progressToken")
}

// End cancels a call that is in flight; why becomes the call's error. End does nothing once the call is over: its
// context may be the caller's own, with which the call may be sent again.
func (f *Call) End(why *tool.Error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.ended {
		f.cancel(why)
	}
}

// release frees the context if it was made here.
func (f *Call) release() {
	if f.ownsContext {
		f.cancel(nil)
	}
}

// watchEvery returns how often deadlines are checked. One timer serves all calls of a connection: a timer for each
// call would wake the runtime's network poller every time.
func watchEvery(limit time.Duration) time.Duration {
	return min(max(limit/16, 5*time.Millisecond), time.Second)
}

// endLateCalls ends the calls past their deadline. It runs again as long as there are calls.
func (t *Calls) endLateCalls() {
	now := time.Now()
	var late []*Call
	t.mu.Lock()
	for _, f := range t.byID {
		if f.isLate(now) {
			late = append(late, f)
		}
	}
	if t.watched = len(t.byID) > 0; t.watched {
		t.watch.Reset(watchEvery(t.limit))
	}
	t.mu.Unlock()
	for _, f := range late {
		f.endLate()
	}
}

func (f *Call) isLate(now time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.paused == 0 && now.After(f.due)
}

// Remove takes a call off after it has ended. It cancels the call's questions, passes on its last progress and
// returns the time of the end.
func (t *Calls) Remove(f *Call) (now time.Time) {
	f.endQuestions()
	now = time.Now()
	t.mu.Lock()
	delete(t.byID, f.Seq)
	t.last = now
	if t.retired && len(t.byID) == 0 {
		close(t.ended)
	}
	t.mu.Unlock()
	f.mu.Lock()
	held := f.latestProgress
	f.latestProgress = nil
	f.mu.Unlock()
	if held != nil {
		f.Caller.Notify(context.Background(), "notifications/progress", held)
	}
	f.release()
	return now
}

// Question registers a server's question with the call. ok is false if the call is over. Otherwise end is called
// when the call ends, and the caller must call answered when the question is.
func (f *Call) Question(end context.CancelCauseFunc) (answered func(), ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended {
		return nil, false
	}
	f.asking.Add(1)
	if f.asked == nil {
		f.asked = map[*context.CancelCauseFunc]struct{}{}
	}
	f.asked[&end] = struct{}{}
	return func() {
		f.mu.Lock()
		delete(f.asked, &end)
		f.mu.Unlock()
		f.asking.Done()
	}, true
}

// endQuestions cancels the questions of a call and waits until their callers have been told, so that nothing reaches
// a caller after the call's answer.
func (f *Call) endQuestions() {
	f.mu.Lock()
	f.ended = true
	for over := range f.asked {
		(*over)(ErrOver)
	}
	f.mu.Unlock()
	f.asking.Wait()
}

func (f *Call) isDone() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ended
}

// endLate ends a call that took longer than the server's limit.
func (f *Call) endLate() {
	f.End(&tool.Error{
		Op: "call", Kind: tool.Timeout, Subject: f.Request.Name,
		Message: fmt.Sprintf("no answer within toolTimeout %s (waited %s)", units.DurationText(f.limit), units.DurationText(time.Since(f.begun).Round(time.Millisecond))),
		Hint:    "raise toolTimeout in the server's entry if it needs longer",
	})
}

// Pause stops the deadline while a person or a model is asked; resume restarts it.
func (f *Call) Pause() (resume func()) {
	f.mu.Lock()
	f.paused++
	f.mu.Unlock()
	return func() {
		f.mu.Lock()
		f.paused--
		f.due = time.Now().Add(f.limit)
		f.mu.Unlock()
	}
}

// Progressed handles a progress notification. If its value has risen, the deadline is extended and the notification
// is passed on under the caller's token, at most progressRate times a second.
func (f *Call) Progressed(params json.RawMessage) {
	value, err := strconv.ParseFloat(string(mcp.Get(params, "progress")), 64)
	if err != nil {
		return
	}
	f.mu.Lock()
	if f.reported && value <= f.progress {
		f.mu.Unlock()
		return
	}
	f.reported, f.progress = true, value
	now := time.Now()
	f.due = now.Add(f.limit)
	if f.Token == nil {
		f.mu.Unlock()
		return
	}
	out := mcp.Edit(params, mcp.Field{Key: "progressToken", Value: f.Token})
	if now.Sub(f.rateWindow) >= time.Second {
		f.rateWindow, f.forwarded = now, 0
	}
	if f.forwarded++; f.forwarded > progressRate {
		f.latestProgress, out = out, nil
	} else {
		f.latestProgress = nil
	}
	f.mu.Unlock()
	if out != nil {
		f.Caller.Notify(context.Background(), "notifications/progress", out)
	}
}

// ByToken returns the call with one of our progress tokens.
func (t *Calls) ByToken(token json.RawMessage) *Call {
	s, ok := mcp.Text(token)
	if !ok {
		s = string(token)
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.byID[n]
}

// Owner returns the call to which a message belongs that does not say so itself: the only call in flight, or, if all
// calls in flight are of one session, the newest whose client reads, or just the newest if none reads. If several
// calls are in flight that are not all of one session, it returns nil and several is true.
func (t *Calls) Owner() (f *Call, several bool) {
	t.mu.Lock()
	var more []*Call
	for _, g := range t.byID {
		switch {
		case g.isDone():
		case f == nil:
			f = g
		case g.Request.Session == "" || f.Request.Session != g.Request.Session:
			t.mu.Unlock()
			return nil, true
		default:
			more = append(more, g)
		}
	}
	t.mu.Unlock()
	if len(more) == 0 {
		return f, false
	}
	more = append(more, f)
	slices.SortFunc(more, func(a, b *Call) int { return cmp.Compare(b.Seq, a.Seq) })
	if i := slices.IndexFunc(more, func(g *Call) bool { return g.Caller.Supports(tool.Attends) }); i >= 0 {
		return more[i], false
	}
	return more[0], false
}

// Retire makes the connection take no more calls. After it returns, none can be added.
func (t *Calls) Retire() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.retired {
		return
	}
	t.retired, t.ended = true, make(chan struct{})
	if len(t.byID) == 0 {
		close(t.ended)
	}
}

// Busy reports whether a call is in flight.
func (t *Calls) Busy() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.byID) > 0
}

// All returns the calls in flight.
func (t *Calls) All() []*Call {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Collect(maps.Values(t.byID))
}

// Ended returns a channel that is closed when the last call of a retired connection has ended.
func (t *Calls) Ended() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ended
}

// RetireIdle retires the connection if it has been unused for d, and returns 0. Otherwise it returns how much longer
// it has to be unused.
func (t *Calls) RetireIdle(now time.Time, d time.Duration) (remaining time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.byID) > 0 {
		return d
	}
	if remaining = d - now.Sub(t.last); remaining > 0 {
		return remaining
	}
	if !t.retired {
		t.retired, t.ended = true, make(chan struct{})
		close(t.ended)
	}
	return 0
}

// Reinstate undoes a retirement.
func (t *Calls) Reinstate() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.retired, t.ended = false, nil
}

// Translate returns the parameters of m with the client's request id or progress token replaced by the one that the
// server knows. It returns false if m names no call that its sender has in flight on this connection.
func (t *Calls) Translate(m *tool.Message) (json.RawMessage, bool) {
	id, token := mcp.Get(m.Params, "requestId"), mcp.Get(m.Params, "progressToken")
	var meta, metaToken json.RawMessage
	if !m.Request { // in a request the token is its own
		meta = mcp.Get(m.Params, "_meta")
		metaToken = mcp.Get(meta, "progressToken")
	}
	if m.Session == "" || id == nil && token == nil && metaToken == nil { // without a session, ids could be anybody's
		return nil, false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, f := range t.byID {
		if f.Request.Session != m.Session || f.Request.Principal != m.Principal {
			continue
		}
		ours := mcp.Quote(strconv.FormatUint(f.Seq, 10))
		switch {
		case id != nil && string(id) == f.Request.RequestID && f.Wire.Load() != 0:
			return mcp.Edit(m.Params, mcp.Field{Key: "requestId", Value: strconv.AppendUint(nil, f.Wire.Load(), 10)}), true
		case f.Token == nil:
		case bytes.Equal(token, f.Token):
			return mcp.Edit(m.Params, mcp.Field{Key: "progressToken", Value: ours}), true
		case bytes.Equal(metaToken, f.Token):
			return mcp.Edit(m.Params, mcp.Field{Key: "_meta", Value: mcp.Edit(meta, mcp.Field{Key: "progressToken", Value: ours})}), true
		}
	}
	return nil, false
}

// IsAnothers reports whether the untranslated message names a call in flight by an id that only the server should
// know. The server would take it to be about that call, whoever made it, so such a message must not be sent.
func (t *Calls) IsAnothers(m *tool.Message) bool {
	id, token := idIn(mcp.Get(m.Params, "requestId")), idIn(mcp.Get(m.Params, "progressToken"))
	var metaToken uint64
	if !m.Request {
		metaToken = idIn(mcp.Get(m.Params, "_meta", "progressToken"))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, f := range t.byID {
		if id != 0 && f.Wire.Load() == id || f.Token != nil && (f.Seq == token || f.Seq == metaToken) {
			return true
		}
	}
	return false
}

// idIn returns raw, a number or a text, as the id that a server may read in it; 0 if it is none.
func idIn(raw json.RawMessage) uint64 {
	text, ok := mcp.Text(raw)
	if !ok {
		text = string(raw)
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || n < 1 || n > 1<<53 {
		return 0
	}
	return uint64(n)
}

// Named returns the call that a server's message names by request id or progress token, and the parameters with the
// caller's id in its place; nil if there is none.
func (t *Calls) Named(params json.RawMessage) (*Call, json.RawMessage) {
	if token := mcp.Get(params, "progressToken"); token != nil {
		if f := t.ByToken(token); f != nil && f.Token != nil {
			return f, mcp.Edit(params, mcp.Field{Key: "progressToken", Value: f.Token})
		}
	}
	id, err := strconv.ParseUint(string(mcp.Get(params, "requestId")), 10, 64)
	if err != nil {
		return nil, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, f := range t.byID {
		if f.Wire.Load() == id && f.Request.RequestID != "" {
			return f, mcp.Edit(params, mcp.Field{Key: "requestId", Value: json.RawMessage(f.Request.RequestID)})
		}
	}
	return nil, nil
}
