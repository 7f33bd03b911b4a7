package bridge

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"

	"collie/internal/mcp"
)

// This file has the queues of messages in both directions, so that one slow side does not block the other.

// message is a message from the client that is not a request.
type message struct {
	raw        []byte
	generation int      // the gateway it is for; 0 means the present one
	about      *request // the request that it cancels, nil for other messages
}

// maxBox bounds the bytes of messages that wait for a gateway. Beyond that reading from the client waits,
// which is safe because every delivery has a time limit.
const maxBox = 16 << 20

// outbox queues such messages in order, so that a slow gateway does not block reading from the client.
type outbox struct {
	mu     sync.Mutex
	queue  []message
	bytes  int           // size of messages waiting or being delivered
	less   chan struct{} // closed when bytes decreases; nil if nobody waits for that
	closed bool
	more   chan struct{} // signals that there is something to do; capacity 1
}

func newOutbox() *outbox { return &outbox{more: make(chan struct{}, 1)} }

// put adds a message once there is room or ctx has ended.
func (o *outbox) put(ctx context.Context, p message) {
	o.mu.Lock()
	for o.bytes > maxBox && ctx.Err() == nil {
		if o.less == nil {
			o.less = make(chan struct{})
		}
		less := o.less
		o.mu.Unlock()
		select {
		case <-less:
		case <-ctx.Done():
		}
		o.mu.Lock()
	}
	o.queue = append(o.queue, p)
	o.bytes += len(p.raw)
	o.mu.Unlock()
	o.wake()
}

// done records that a message was delivered or given up.
func (o *outbox) done(p message) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.bytes -= len(p.raw)
	if o.less != nil {
		close(o.less)
		o.less = nil
	}
}

// close makes the sender end after the queued messages.
func (o *outbox) close() {
	o.mu.Lock()
	o.closed = true
	o.mu.Unlock()
	o.wake()
}

func (o *outbox) wake() {
	select {
	case o.more <- struct{}{}:
	default:
	}
}

// next waits for messages; ok is false when no more will come.
func (o *outbox) next(ctx context.Context) (messages []message, ok bool) {
	for {
		o.mu.Lock()
		messages, o.queue = o.queue, nil
		closed := o.closed
		o.mu.Unlock()
		if len(messages) > 0 {
			return messages, true
		}
		if closed {
			return nil, false
		}
		select {
		case <-o.more:
		case <-ctx.Done():
			return nil, false
		}
	}
}

// sendQueued delivers the queued messages to the gateway. If there is no gateway, they are dropped.
func (r *relay) sendQueued() {
	defer close(r.sent)
	for {
		messages, ok := r.outbox.next(r.life)
		if !ok {
			return
		}
		for _, p := range messages {
			r.deliver(p)
			r.outbox.done(p)
			if p.about != nil { // the notification goes first, because it holds the reason
				p.about.cancel(errTakenBack)
			}
		}
	}
}

// deliver sends one message to the present gateway, once initialize is over. It drops an answer to a question of an earlier gateway.
func (r *relay) deliver(p message) {
	if wait := r.session.initializeOver(); wait != nil {
		select {
		case <-wait:
		case <-r.life.Done():
			return
		}
	}
	a := r.route.current()
	if a == nil || p.generation != 0 && p.generation != a.generation {
		return
	}
	err := r.tell(a, p.raw, p.about)
	if refused, ok := errors.AsType[*refusedError](err); ok && refused.status == http.StatusRequestEntityTooLarge {
		if m, bad := mcp.Parse(p.raw); bad == nil && m.IsResponse() { // the server would wait for it until its call times out
			e := &mcp.Error{Code: mcp.CodeInternal, Message: "the client's answer is larger than http.maxBody of the gateway"}
			err = r.tell(a, mcp.AppendError(nil, m.ID, e.Object()), nil)
		}
	}
	if err != nil {
		r.findAnother(a, err)
	}
}

// tell sends one message that gets no answer, and logs why it was not delivered.
func (r *relay) tell(a *attachment, raw []byte, about *request) error {
	ctx, cancel := context.WithTimeout(r.life, tellTime)
	defer cancel()
	err := a.link.tell(ctx, raw, about)
	if refused, ok := errors.AsType[*refusedError](err); ok {
		r.log.Warn("the gateway refused a message of the client", "status", refused.status, "bytes", len(raw))
	} else if err != nil {
		r.log.Debug("message not delivered", "error", err)
	}
	return err
}

// output writes messages to the client. While the client does not read, writers block, and with them the
// exchanges that bring more messages.
type output struct {
	*mcp.Output
	log *slog.Logger
}

// line writes one message; it does not keep or change raw. A failure needs no further handling: it ends the
// relay.
func (o output) line(raw []byte) {
	if err := o.Write(raw); err != nil {
		o.log.Debug("message not written", "error", err)
	}
}
