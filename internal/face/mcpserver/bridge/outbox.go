package bridge

import (
	"context"
	"log/slog"
	"sync"

	"collie/internal/mcp"
)

// message is a message of the client that is not a request.
type message struct {
	raw        []byte
	generation int      // the gateway it is for; 0 for whichever there is
	about      *request // the request it takes back, nil for other messages
}

// maxBox bounds the messages that wait for a gateway, in bytes. A client that sends more waits
// itself: the delivery of each has an end.
const maxBox = 16 << 20

// outbox keeps such messages in order, so that the client's input is not held up by a
// gateway that is slow to take them.
type outbox struct {
	mu     sync.Mutex
	queue  []message
	bytes  int           // of those that wait, or are being delivered
	less   chan struct{} // closed when they get fewer; nil where nobody waits for it
	closed bool
	more   chan struct{} // has one token when there is something to look at
}

func newOutbox() *outbox { return &outbox{more: make(chan struct{}, 1)} }

// put takes a message in, when there is room or ctx has ended.
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

// done notes that a message was delivered, or given up.
func (o *outbox) done(p message) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.bytes -= len(p.raw)
	if o.less != nil {
		close(o.less)
		o.less = nil
	}
}

// close lets the sender end when it has sent what there is.
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

// next waits for what was put in; ok is false when nothing more will be.
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

// send brings to the gateway what the client says without waiting for an answer. Where there
// is no gateway there is nobody to be told.
func (r *relay) send() {
	defer close(r.sent)
	for {
		messages, ok := r.box.next(r.life)
		if !ok {
			return
		}
		for _, p := range messages {
			r.deliver(p)
			r.box.done(p)
			if p.about != nil { // the notification first: it names the reason
				p.about.cancel(errTakenBack)
			}
		}
	}
}

func (r *relay) deliver(p message) {
	if wait := r.session.opened(); wait != nil {
		select {
		case <-wait:
		case <-r.life.Done():
			return
		}
	}
	a := r.route.now()
	if a == nil || p.generation != 0 && p.generation != a.generation {
		return
	}
	ctx, cancel := context.WithTimeout(r.life, tellTime)
	defer cancel()
	if err := a.link.tell(ctx, p.raw, p.about); err != nil {
		r.log.Debug("notification not delivered", "error", err)
		r.missed(a, err)
	}
}

// output writes messages to the client. A client that does not read holds its writers, and with
// them the exchanges that bring more.
type output struct {
	*mcp.Output
	log *slog.Logger
}

// line writes one message and does not keep or change raw. That it could not is known by the
// end of the relay.
func (o output) line(raw []byte) {
	if err := o.Write(raw); err != nil {
		o.log.Debug("message not written", "error", err)
	}
}
