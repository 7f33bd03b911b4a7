package mcp

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// A server cannot send requests to a modern client. If it needs something, it ends the request with an
// input_required result, and the client's retry brings the answers (2026-07-28, Multi Round-Trip Requests). A
// request whose Service asks something is therefore parked: it goes on in a goroutine while the client is
// away. A random requestState identifies it; only the same client of the same principal can present that,
// with the same parameters. The parameters must match because a person may have been asked about the first
// request, and that is the one that goes on.

const (
	parkPrefix   = "collie.park."
	parkTTL      = 5 * time.Minute // how long a request stays parked
	parkPerOwner = 64              // parked requests of one client
	// gatherTime is how long the first question waits for others asked at the same time.
	gatherTime = 2 * time.Millisecond
)

// errExpired ends a parked request whose client did not come back in time.
var errExpired = fmt.Errorf("%w: the client did not answer within %v", context.Canceled, parkTTL)

// parkingLot holds the parked requests of a server.
type parkingLot struct {
	mu     sync.Mutex
	parked map[string]*parkedRun // by requestState
	owners map[string]int        // number of parked requests, by owner
	closed bool
	wg     sync.WaitGroup
}

// parkedRun is one modern request during which the client may be asked for input.
type parkedRun struct {
	in        *Incoming
	owner     string
	about     string // method and subject; a retry must have the same
	cancel    context.CancelCauseFunc
	questions chan *parkedQuestion
	done      chan outcome
	finished  chan struct{} // closed when the outcome is known

	mu       sync.Mutex
	out      notifier           // where notifications go; nil while the client is away
	heldBack []heldNotification // notifications that came while the client was away
	bytes    int                // size of heldBack
	gap      droppedCount
	open     map[string]*parkedQuestion // questions without an answer, by key
	count    int                        // questions in all
	timer    *time.Timer                // ends the run if the client does not come back
}

// heldNotification is a notification that came while the client was away.
type heldNotification struct {
	raw []byte
	k   kind
}

// parkedQuestion is a request to the client, which goes out in an input_required result.
type parkedQuestion struct {
	key    string
	method string
	params json.RawMessage
	answer chan json.RawMessage
}

type outcome struct {
	result json.RawMessage
	err    error
}

// start runs handle on a goroutine that ends when handle returns; cancelling the run makes it return. notify
// receives the request's notifications until attach returns.
func (l *parkingLot) start(ctx context.Context, in *Incoming, owner string, notify notifier, handle func(context.Context, *Incoming) (json.RawMessage, error)) *parkedRun {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	r := &parkedRun{
		in: in, owner: owner, about: requestSubject(&in.Message), cancel: cancel,
		questions: make(chan *parkedQuestion), done: make(chan outcome, 1), open: map[string]*parkedQuestion{}, out: notify,
		finished: make(chan struct{}),
	}
	in.out, in.Cancel = r, cancel
	l.wg.Go(func() {
		defer cancel(nil)
		result, err := handle(ctx, in)
		r.done <- outcome{result, err}
		close(r.finished)
	})
	return r
}

// requestSubject returns what a request is about, in a form that its retry must repeat: method, and name or URI.
func requestSubject(m *Message) string {
	return m.Method + " " + string(Get(m.Params, "name")) + string(Get(m.Params, "uri"))
}

// sameName reports whether the retry comes from a client with the same name as the parked request; having no
// name on both sides counts as the same.
func (r *parkedRun) sameName(retry *Message) bool {
	_, info, _ := peerMeta(retry.Params)
	return GetString(info, "name") == GetString(r.in.Peer.Info, "name")
}

// sameParams reports whether a retry has the parameters of the parked request, apart from those that bring the
// answers or describe the exchange. Order, white space and the spelling of strings do not matter.
func sameParams(retry, parked *Message) bool {
	return bytes.Equal(canonicalParams(retry.Params), canonicalParams(parked.Params))
}

