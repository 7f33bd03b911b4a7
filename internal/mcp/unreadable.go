package mcp

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"collie/internal/lazyregexp"
)

// This file guesses which request an unreadable answer belongs to, so that its caller need not wait for a timeout.

// AnswerError says that a server answered a request with something unreadable. The request was probably
// executed.
type AnswerError struct {
	// Offset is the byte of the message, from 0, at which parsing failed.
	Offset int
	// Found is the text at Offset: a few bytes, quoted.
	Found string
	// Err says what was expected: a [*syntaxError] or an [*invalidError].
	Err error
}

// Error names the place and what was found there.
func (e *AnswerError) Error() string {
	text := e.Err.Error()
	if _, ok := errors.AsType[*syntaxError](e.Err); !ok {
		text = fmt.Sprintf("at byte %d: %s", e.Offset, text)
	}
	return "the answer cannot be read: " + text + ", found " + e.Found
}

// Unwrap returns the cause.
func (e *AnswerError) Unwrap() error { return e.Err }

// maxFound bounds AnswerError.Found in bytes, before quoting.
const maxFound = 24

// unreadableError returns the error for the answer b, which could not be parsed because of err.
func unreadableError(b []byte, err error) *AnswerError {
	e := &AnswerError{Err: err}
	if syntax, ok := errors.AsType[*syntaxError](err); ok {
		e.Offset = min(syntax.Offset, len(b))
	}
	rest := b[e.Offset:]
	switch {
	case len(rest) == 0:
		e.Found = "its end"
	case len(rest) > maxFound:
		e.Found = fmt.Sprintf("%q…", strings.ToValidUTF8(string(rest[:maxFound]), ""))
	default:
		e.Found = fmt.Sprintf("%q", rest)
	}
	return e
}

// marks describe a frame that is not a message.
type marks struct {
	id      ID   // as written; empty if it cannot be read
	foreign bool // the id has a type that no message may have
	answer  bool // meant to be a response to a request of ours
	method  bool // meant to be a request or a notification
}

// The members that reveal what a frame was meant to be, as bits; see [marksOf].
const (
	sawVersion = 1 << iota
	sawOutcome // "result" or "error"
)

// marksOf guesses what a frame was meant to be. The frame need not be valid JSON: only quotes and brackets
// are followed, so invalid words, too much depth or a missing end do not matter. A frame with neither an id
// nor "jsonrpc" is not an answer, since a program may write its log as JSON lines to stdout.
func marksOf(b []byte) marks {
	var m marks
	i := skipSpace(b, 0)
	if i >= len(b) || b[i] != '{' {
		return m
	}
	saw, depth, key := 0, 0, false
	lost := false // the quotes do not match up
	for i < len(b) {
		switch b[i] {
		case '{', '[':
			depth++
			key = depth == 1
		case '}', ']':
			depth--
		case ',':
			key = depth == 1
		case '"':
			end := looseString(b, i)
			if end < 0 {
				lost, end = true, len(b)
			} else if at := skipSpace(b, end); key && at < len(b) && b[at] == ':' {
				saw |= m.member(b, b[i+1:end-1], skipSpace(b, at+1))
				key = false
			}
			i = end
			continue
		}
		i++
	}
	if m.id == "" && !m.method && (lost || depth <= 0) {
		m.id = lastID(b)
	}
	m.judge(saw)
	return m
}

// member handles one member of the outermost object; its value begins at i.
func (m *marks) member(b, name []byte, i int) (saw int) {
	switch string(name) {
	case "jsonrpc":
		return sawVersion
	case "result", "error":
		return sawOutcome
	case "method":
		m.method = true
	case "id":
		end, err := skipValue(b, i, maxDepth)
		switch {
		case err != nil || m.id != "":
		case b[i] == '{' || b[i] == '[' || b[i] == 't' || b[i] == 'f':
			m.foreign = true
		default:
			m.id = ID(cleanUTF8(b[i:end]))
		}
	}
	return 0
}

func (m *marks) judge(saw int) {
	m.answer = !m.method && !m.foreign && (saw&sawVersion != 0 && (saw&sawOutcome != 0 || m.id != "") || saw&sawOutcome != 0 && m.id != "")
}

// marksOfCut is like marksOf for a frame of which only the beginning and the end were kept.
func marksOfCut(head, tail []byte) marks {
	m := marksOf(head)
	if m.id == "" && !m.method {
		m.id = lastID(tail)
	}
	m.answer = !m.method && !m.foreign && (m.answer || m.id != "")
	return m
}

// looseString returns the index after the string that begins at i, -1 if it has no end.
func looseString(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return -1
}

// endsWithID matches the end of a response whose id follows its result.
var endsWithID = lazyregexp.New(`"id"\s*:\s*("(?:[^"\\]|\\.)*"|\d+)\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$`)

// lastID returns the id in the last bytes of a response, empty if there is none.
func lastID(b []byte) ID {
	found := endsWithID.FindSubmatch(b[max(0, len(b)-frameHead):])
	if found == nil {
		return ""
	}
	return ID(cleanUTF8(found[1]))
}

// badFrameError returns the error for the frame b, which could not be parsed because of err.
func badFrameError(b []byte, err error) *FrameError {
	return &FrameError{Head: head(b), Err: err, marks: marksOf(b), answer: unreadableError(b, err)}
}

// cutFrameError returns the error for a frame over the limit, of which begin and end were kept.
func cutFrameError(begin, end []byte, err error) *FrameError {
	begin = head(begin)
	return &FrameError{Head: begin, TooLong: true, Err: err, marks: marksOfCut(begin, end)}
}

// unreadableAnswer returns the error for the request that the frame was meant to answer.
func (e *FrameError) unreadableAnswer() error {
	if e.answer != nil {
		return e.answer
	}
	return e.Err
}

// tidy returns a message without surrounding white space, a leading byte order mark, and invalid UTF-8.
func tidy(raw []byte) []byte {
	const blank = " \t\r\n"
	raw = bytes.Trim(raw, blank)
	if rest, ok := bytes.CutPrefix(raw, []byte("\uFEFF")); ok {
		raw = bytes.Trim(rest, blank)
	}
	return cleanUTF8(raw)
}
