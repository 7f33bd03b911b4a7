// Package inflight keeps the calls that are in flight on one connection to an MCP server: how long each may
// take, its progress, the questions of the server that belong to it, and the names that client and server
// have for it, which differ. It knows neither servers nor connections.
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
)

// Calls are those in flight on one connection: it is in use while there are any, and it takes none once it
// is retired. It is safe for concurrent use.
type Calls struct {
	lastToken atomic.Uint64

	mu      sync.Mutex
	byID    map[uint64]*Call // by the progress token that the server knows
	last    time.Time        // when the last call ended, or the connection began
	retired bool             // it takes no more calls
	ended   chan struct{}    // closed when the last call of a retired connection has ended; nil while it is not
	watch   *time.Timer      // looks for calls that take too long, while there are any
	watched bool             // watch is set
	limit   time.Duration    // of the call that was added last
}

// New returns the calls of a connection that begins now.
func New(now time.Time) *Calls { return &Calls{last: now, byID: map[uint64]*Call{}} }

// Call is one call on its way: whom to tell, whom to ask, and how long it may take.
type Call struct {
	Request *tool.Call
	Caller  tool.Caller     // never nil
	Token   json.RawMessage // the progress token that the caller knows; nil for none
	Seq     uint64          // the progress token that the server knows, which rises
	Wire    atomic.Uint64   // id of the request on the link; 0 before it is sent

	limit  time.Duration
	begun  time.Time
	cancel context.CancelCauseFunc // ends the call's context; see [Call.End]
	own    bool                    // that context was made here

	asking sync.WaitGroup // questions of the server that belong to the call

	mu       sync.Mutex
	over     bool                                  // no more questions
	asked    map[*context.CancelCauseFunc]struct{} // the questions that are open
	due      time.Time                             // when it has taken too long; progress puts it off
	paused   int
	progress float64
	told     bool
	second   time.Time       // when the running second of passing on began
	passed   int             // passed on in it
	held     json.RawMessage // the newest progress that was not passed on yet
}

// ErrOver ends the questions of a call that is over.
var ErrOver = errors.New("the call that asked is over")

// progressRate bounds the progress notifications passed on in a second; the last one of a
// call always is.
const progressRate = 10

// nobody is the Caller of a call that nobody waits for.
type nobody struct{}

func (nobody) ID() string                                      { return "" }
func (nobody) Supports(tool.Capability) bool                   { return false }
func (nobody) Capabilities() json.RawMessage                   { return json.RawMessage("{}") }
func (nobody) Notify(context.Context, string, json.RawMessage) {}
func (nobody) Ask(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	return nil, tool.NewProtocolError(mcp.CodeMethodNotFound, "nobody can be asked", nil)
}

// Add registers a call. The context that it returns ends when the call takes too long: that of the call,
// where it can be ended, since a second one costs more than all the rest of this. remove must be called. Nil
// is returned where the connection takes no more calls.
func (t *Calls) Add(ctx context.Context, call *tool.Call, limit time.Duration) (context.Context, *Call) {
	now := time.Now()
	f := &Call{Request: call, Caller: call.Caller, limit: limit, begun: now, due: now.Add(limit)}
	if f.Caller == nil {
		f.Caller = nobody{}
	}
	f.Token = TokenOf(call)
	outer := ctx
	if f.cancel = call.Cancel; f.cancel == nil {
		ctx, f.cancel = context.WithCancelCause(ctx)
		f.own = true
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
			t.watch = time.AfterFunc(every, t.expireLate)
		} else {
			t.watch.Reset(every)
		}
	}
	t.mu.Unlock()
	return ctx, f
}

// TokenOf is the progress token that the caller of a call knows; nil for none. A caller that does not speak
// MCP takes any.
func TokenOf(call *tool.Call) json.RawMessage {
	switch {
	case call.Caller == nil:
		return nil
	case call.Params == nil && call.Caller.Supports(tool.WantsProgress):
		return json.RawMessage(`"progress"`)
	}
	return mcp.Get(call.Params, "_meta", "progressToken")
}

// End ends a call that is in flight for a reason which becomes the call's error. The context may be the
// call's own, and the call may be sent again with it: one that is over ends nothing.
func (f *Call) End(why *tool.Error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.over {
		f.cancel(why)
	}
}

// release lets go of the context that was made here.
func (f *Call) release() {
	if f.own {
		f.cancel(nil)
	}
}

// watchEvery is how often calls are looked at for having taken too long. One timer looks at
// All calls of a connection: a timer for each would wake the runtime's network poller with
// every call.
func watchEvery(limit time.Duration) time.Duration {
	return min(max(limit/16, 5*time.Millisecond), time.Second)
}

// expireLate ends the calls that have taken too long. It goes on as long as there are calls.
func (t *Calls) expireLate() {
	now := time.Now()
	var late []*Call
	t.mu.Lock()
	for _, f := range t.byID {
		if f.late(now) {
			late = append(late, f)
		}
	}
	if t.watched = len(t.byID) > 0; t.watched {
		t.watch.Reset(watchEvery(t.limit))
	}
	t.mu.Unlock()
	for _, f := range late {
		f.expire()
	}
}

func (f *Call) late(now time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.paused == 0 && now.After(f.due)
}

