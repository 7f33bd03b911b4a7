package bridge

import (
	"context"
	"errors"
	"io"
	"sync"

	"collie/internal/mcp"
)

// This file connects a client with a gateway in this process, when there is none in another.

// streamLink is the link to a gateway in this process. It is also the stream from which that gateway reads
// the client's messages.
type streamLink struct {
	opened    Opened
	heard     func(raw []byte) // receives messages outside of requests
	ctx       context.Context
	end       context.CancelFunc
	incoming  chan mcp.Message
	eof       chan struct{} // closed when the client's input has ended
	served    chan struct{} // closed when the gateway has ended
	closeOnce sync.Once

	mu      sync.Mutex
	waiting map[mcp.ID]*waiter
}

type waiter struct {
	f          *request
	generation int
	done       chan error // capacity 1
}

var (
	_ link       = (*streamLink)(nil)
	_ mcp.Stream = (*streamLink)(nil)
)

// newStreamLink starts to serve the client by o.
func newStreamLink(o Opened, heard func(raw []byte)) *streamLink {
	l := &streamLink{
		opened: o, heard: heard, incoming: make(chan mcp.Message), eof: make(chan struct{}), served: make(chan struct{}),
		waiting: map[mcp.ID]*waiter{},
	}
	l.ctx, l.end = context.WithCancel(context.Background())
	go func() { // ends with close
		defer close(l.served)
		_ = o.Serve(l.ctx, l) // the stream itself causes no errors
	}()
	return l
}

// Read returns the client's next message to the gateway.
func (l *streamLink) Read() (mcp.Message, error) {
	select {
	case m := <-l.incoming:
		return m, nil
	case <-l.eof:
		return mcp.Message{}, io.EOF
	}
}

// Write passes a message from the gateway to the request it belongs to, or to heard.
func (l *streamLink) Write(raw []byte) error {
	m, err := mcp.Parse(raw)
	if err != nil {
		return err
	}
	if m.IsResponse() {
		if w := l.takeWaiter(m.ID); w != nil {
			w.done <- w.f.deliverResponse(raw)
		}
		return nil
	}
	if sub := mcp.Get(m.Params, "_meta", mcp.MetaSubscription); sub != nil {
		l.mu.Lock()
		w := l.waiting[mcp.ID(sub)]
		l.mu.Unlock()
		if w != nil {
			w.f.heard(w.generation, raw)
			return nil
		}
	}
	l.heard(raw)
	return nil
}

// Close ends the client's input.
func (l *streamLink) Close() error {
	l.closeOnce.Do(func() { close(l.eof) })
	return nil
}

func (l *streamLink) takeWaiter(id mcp.ID) *waiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.waiting[id]
	delete(l.waiting, id)
	return w
}

var errStopped = errors.New("the gateway in this process has ended")

// enqueue queues a message for the gateway.
func (l *streamLink) enqueue(ctx context.Context, m mcp.Message) error {
	select {
	case l.incoming <- m:
		return nil
	case <-l.eof:
	case <-l.served:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return errStopped
}

// ask makes a request; see [link].
func (l *streamLink) ask(f *request, generation int) error {
	w := &waiter{f: f, generation: generation, done: make(chan error, 1)}
	l.mu.Lock()
	l.waiting[f.m.ID] = w
	l.mu.Unlock()
	if err := l.enqueue(f.ctx, f.m); err != nil {
		l.takeWaiter(f.m.ID)
		return err
	}
	select {
	case err := <-w.done:
		return err
	case <-l.served:
	case <-f.ctx.Done():
	}
	if l.takeWaiter(f.m.ID) == nil {
		return <-w.done // an answer was already being delivered
	}
	if f.ctx.Err() != nil {
		return context.Cause(f.ctx)
	}
	return errStopped
}

// tell passes a message to the gateway.
func (l *streamLink) tell(ctx context.Context, raw []byte, _ *request) error {
	m, err := mcp.Parse(raw)
	if err != nil {
		return err
	}
	return l.enqueue(ctx, m)
}

// listen does nothing: the gateway sends its messages without being asked.
func (l *streamLink) listen(context.Context, func(raw []byte)) error { return nil }

func (l *streamLink) close(context.Context) {
	_ = l.Close()
	l.end()
	<-l.served
	l.opened.Close()
}

// connectsTo returns false: no gateway of another process is the one in this process.
func (l *streamLink) connectsTo(Gateway) bool { return false }
