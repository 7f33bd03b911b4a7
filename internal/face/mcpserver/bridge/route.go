package bridge

import (
	"context"
	"errors"
	"sync"
	"time"

	"collie/internal/tool"
)

// This file finds a gateway for a client, and another one when the first has ended.

// A link connects to one gateway. It is safe for concurrent use.
type link interface {
	// ask sends a request and passes its response to f.reply. It returns when that is done or the request was
	// cancelled. Messages before the response go to f.heard with generation. A [*lostError] means that the
	// gateway gave no answer; any other error is the answer.
	ask(f *request, generation int) error
	// tell sends a message that gets no answer. about is the request that it cancels, nil for other messages.
	tell(ctx context.Context, raw []byte, about *request) error
	// listen passes the gateway's messages outside of requests to heard, until ctx ends. It returns a
	// [*lostError] if the gateway cannot be reached.
	listen(ctx context.Context, heard func(raw []byte)) error
	// close ends the session there.
	close(ctx context.Context)
	// connectsTo reports whether the link connects to g and the session there still exists.
	connectsTo(g Gateway) bool
}

// lostError says that a gateway cannot be reached.
type lostError struct {
	sent bool // the request may have been executed
	err  error
}

func (e *lostError) Error() string { return e.err.Error() }
func (e *lostError) Unwrap() error { return e.err }

// attachment is a gateway with the client's session there.
type attachment struct {
	link       link
	generation int             // number of attachments so far, this one included
	life       context.Context //nolint:containedctx // context for listening to the gateway
	end        context.CancelFunc
	listening  sync.Once
}

func newAttachment(life context.Context, l link, generation int) *attachment {
	a := &attachment{link: l, generation: generation}
	a.life, a.end = context.WithCancel(life)
	return a
}

// route holds the gateway that the client is attached to. changed must be set before use.
type route struct {
	mu        sync.Mutex
	attached  *attachment // nil while there is none
	last      *attachment // the present or the previous attachment
	searching bool
	failures  int // number of failed searches
	err       error
	closed    bool
	changed   chan struct{} // closed and replaced when attached, failures or closed changes
}

// current returns the present attachment, nil if there is none.
func (w *route) current() *attachment {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.attached
}

// wakeWaiters wakes those who wait for a change of w; the caller holds w.mu.
func (w *route) wakeWaiters() {
	close(w.changed)
	w.changed = make(chan struct{})
}

// setAttachment sets the attachment. It returns false if the route is closed.
func (w *route) setAttachment(a *attachment) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.searching = false
	if w.closed {
		return false
	}
	if w.last != nil && w.last != a {
		w.last.end()
	}
	w.attached, w.last = a, a
	w.wakeWaiters()
	return true
}

// fail records a failed search.
func (w *route) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.searching, w.err = false, err
	w.failures++
	w.wakeWaiters()
}

// close closes the route and returns the present attachment.
func (w *route) close() *attachment {
	w.mu.Lock()
	defer w.mu.Unlock()
	a := w.attached
	w.closed, w.attached = true, nil
	w.wakeWaiters()
	return a
}