// canonicalParams returns the parameters that matter, in a canonical form.
func canonicalParams(params json.RawMessage) []byte {
	out := jsontext.Value(Edit(params, Field{Key: "_meta"}, Field{Key: "requestState"}, Field{Key: "inputResponses"}))
	if plain := out.Clone(); plain.Format(jsontext.ReorderRawObjects(true)) == nil {
		return plain
	}
	return out // a name occurs twice in an object, which readers understand differently: only the same bytes count as a repetition
}

// attach waits, for a client that is connected, until a request that was started or resumed has an outcome or
// questions.
func (l *parkingLot) attach(ctx context.Context, r *parkedRun) (json.RawMessage, error) {
	defer r.setNotifier(nil)
	if len(r.unanswered()) > 0 { // the retry left some questions out: ask them again
		return l.park(r)
	}
	select {
	case o := <-r.done:
		return o.result, o.err
	case q := <-r.questions:
		r.addQuestion(q)
	case <-ctx.Done():
		r.cancel(context.Cause(ctx))
		o := <-r.done
		return o.result, o.err
	}
	more := time.NewTimer(gatherTime)
	defer more.Stop()
	for {
		select {
		case q := <-r.questions:
			r.addQuestion(q)
		case o := <-r.done: // it ended without waiting for its answers
			return o.result, o.err
		case <-ctx.Done():
			r.cancel(context.Cause(ctx))
			o := <-r.done
			return o.result, o.err
		case <-more.C:
			return l.park(r)
		}
	}
}

// addQuestion gives q the next key and keeps it until it is answered.
func (r *parkedRun) addQuestion(q *parkedQuestion) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count++
	q.key = fmt.Sprintf("ask_%d", r.count)
	r.open[q.key] = q
}

// unanswered returns the open questions in the order in which they were asked.
func (r *parkedRun) unanswered() []*parkedQuestion {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []*parkedQuestion
	for n := 1; n <= r.count; n++ {
		if q := r.open[fmt.Sprintf("ask_%d", n)]; q != nil {
			list = append(list, q)
		}
	}
	return list
}

// park keeps r until its client comes back, and returns the input_required result for the client.
func (l *parkingLot) park(r *parkedRun) (json.RawMessage, error) {
	state := parkPrefix + rand.Text()
	l.mu.Lock()
	if l.closed || l.owners[r.owner] >= parkPerOwner {
		l.mu.Unlock()
		r.cancel(errors.New("too many requests wait for answers of this client"))
		o := <-r.done
		return o.result, o.err
	}
	if l.parked == nil {
		l.parked, l.owners = map[string]*parkedRun{}, map[string]int{}
	}
	l.parked[state] = r
	l.owners[r.owner]++
	r.timer = time.AfterFunc(parkTTL, func() {
		if l.unpark(state) != nil {
			r.cancel(errExpired)
		}
	})
	l.mu.Unlock()
	var asks json.RawMessage
	for _, q := range r.unanswered() {
		ask := Edit(nil, Field{"method", Quote(q.method)}, Field{"params", q.params})
		asks = Edit(asks, Field{q.key, ask})
	}
	return Edit(nil,
		Field{"resultType", json.RawMessage(`"input_required"`)},
		Field{"inputRequests", asks},
		Field{"requestState", Quote(state)}), nil
}

// unpark takes the run with a requestState out of the parking lot and returns it; nil if there is none.
func (l *parkingLot) unpark(state string) *parkedRun {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.parked[state]
	if r != nil {
		delete(l.parked, state)
		if l.owners[r.owner]--; l.owners[r.owner] == 0 {
			delete(l.owners, r.owner)
		}
	}
	return r
}

// parkedState returns the requestState of m, and reports whether it has the form of those that park gives out: then m is the
// retry of a request that is, or was, parked.
func parkedState(m *Message) (string, bool) {
	state := GetString(m.Params, "requestState")
	return state, strings.HasPrefix(state, parkPrefix)
}

