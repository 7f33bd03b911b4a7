package mcp

import (
	"cmp"
	"io"
)

// EventReader reads the messages of a text/event-stream, for programs that pass them on.
// It is used by one goroutine.
type EventReader struct{ r *sseReader }

// NewEventReader reads r. An event of more than maxEvent bytes is skipped; 0 means
// [DefaultMaxFrame]. lastID is where an earlier connection got to, empty for a new stream.
func NewEventReader(r io.Reader, maxEvent int, lastID string) *EventReader {
	maxEvent = cmp.Or(max(maxEvent, 0), DefaultMaxFrame)
	return &EventReader{newSSEReader(r, maxEvent, lastID)}
}

// Next returns the data of the next event that has any, which is the caller's to keep. A
// [*FrameError] reports an event over the limit, and the stream goes on; any other error is
// the end of it.
func (e *EventReader) Next() ([]byte, error) {
	ev, err := e.r.next()
	return ev.data, err
}

// LastID is what Last-Event-ID should say to go on behind the last event, empty if the
// stream cannot be gone on with.
func (e *EventReader) LastID() string { return e.r.lastID }

// Response is the JSON-RPC error that answers the frame.
func (e *FrameError) Response() []byte {
	answer, id := frameAnswer(e)
	return AppendError(nil, id, answer.Object())
}
