package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"
)

const (
	// maxNotifications bounds the notifications that wait for the caller to read, in bytes.
	maxNotifications = 8 << 20
	// writeTimeout is how long a caller may read nothing of what is written before its call is ended.
	writeTimeout = time.Minute
)

// lines writes to the caller of a dialogue, who may read slowly. One goroutine writes the queued lines; begin
// starts it and end waits for it.
type lines struct {
	mu      sync.Mutex
	queue   [][]byte
	bytes   int // size of queue
	dropped int // notifications dropped for lack of room
	ended   bool
	more    chan struct{} // signals that there is something to do; capacity 1
	written chan struct{} // closed when the goroutine has ended
}

// begin starts to write to w. broken is called when the caller cannot be reached any more.
func (l *lines) begin(w http.ResponseWriter, rc *http.ResponseController, broken func()) {
	l.more, l.written = make(chan struct{}, 1), make(chan struct{})
	go func() { // ends with end, or when the caller cannot be reached
		defer close(l.written)
		for {
			batch, ended := l.next()
			for _, line := range batch {
				_ = rc.SetWriteDeadline(time.Now().Add(writeTimeout)) // without deadlines, a write may wait without limit
				if _, err := w.Write(line); err != nil {
					broken()
					return
				}
			}
			if rc.Flush() != nil {
				broken()
				return
			}
			if ended {
				_ = rc.SetWriteDeadline(time.Time{})
				return
			}
			if len(batch) == 0 {
				<-l.more
			}
		}
	}()
}

// next takes all queued lines. ended is true if there are none, and none will come.
func (l *lines) next() (batch [][]byte, ended bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reportDropped()
	batch = l.queue
	l.queue, l.bytes = nil, 0
	return batch, l.ended && len(batch) == 0
}

// reportDropped adds a line that says how many notifications were dropped at this place.
func (l *lines) reportDropped() {
	if l.dropped > 0 {
		l.queue = append(l.queue, fmt.Appendf(nil, `{"notify":{"method":"notifications/message","params":{"level":"warning","logger":"collie",`+
			`"data":"%d messages were left out here: they came faster than this client reads them"}}}`+"\n", l.dropped))
		l.dropped = 0
	}
}

// send queues a line that must arrive.
func (l *lines) send(line json.RawMessage) { l.enqueue(line, false) }

// notify queues a notification, or drops it if too many are waiting.
func (l *lines) notify(line json.RawMessage) { l.enqueue(line, true) }

// enqueue adds a line to the queue. One that is droppable is left out if there is no room; once lines were dropped, so are all
// droppable ones until the writer has taken the queue.
func (l *lines) enqueue(line []byte, droppable bool) {
	l.mu.Lock()
	if droppable && (l.dropped > 0 || l.bytes+len(line) > maxNotifications) {
		l.dropped++
	} else {
		l.reportDropped()
		l.queue = append(l.queue, append(line, '\n'))
		l.bytes += len(line)
	}
	l.mu.Unlock()
	l.wake()
}

// wake tells the writer that there is something to do.
func (l *lines) wake() {
	select {
	case l.more <- struct{}{}:
	default:
	}
}

// end waits until everything is written or the caller cannot be reached any more.
func (l *lines) end() {
	l.mu.Lock()
	l.ended = true
	l.mu.Unlock()
	l.wake()
	<-l.written
}
