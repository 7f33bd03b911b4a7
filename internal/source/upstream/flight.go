package upstream

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"collie/internal/mcp"
	"collie/internal/tool"
)

// flight is one call on its way: whom to tell, whom to ask, and how long it may take.
type flight struct {
	call   *tool.Call
	caller tool.Caller // never nil
	token  json.RawMessage
	seq    uint64        // the progress token that the server knows, which rises
	wire   atomic.Uint64 // id of the request on the link; 0 before it is sent

	limit  time.Duration
	begun  time.Time
	cancel context.CancelCauseFunc // ends the call's context; see [flight.end]
	own    bool                    // that context was made for the flight

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

// progressRate bounds the progress notifications passed on in a second; the last one of a
// call always is (5.4).
const progressRate = 10

// nobody is the Caller of a call that nobody waits for.
type nobody struct{}

func (nobody) Supports(tool.Capability) bool                   { return false }
func (nobody) Capabilities() json.RawMessage                   { return json.RawMessage("{}") }
func (nobody) Notify(context.Context, string, json.RawMessage) {}
func (nobody) Ask(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	return nil, tool.NewProtocolError(mcp.CodeMethodNotFound, "nobody can be asked", nil)
}

// board registers a call. The context that it returns ends when the call takes too long: that of the
// call, where it can be ended, since more than one in a call costs more than the rest of the flight. land
// must be called. ok is false where the connection takes no more calls.
func (c *conn) board(ctx context.Context, call *tool.Call, limit time.Duration) (_ context.Context, f *flight, token uint64, ok bool) {
	now := time.Now()
	f = &flight{call: call, caller: call.Caller, limit: limit, begun: now, due: now.Add(limit)}
	if f.caller == nil {
		f.caller = nobody{}
	}
	f.token = mcp.Get(call.Params, "_meta", "progressToken")
	outer := ctx
	if f.cancel = call.Cancel; f.cancel == nil {
		ctx, f.cancel = context.WithCancelCause(ctx)
		f.own = true
	}
	token = c.lastToken.Add(1)
	f.seq = token
	c.mu.Lock()
	if c.retired {
		c.mu.Unlock()
		f.release()
		return outer, nil, 0, false
	}
	c.calls[token] = f
	if !c.patrolled {
		c.patrolled = true
		if every := patrolFor(limit); c.patrol == nil {
			c.patrol = time.AfterFunc(every, c.look)
		} else {
			c.patrol.Reset(every)
		}
	}
	c.mu.Unlock()
	return ctx, f, token, true
}

// end ends a call that is in flight for a reason which becomes the call's error. The context may be the
// call's, which goes on behind the flight and may be sent again: a flight that is over ends nothing.
func (f *flight) end(why *tool.Error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.over {
		f.cancel(why)
	}
}

// release lets go of the context that was made for the flight.
func (f *flight) release() {
	if f.own {
		f.cancel(nil)
	}
}

// patrolFor is how often calls are looked at for having taken too long. One timer looks at
// all calls of a connection: a timer for each would wake the runtime's network poller with
// every call.
func patrolFor(limit time.Duration) time.Duration {
	return min(max(limit/16, 5*time.Millisecond), time.Second)
}

// look ends the calls that have taken too long. It goes on as long as there are calls.
func (c *conn) look() {
	now := time.Now()
	var late []*flight
	c.mu.Lock()
	for _, f := range c.calls {
		if f.late(now) {
			late = append(late, f)
		}
	}
	if c.patrolled = len(c.calls) > 0; c.patrolled {
		c.patrol.Reset(patrolFor(c.server.settings().ToolTimeout))
	}
	c.mu.Unlock()
	for _, f := range late {
		f.expire()
	}
}

func (f *flight) late(now time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.paused == 0 && now.After(f.due)
}

// land ends the questions of a call that has its answer, takes it off the table and passes its last
// progress on.
func (c *conn) land(f *flight, token uint64) {
	f.settle()
	now := time.Now()
	c.mu.Lock()
	delete(c.calls, token)
	c.last = now
	if c.retired && len(c.calls) == 0 {
		close(c.landed)
	}
	c.mu.Unlock()
	c.server.listing.Called(now)
	f.mu.Lock()
	held := f.held
	f.held = nil
	f.mu.Unlock()
	if held != nil {
		f.caller.Notify(context.Background(), "notifications/progress", held)
	}
	f.release()
}

// ask notes that a question belongs to the call, and reports whether the call is still there for it. It is
// ended by over when the call is. answered must be called.
func (f *flight) ask(over context.CancelCauseFunc) (answered func(), ok bool) {
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

// settle ends the questions of a call that has its answer, and returns when their callers have been
// told so: nothing reaches them after the answer.
func (f *flight) settle() {
	f.mu.Lock()
	f.over = true
	for over := range f.asked {
		(*over)(errCallOver)
	}
	f.mu.Unlock()
	f.asking.Wait()
}

func (f *flight) isOver() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.over
}

// expire ends the call: it took longer than the server's limit for one.
func (f *flight) expire() {
	f.end(&tool.Error{
		Op: "call", Kind: tool.Timeout, Subject: f.call.Name,
		Message: fmt.Sprintf("no answer within toolTimeout %v (waited %v)", f.limit, time.Since(f.begun).Round(time.Millisecond)),
		Hint:    "raise toolTimeout in the server's entry if it needs longer",
	})
}

// pause stops the clock while a person or a model is asked (7.5).
func (f *flight) pause() (resume func()) {
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

// advance takes a progress notification: a rising value restarts the clock and is passed
// on, at most ten a second, under the caller's own token.
func (f *flight) advance(params json.RawMessage) {
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
	if f.token == nil {
		f.mu.Unlock()
		return
	}
	out := mcp.Edit(params, mcp.Field{Key: "progressToken", Value: f.token})
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
		f.caller.Notify(context.Background(), "notifications/progress", out)
	}
}

// byToken finds the flight of a progress token of ours.
func (c *conn) byToken(token json.RawMessage) *flight {
	s, ok := mcp.Text(token)
	if !ok {
		s = string(token)
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls[n]
}

// only returns the flight that a message without a link belongs to: the one in flight, or, where
// several are, one of the only session that has any. That is the newest one whose client reads, else
// the newest. Calls without a session may be anybody's.
func (c *conn) only() (f *flight, several bool) {
	c.mu.Lock()
	var more []*flight
	for _, g := range c.calls {
		switch {
		case g.isOver():
		case f == nil:
			f = g
		case g.call.Session == "" || f.call.Session != g.call.Session:
			c.mu.Unlock()
			return nil, true
		default:
			more = append(more, g)
		}
	}
	c.mu.Unlock()
	if len(more) == 0 {
		return f, false
	}
	more = append(more, f)
	slices.SortFunc(more, func(a, b *flight) int { return cmp.Compare(b.seq, a.seq) })
	if i := slices.IndexFunc(more, func(g *flight) bool { return g.caller.Supports(tool.Attends) }); i >= 0 {
		return more[i], false
	}
	return more[0], false
}
