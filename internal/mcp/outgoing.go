package mcp

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
)

// What becomes of a message that a client does not read in time differs. Answers and questions
// wait; a notice that lists have changed need not stand twice in what waits; progress may be
// thinned out (2025-11-25, Progress: rate limiting); of all others as many are kept as there is
// room for, and the client is told how many were left out.
type kind uint8

const (
	must     kind = iota // arrives, or the connection ends; none of these can a server send as it likes
	signal               // says that something has happened, not more; has room of its own beside the notes
	progress             // may be thinned out
	note                 // left out where there is no room, and the client is told
)

// kindOf is what a notification of a method is.
func kindOf(method string) kind {
	switch method {
	case "notifications/tools/list_changed", "notifications/resources/list_changed", "notifications/prompts/list_changed",
		"notifications/roots/list_changed", "notifications/resources/updated",
		"notifications/elicitation/complete":
		return signal
	case "notifications/progress":
		return progress
	case "notifications/cancelled", "notifications/subscriptions/acknowledged":
		return must
	}
	return note
}

// split is the size from which on a result is not copied into the message around it.
const split = 64 << 10

// outgoing is a message on its way to a client: head, or, for a large result, head, body and
// a closing brace.
type outgoing struct{ head, body []byte }

// answerTo is the response to a request: result, or err as an error object.
func answerTo(id ID, result json.RawMessage, err error) outgoing {
	if err != nil || len(result) < split {
		return outgoing{head: answerOf(id, result, err)}
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
	unbreak(dst[begin:])
	return dst
}

// pieces calls put with the parts of the message, line breaks taken out, each of at most size
// bytes, until put fails. put must not keep them.
func (m *outgoing) pieces(size int, put func([]byte) error) error {
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

// unbreak replaces line breaks by spaces, in place; see [oneLine].
func unbreak(b []byte) {
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

// gap counts messages that were left out for want of room.
type gap struct {
	n     int
	level int // the most severe log level among them, as an index of logLevels
}

// logLevels are those of MCP, from the most talkative.
var logLevels = [...]string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

func (g *gap) add(raw []byte) {
	g.n++
	level := slices.Index(logLevels[:], GetString(raw, "params", "level"))
	g.level = max(g.level, level, 3)
}

// notice returns the message that tells of the gap, and closes it; ok is false where there is
// none. Its level lets it pass where any of those left out would have passed.
func (g *gap) notice() (raw []byte, ok bool) {
	if g.n == 0 {
		return nil, false
	}
	text := strconv.Itoa(g.n) + " messages were left out here: they came faster than this client reads them"
	if g.n == 1 {
		text = "1 message was left out here: more came than this client reads"
	}
	level := logLevels[g.level]
	*g = gap{}
	return AppendNotification(nil, "notifications/message", Edit(nil,
		Field{"level", Quote(level)}, Field{"logger", Quote("collie")}, Field{"data", Quote(text)})), true
}
