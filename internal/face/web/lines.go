package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"
)

const (
	// maxNotes bounds, in bytes, the notifications that wait for a caller to read them.
	maxNotes = 8 << 20
	// stall is how long a caller may leave unread what is written to it, before its call ends.
	stall = time.Minute
)

// lines are the way to the caller of a dialogue, who may read slowly. Lines wait in a queue that
// one goroutine writes; begin starts it, and end waits for it.
type lines struct {
	mu      sync.Mutex
	queue   [][]byte
	bytes   int // of queue
	left    int // notifications that there was no room for
	ended   bool
	more    chan struct{} // has one token when there is something to look at
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
				_ = rc.SetWriteDeadline(time.Now().Add(stall)) // a connection without deadlines is waited for
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

func (l *lines) next() (batch [][]byte, ended bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tell()
	batch = l.queue
	l.queue, l.bytes = nil, 0
	return batch, l.ended && len(batch) == 0
}

// tell tells of notifications left out, where they were left out.
func (l *lines) tell() {
	if l.left > 0 {
		l.queue = append(l.queue, fmt.Appendf(nil, `{"notify":{"method":"notifications/message","params":{"level":"warning","logger":"collie",`+
			`"data":"%d messages were left out here: they came faster than this client reads them"}}}`+"\n", l.left))
		l.left = 0
	}
}

// say sends a line that has to arrive.
func (l *lines) say(line json.RawMessage) { l.put(line, false) }

// note sends a notification, or counts it where too many wait.
func (l *lines) note(line json.RawMessage) { l.put(line, true) }

func (l *lines) put(line []byte, note bool) {
	l.mu.Lock()
	if note && (l.left > 0 || l.bytes+len(line) > maxNotes) {
		l.left++
	} else {
		l.tell()
		l.queue = append(l.queue, append(line, '\n'))
		l.bytes += len(line)
	}
	l.mu.Unlock()
	l.wake()
}

func (l *lines) wake() {
	select {
	case l.more <- struct{}{}:
	default:
	}
}

// end waits until all is written, or the caller cannot be reached any more.
func (l *lines) end() {
	l.mu.Lock()
	l.ended = true
	l.mu.Unlock()
	l.wake()
	<-l.written
}