// Remove says that a call has ended: it ends its questions and passes its last progress on. It returns when
// that was.
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
	held := f.held
	f.held = nil
	f.mu.Unlock()
	if held != nil {
		f.Caller.Notify(context.Background(), "notifications/progress", held)
	}
	f.release()
	return now
}

// Question notes that a question belongs to the call, and reports whether the call is still there for it.
// over ends it when the call ends. answered must be called.
func (f *Call) Question(over context.CancelCauseFunc) (answered func(), ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.over {
		return nil, false
	}
	f.asking.Add(1)
	if f.asked == nil {
		f.asked = map[*context.CancelCauseFunc]struct{}{}
	}
	f.asked[&over] = struct{}{}
	return func() {
		f.mu.Lock()
		delete(f.asked, &over)
		f.mu.Unlock()
		f.asking.Done()
	}, true
}

// endQuestions ends the questions of a call that has its answer, and returns when their callers have been
// told so: nothing reaches them after the answer.
func (f *Call) endQuestions() {
	f.mu.Lock()
	f.over = true
	for over := range f.asked {
		(*over)(ErrOver)
	}
	f.mu.Unlock()
	f.asking.Wait()
}

func (f *Call) isOver() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.over
}

// expire ends the call: it took longer than the server's limit for one.
func (f *Call) expire() {
	f.End(&tool.Error{
		Op: "call", Kind: tool.Timeout, Subject: f.Request.Name,
		Message: fmt.Sprintf("no answer within toolTimeout %v (waited %v)", f.limit, time.Since(f.begun).Round(time.Millisecond)),
		Hint:    "raise toolTimeout in the server's entry if it needs longer",
	})
}

// Pause stops the clock while a person or a model is asked.
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

// Progressed takes a progress notification: a rising value restarts the clock and is passed
// on, at most ten a second, under the caller's own token.
func (f *Call) Progressed(params json.RawMessage) {
	value, err := strconv.ParseFloat(string(mcp.Get(params, "progress")), 64)
	if err != nil {
		return
	}
	f.mu.Lock()
	if f.told && value <= f.progress {
		f.mu.Unlock()
		return
	}
	f.told, f.progress = true, value
	now := time.Now()
	f.due = now.Add(f.limit)
	if f.Token == nil {
		f.mu.Unlock()
		return
	}
	out := mcp.Edit(params, mcp.Field{Key: "progressToken", Value: f.Token})
	if now.Sub(f.second) >= time.Second {
		f.second, f.passed = now, 0
	}
	if f.passed++; f.passed > progressRate {
		f.held, out = out, nil
	} else {
		f.held = nil
	}
	f.mu.Unlock()
	if out != nil {
		f.Caller.Notify(context.Background(), "notifications/progress", out)
	}
}

// ByToken finds the call of a progress token of ours.
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

// Owner returns the call that a message without a link belongs to: the one in flight, or, where
// several are, one of the only session that has any. That is the newest one whose client reads, else
// the newest. Calls without a session may be anybody's.
func (t *Calls) Owner() (f *Call, several bool) {
	t.mu.Lock()
	var more []*Call
	for _, g := range t.byID {
		switch {
		case g.isOver():
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

// Retire takes no more calls. When it returns none can be added any more.
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

// Ended is closed when the last call of a retired connection has ended.
func (t *Calls) Ended() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ended
}

// RetireIdle retires the connection if it has been unused for d. Else it returns how much longer
// it has to be.
func (t *Calls) RetireIdle(now time.Time, d time.Duration) (left time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.byID) > 0 {
		return d
	}
	if left = d - now.Sub(t.last); left > 0 {
		return left
	}
	if !t.retired {
		t.retired, t.ended = true, make(chan struct{})
		close(t.ended)
	}
	return 0
}

// Reinstate takes a retirement back.
func (t *Calls) Reinstate() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.retired, t.ended = false, nil
}

// Translate replaces the id or the progress token of a request that the sender of m has in flight
// over this connection, as m names it, by the one that the server knows. It is false where m names
// none.
func (t *Calls) Translate(m *tool.Message) (json.RawMessage, bool) {
	id, token := mcp.Get(m.Params, "requestId"), mcp.Get(m.Params, "progressToken")
	var meta, metaToken json.RawMessage
	if !m.Request { // of a request it is its own
		meta = mcp.Get(m.Params, "_meta")
		metaToken = mcp.Get(meta, "progressToken")
	}
	if m.Session == "" || id == nil && token == nil && metaToken == nil { // without one ids are everybody's
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

// IsAnothers reports whether a message, as it came, names a request that is in flight over this
// connection as the server knows it. Nobody on the client's side knows those names: it would be taken
// for a message about whatever call has that number now.
func (t *Calls) IsAnothers(m *tool.Message) bool {
	id, token := number(mcp.Get(m.Params, "requestId")), number(mcp.Get(m.Params, "progressToken"))
	var metaToken uint64
	if !m.Request {
		metaToken = number(mcp.Get(m.Params, "_meta", "progressToken"))
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

// number is the id that a server may take raw for, a number or a text; 0 for none.
func number(raw json.RawMessage) uint64 {
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

// Named finds the call that a message of the server's names by the id or the progress token of the
// request, and returns the parameters as the caller knows it. Nil is none.
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
