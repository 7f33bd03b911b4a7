package process

import (
	"strings"
	"sync"
	"time"
)

// The bounds of a [Ring].
const (
	ringLines = 500
	ringBytes = 64 << 10
)

// Entry is one line of a log.
type Entry struct {
	Time   time.Time
	Stream string // "stderr", "noise" or what the caller of Add named
	Text   string // without the line break; invalid UTF-8 is replaced
}

// Ring keeps the last 500 lines or 64 KiB of text, whichever is less; a longer line is
// cut. The zero value is empty and ready. It is safe for concurrent use.
type Ring struct {
	mu      sync.Mutex
	entries []Entry
	bytes   int
}

// Add appends a line with the time of now and drops the oldest ones over the bounds. It
// returns what it keeps of the line.
func (r *Ring) Add(stream, text string) Entry {
	if len(text) > ringBytes {
		text = strings.Clone(text[:ringBytes]) // not to keep the whole
	}
	e := Entry{Time: time.Now(), Stream: stream, Text: strings.ToValidUTF8(text, "\uFFFD")}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.entries = append(r.entries, e)
	r.bytes += len(e.Text)
	for len(r.entries) > 1 && (len(r.entries) > ringLines || r.bytes > ringBytes) {
		r.bytes -= len(r.entries[0].Text)
		r.entries[0] = Entry{} // the array lives on: let the text go
		r.entries = r.entries[1:]
	}
	return e
}

// Lines returns the text of the last n lines, oldest first; of all for n <= 0.
func (r *Ring) Lines(n int) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	last := r.entries
	if n > 0 && n < len(last) {
		last = last[len(last)-n:]
	}
	lines := make([]string, len(last))
	for i, e := range last {
		lines[i] = e.Text
	}
	return lines
}

// Entries returns a copy of all that is kept, oldest first.
func (r *Ring) Entries() []Entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Entry(nil), r.entries...)
}
