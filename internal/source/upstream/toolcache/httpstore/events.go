package httpstore

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"collie/internal/source/upstream/toolcache"
)

// writeTimeout bounds how long a listener may leave what it is sent.
const writeTimeout = 10 * time.Second

// events sends the generation now and whenever it is another one. The stream ends when the
// listener goes, does not listen, or the backend cannot be watched: it then comes back.
func (h *handler) events(w http.ResponseWriter, r *http.Request) {
	l := h.hub.join()
	defer h.hub.leave(l)
	snap, err := h.backend.Load(r.Context())
	if err != nil {
		fail(w, err)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no")
	conn := http.NewResponseController(w)
	send := func(format string, args ...any) bool {
		_ = conn.SetWriteDeadline(time.Now().Add(writeTimeout)) // where it is supported
		_, err := fmt.Fprintf(w, format, args...)
		return err == nil && conn.Flush() == nil
	}
	const event = "event: generation\ndata: %d\n\n"
	told, ok := snap.Generation, send(event, snap.Generation)
	beat := time.NewTicker(h.heartbeat)
	defer beat.Stop()
	for ok {
		select {
		case generation := <-l.news:
			if generation != told {
				told, ok = generation, send(event, generation)
			}
		case <-beat.C:
			ok = send(": still here\n\n")
		case <-l.down:
			return
		case <-r.Context().Done():
			return
		}
	}
}

// hub watches the backend once for all who listen.
type hub struct {
	backend toolcache.Backend

	life  sync.Mutex    // held while the watch starts and ends; guards what follows
	stop  func()        // ends the watch; nil if there is none
	ended chan struct{} // closed when it has ended

	mu        sync.Mutex // guards what follows
	watching  bool
	listeners map[*listener]bool
}

type listener struct {
	news chan uint64   // the newest generation that was not taken yet
	down chan struct{} // closed when no more news will come
}

func (h *hub) join() *listener {
	h.life.Lock()
	defer h.life.Unlock()
	l := &listener{make(chan uint64, 1), make(chan struct{})}
	h.mu.Lock()
	if h.listeners == nil {
		h.listeners = map[*listener]bool{}
	}
	h.listeners[l] = true
	start := !h.watching
	h.watching = true
	h.mu.Unlock()
	if start {
		if h.stop != nil { // the last one failed
			h.stop()
			<-h.ended
		}
		ctx, cancel := context.WithCancel(context.Background()) // it outlives the request that is the first
		h.stop, h.ended = cancel, make(chan struct{})
		go h.watch(ctx, h.ended)
	}
	return l
}

func (h *hub) leave(l *listener) {
	h.life.Lock()
	defer h.life.Unlock()
	h.mu.Lock()
	delete(h.listeners, l)
	last := len(h.listeners) == 0
	h.mu.Unlock()
	if last && h.stop != nil {
		h.stop()
		<-h.ended
		h.stop = nil
	}
}

// watch tells those who listen of what others commit, and that it cannot.
func (h *hub) watch(ctx context.Context, ended chan struct{}) {
	defer close(ended)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	_ = h.backend.Watch(ctx, func() { // why it ended, the next listener is told
		snap, err := h.backend.Load(ctx)
		if err != nil {
			cancel()
			return
		}
		h.tell(snap.Generation)
	})
	h.mu.Lock()
	defer h.mu.Unlock()
	h.watching = false
	for l := range h.listeners {
		close(l.down)
		delete(h.listeners, l)
	}
}

func (h *hub) tell(generation uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for l := range h.listeners {
		select {
		case <-l.news: // outdated
		default:
		}
		l.news <- generation
	}
}
