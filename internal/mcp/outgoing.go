package mcp

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
)

// This file has messages on their way to a client, and says which may be dropped when it does not read.

// kind says what happens to a message that the client does not read in time. Answers and requests wait. The same
// notification that a list has changed waits only once. Progress may be thinned out (2025-11-25, Progress: rate
// limiting). Other notifications are kept while there is room, and the client is told how many were left out.
type kind uint8

const (
	mustArrive   kind = iota // arrives, or the connection ends; servers cannot cause an unlimited number of these
	signal                   // says only that something has happened; has twice the room of the two below
	progressKind             // may be thinned out
	mayBeDropped             // left out if there is no room; the client is told how many
)

// kindOf returns the kind of a notification by its method.
func kindOf(method string) kind {
	switch method {
	case "notifications/tools/list_changed", "notifications/resources/list_changed", "notifications/prompts/list_changed",
		"notifications/roots/list_changed", "notifications/resources/updated",
		"notifications/elicitation/complete":
		return signal
	case "notifications/progress":
		return progressKind
	case "notifications/cancelled", "notifications/subscriptions/acknowledged":
		return mustArrive
	}
	return mayBeDropped
}

// splitSize is the size in bytes from which a result is not copied into the message around it.
const splitSize = 64 << 10

// outgoing is a message to a client: head or, for a large result, head, body and a closing brace.
type outgoing struct{ head, body []byte }

// answerTo returns the response to a request: result, or err as an error object.
func answerTo(id ID, result json.RawMessage, err error) outgoing {
	if err != nil || len(result) < splitSize {
		return outgoing{head: responseBytes(id, result, err)}
	}
	head := append(make([]byte, 0, 40+len(id)), `{"jsonrpc":"2.0","id":`...)
	return outgoing{head: append(append(head, id...), `,"result":`...), body: result}
}

func (m *outgoing) size() int {
	if m.body == nil {
		return len(m.head)
	}
	return len(m.head) + len(m.body) + 1
}

// appendLine appends the message to dst without line breaks.
func (m *outgoing) appendLine(dst []byte) []byte {
	begin := len(dst)
	dst = append(dst, m.head...)
	if m.body != nil {
		dst = append(append(dst, m.body...), '}')
	}
	joinLinesInPlace(dst[begin:])
	return dst
}

// eachPiece calls put with successive parts of the message, without line breaks, each at most size bytes long.
// It stops at the first error of put. put must not keep the slices.
func (m *outgoing) eachPiece(size int, put func([]byte) error) error {
	for _, part := range [][]byte{m.head, m.body} {
		for piece := range slices.Chunk(part, size) {
			if err := put(oneLine(piece)); err != nil {
				return err
			}
		}
	}
	if m.body == nil {
		return nil
	}
	return put([]byte{'}'})
}

// joinLinesInPlace replaces line breaks by spaces in place; see [oneLine].
func joinLinesInPlace(b []byte) {
	for _, c := range []byte("\n\r") {
		for i := bytes.IndexByte(b, c); i >= 0; {
			b[i] = ' '
			next := bytes.IndexByte(b[i+1:], c)
			if next < 0 {
				break
			}
			i += 1 + next
		}
	}
}

// droppedCount counts messages that were left out for lack of room.
type droppedCount struct {
	n     int
	level int // the most severe log level among them, as an index of logLevels
}

// logLevels are the levels of MCP, least severe first.
var logLevels = [...]string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

func (g *droppedCount) add(raw []byte) {
	g.n++
	level := slices.Index(logLevels[:], GetString(raw, "params", "level"))
	g.level = max(g.level, level, 3)
}

// gapNotice returns a log message that reports the gap, and resets g; ok is false if there is no gap. Its level
// is high enough to reach any client that would have received one of the messages.
func (g *droppedCount) gapNotice() (raw []byte, ok bool) {
	if g.n == 0 {
		return nil, false
	}
	text := strconv.Itoa(g.n) + " messages were left out here: they came faster than this client reads them"
	if g.n == 1 {
		text = "1 message was left out here: more came than this client reads"
	}
	level := logLevels[g.level]
	*g = droppedCount{}
	return AppendNotification(nil, "notifications/message", Edit(nil,
		Field{"level", Quote(level)}, Field{"logger", Quote("collie")}, Field{"data", Quote(text)})), true
}