// resume continues a parked request with the answers in m. notify receives its notifications until attach
// returns.
func (l *parkingLot) resume(state, owner string, m *Message, notify notifier) (*parkedRun, error) {
	unknown := &Error{Code: CodeInvalidParams, Message: "requestState is unknown or has expired: send the request again without requestState and inputResponses"}
	l.mu.Lock()
	r := l.parked[state]
	l.mu.Unlock()
	if r == nil || r.owner != owner || r.about != requestSubject(m) || !r.sameName(m) {
		return nil, unknown
	}
	if !sameParams(m, &r.in.Message) {
		return nil, &Error{Code: CodeInvalidParams, Message: "params are not those of the request that requestState stands for, " +
			"and nothing was done: repeat them as they were, or send a new request without requestState and inputResponses"}
	}
	if l.unpark(state) != r {
		return nil, unknown
	}
	r.timer.Stop()
	r.setNotifier(notify)
	answers := Get(m.Params, "inputResponses")
	for _, q := range r.unanswered() {
		if a := Get(answers, q.key); isObject(a) {
			r.mu.Lock()
			delete(r.open, q.key)
			r.mu.Unlock()
			q.answer <- a
		}
	}
	return r, nil
}

// endAllOf ends all parked requests of an owner.
func (l *parkingLot) endAllOf(owner string, cause error) {
	l.mu.Lock()
	var theirs []*parkedRun
	for state, r := range l.parked {
		if r.owner == owner {
			theirs = append(theirs, r)
			delete(l.parked, state)
		}
	}
	delete(l.owners, owner)
	l.mu.Unlock()
	for _, r := range theirs {
		r.timer.Stop()
		r.cancel(cause)
	}
}

// close ends all parked requests and waits for them.
func (l *parkingLot) close(cause error) {
	l.mu.Lock()
	l.closed = true
	runs := l.parked
	l.parked, l.owners = nil, nil
	l.mu.Unlock()
	for _, r := range runs {
		r.timer.Stop()
		r.cancel(cause)
	}
	l.wg.Wait()
}

// setNotifier sets where notifications go. Those that came while the client was away are sent first.
func (r *parkedRun) setNotifier(out notifier) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.out = out; out == nil {
		return
	}
	for _, h := range r.heldBack {
		out(h.raw, h.k)
	}
	if raw, ok := r.gap.gapNotice(); ok {
		out(raw, mayBeDropped)
	}
	r.heldBack, r.bytes = nil, 0
}

// send passes a notification on if the client is connected, and else holds it back. If more than maxUnread bytes would be
// held back, it is dropped, and counted unless it is about progress.
func (r *parkedRun) send(raw []byte, k kind) {
	r.mu.Lock()
	out := r.out
	if out == nil {
		switch size := r.bytes + len(raw); {
		case size <= maxUnread:
			r.heldBack, r.bytes = append(r.heldBack, heldNotification{raw, k}), size
		case k != progressKind:
			r.gap.add(raw)
		}
	}
	r.mu.Unlock()
	if out != nil {
		out(raw, k)
	}
}

// isConnected reports whether the client is connected. Between an input_required result and the retry it is not,
// and further questions wait.
func (r *parkedRun) isConnected() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.out != nil
}

// ask puts a question to the client and waits for the answer. It fails when ctx ends, or once the request has an outcome.
func (r *parkedRun) ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	q := &parkedQuestion{method: method, params: params, answer: make(chan json.RawMessage, 1)}
	select {
	case r.questions <- q:
	case <-r.finished:
		return nil, errNoAsking
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	select {
	case a := <-q.answer:
		return a, nil
	case <-r.finished:
		return nil, errNoAsking
	case <-ctx.Done():
		r.mu.Lock()
		delete(r.open, q.key)
		r.mu.Unlock()
		return nil, context.Cause(ctx)
	}
}
