package process

import (
	"strings"
	"sync"
	"time"
)

// The limits of a [Ring].
const (
	ringLines = 500
	ringBytes = 64 << 10
)

// Entry is one line of a log.
type Entry struct {
	Time   time.Time
	Stream string // "stderr", "noise" or another name given to Add
	Text   string // without the line break; invalid UTF-8 is replaced
}

// Ring keeps the last lines of text, up to 500 lines and 64 KiB. A longer line is cut. The zero value is
// empty and ready. It is safe for concurrent use.
type Ring struct {
	mu      sync.Mutex
	entries []Entry
	bytes   int
}

// Add appends a line with the current time and drops the oldest lines beyond the limits. It returns the entry
// as kept.
func (r *Ring) Add(stream, text string) Entry {
	if len(text) > ringBytes {
		text = strings.Clone(text[:ringBytes]) // or the whole line would stay in memory
	}
	e := Entry{Time: time.Now(), Stream: stream, Text: strings.ToValidUTF8(text, "\uFFFD")}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.entries = append(r.entries, e)
	r.bytes += len(e.Text)
	for len(r.entries) > 1 && (len(r.entries) > ringLines || r.bytes > ringBytes) {
		r.bytes -= len(r.entries[0].Text)
		r.entries[0] = Entry{} // the array stays in use: release the text
		r.entries = r.entries[1:]
	}
	return e
}

// Lines returns the text of the last n lines, oldest first; all lines for n <= 0.
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

// Entries returns a copy of all entries, oldest first.
func (r *Ring) Entries() []Entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Entry(nil), r.entries...)
}