// awaitAttachment waits until there is a gateway.
func (r *relay) awaitAttachment(ctx context.Context) (*attachment, error) {
	w := &r.route
	failures := -1
	for {
		w.mu.Lock()
		if failures < 0 {
			failures = w.failures
		}
		up, err, failed, changed := w.attached, w.err, w.failures > failures, w.changed
		look := up == nil && !failed && !w.searching && !w.closed
		if look {
			w.searching = true
			r.wg.Add(1) // safe: the caller is counted in wg, so nobody is past Wait yet
		}
		closed := w.closed
		w.mu.Unlock()
		switch {
		case up != nil:
			return up, nil
		case closed:
			return nil, errEnded
		case failed:
			return nil, &tool.Error{
				Op: "call", Kind: tool.Unavailable, Message: "the gateway has gone, and none could be opened here", Err: err,
				Hint: "collie serve starts one",
			}
		case look:
			go func() {
				defer r.wg.Done()
				r.search()
			}()
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// findAnother starts to look for another gateway if err says that a could not be reached.
func (r *relay) findAnother(a *attachment, err error) {
	if _, lost := errors.AsType[*lostError](err); !lost {
		return
	}
	w := &r.route
	w.mu.Lock()
	look := w.attached == a && !w.closed
	if look {
		w.attached, w.searching = nil, true
		w.wakeWaiters()
		r.log.Warn("the gateway does not answer", "error", err)
		r.wg.Add(1) // the caller is counted too
	}
	w.mu.Unlock()
	if look {
		go func() {
			defer r.wg.Done()
			r.search()
		}()
	}
}

// How often to look for a gateway that went away.
const (
	firstWait   = 20 * time.Millisecond
	longestWait = time.Second
)

// search finds another gateway for the client, or opens one in this process.
func (r *relay) search() {
	limit := time.NewTimer(r.opts.LossWait)
	defer limit.Stop()
	tick := time.NewTimer(0)
	defer tick.Stop()
	for wait := firstWait; ; wait = min(2*wait, longestWait) {
		select {
		case <-tick.C:
		case <-limit.C:
			r.openHere()
			return
		case <-r.life.Done():
			r.route.fail(context.Cause(r.life))
			return
		}
		g, err := r.opts.Find(r.life)
		switch {
		case err == nil && r.attach(g):
			return
		case errors.Is(err, ErrOther):
			r.log.Warn("the gateway that came back is not for this client", "reason", err)
			r.openHere()
			return
		}
		tick.Reset(wait)
	}
}

// attach attaches the client to a gateway that was found.
func (r *relay) attach(g Gateway) bool {
	r.route.mu.Lock()
	last := r.route.last
	r.route.mu.Unlock()
	if last.link.connectsTo(g) {
		r.route.setAttachment(last)
		return true
	}
	if err := r.move(newAttachment(r.life, newHTTPLink(g, r.stream), last.generation+1)); err != nil {
		r.log.Debug("no session at the gateway that was found", "error", err)
		return false
	}
	r.log.Warn("attached to the gateway that came back")
	return true
}

// openHere attaches the client to a gateway in this process.
func (r *relay) openHere() {
	gateway, err := r.opts.Open(r.life)
	if err != nil {
		r.route.fail(err)
		return
	}
	r.route.mu.Lock()
	generation := r.route.last.generation + 1
	r.route.mu.Unlock()
	l := newStreamLink(gateway, func(raw []byte) { r.forwardMessage(generation, raw) })
	if err := r.move(newAttachment(r.life, l, generation)); err != nil {
		r.route.fail(err)
		return
	}
	r.log.Warn("no gateway came back: the servers are started for this client alone")
}

// restoreTime bounds the handshake with a gateway.
const restoreTime = 10 * time.Second

// move restores the client's session at a and makes a the present attachment.
func (r *relay) move(a *attachment) error {
	ctx, cancel := context.WithTimeout(r.life, restoreTime)
	defer cancel()
	if err := r.restore(ctx, a); err != nil {
		a.endSession()
		return err
	}
	for _, notice := range r.asks.cancelBefore(a.generation) {
		r.out.line(notice)
	}
	if !r.route.setAttachment(a) {
		a.endSession()
		return errEnded
	}
	r.startListening(a)
	r.announceChanges()
	return nil
}

// startListening listens to a gateway's messages outside of requests, once there is a session.
func (r *relay) startListening(a *attachment) {
	if !r.session.isOpen() {
		return
	}
	a.listening.Do(func() {
		r.wg.Go(func() { // ends with the attachment
			for wait := firstWait; a.life.Err() == nil; wait = min(2*wait, longestWait) {
				err := a.link.listen(a.life, func(raw []byte) {
					wait = firstWait
					r.forwardMessage(a.generation, raw)
				})
				if err == nil {
					return
				}
				r.findAnother(a, err)
				pause(a.life, wait)
			}
		})
	})
}

// endSession ends the session of a; the gateway may already be gone.
func (a *attachment) endSession() {
	ctx, cancel := context.WithTimeout(context.Background(), leaveTimeout)
	defer cancel()
	a.end()
	a.link.close(ctx)
}

// endSession ends the client's session.
func (r *relay) endSession() {
	if a := r.route.close(); a != nil {
		a.endSession()
	}
}

// pause waits for d or the end of ctx.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
