package mcp

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
)

// This file defines a Stream of whole messages, and has the one of stdio: a message a line.

// DefaultMaxFrame is the default bound for one message, answer or event, in bytes.
const DefaultMaxFrame = 64 << 20

// A Stream carries whole messages in both directions, in order.
type Stream interface {
	// Read returns the next message. A [*FrameError] reports input that is not a message; the stream goes on
	// after it. Any other error is the end of the stream. Read is called by one goroutine at a time.
	Read() (Message, error)
	// Write sends one message and does not keep raw. It may be called concurrently.
	Write(raw []byte) error
	// Close makes Read return. It may be called twice, and while Read or Write run.
	Close() error
}

// FrameError reports a frame that is not a message: other output, broken JSON, or a frame over the limit.
type FrameError struct {
	Head    []byte // the frame, or its first 4 KiB
	TooLong bool
	Err     error // a syntaxError, an invalidError, or which limit was exceeded

	marks  marks        // what the frame was meant to be
	answer *AnswerError // where parsing failed; nil for a frame over the limit
}

// Error names the cause.
func (e *FrameError) Error() string { return "bad frame: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *FrameError) Unwrap() error { return e.Err }

const frameHead = 4 << 10

// Lines is a Stream with one message per line, the stdio transport of MCP. It accepts CRLF, blank lines, a
// byte order mark and batches, and replaces invalid UTF-8.
type Lines struct {
	r     *bufio.Reader
	w     lineWriter
	max   int
	close func() error
	queue []Message // messages of a batch that were not returned yet
}

// NewLines returns a Stream that reads lines from r and writes lines to w. maxFrame bounds a line in bytes; 0
// means [DefaultMaxFrame]. Close calls close; nil does nothing.
func NewLines(r io.Reader, w io.Writer, maxFrame int, close func() error) *Lines {
	maxFrame = cmp.Or(max(maxFrame, 0), DefaultMaxFrame)
	return &Lines{r: bufio.NewReaderSize(r, 64<<10), w: lineWriter{w: w}, max: maxFrame, close: close}
}

// Read returns the next message; see [Stream].
func (l *Lines) Read() (Message, error) {
	for len(l.queue) == 0 {
		line, err := l.line()
		if err != nil {
			return Message{}, err
		}
		if line = tidy(line); len(line) == 0 {
			continue
		}
		if line[0] == '[' {
			if err := l.batch(line); err != nil {
				return Message{}, err
			}
			continue
		}
		m, err := Parse(line)
		if err != nil {
			return Message{}, badFrameError(line, err)
		}
		return m, nil
	}
	m := l.queue[0]
	l.queue = l.queue[1:]
	return m, nil
}

func (l *Lines) batch(line []byte) error {
	msgs, bad, err := parseBatch(line)
	switch {
	case err != nil:
		return badFrameError(line, err)
	case len(msgs) == 0:
		return &FrameError{Head: head(line), Err: &invalidError{Message: "expected messages in a batch"}}
	}
	l.queue = msgs
	if bad > 0 {
		return &FrameError{Head: head(line), Err: &invalidError{Message: fmt.Sprintf("%d members of a batch are not messages", bad)}}
	}
	return nil
}

// line returns the next line in newly allocated memory, without its line end. A last line without a line end
// counts.
func (l *Lines) line() ([]byte, error) {
	part, err := l.r.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		if len(part) == 0 {
			return nil, err
		}
		return l.bounded(bytes.Clone(part))
	}
	// Joining the pieces once at the end copies less and leaves less garbage than a growing buffer, for lines
	// of many megabytes.
	var parts [][]byte
	size := 0
	for errors.Is(err, bufio.ErrBufferFull) {
		parts = append(parts, bytes.Clone(part))
		if size += len(part); size > l.max+1 { // one more byte may belong to the line end
			return nil, l.skip(parts[0])
		}
		part, err = l.r.ReadSlice('\n')
	}
	return l.bounded(bytes.Join(append(parts, part), nil))
}

// bounded returns an error if a complete line is too long without its line end.
func (l *Lines) bounded(line []byte) ([]byte, error) {
	if len(line) > l.max && len(bytes.TrimRight(line, "\r\n")) > l.max {
		return nil, cutFrameError(line, line, l.tooLong())
	}
	return line, nil
}

// skip drops the rest of a line that is too long.
func (l *Lines) skip(begin []byte) error {
	var end []byte // the last bytes so far
	for {
		part, err := l.r.ReadSlice('\n')
		if len(part) < frameHead {
			end = append(end, part...)
		} else {
			end = append(end[:0], part...)
		}
		end = end[max(0, len(end)-frameHead):]
		if !errors.Is(err, bufio.ErrBufferFull) {
			return cutFrameError(begin, end, l.tooLong())
		}
	}
}

func (l *Lines) tooLong() error { return fmt.Errorf("message longer than %d bytes", l.max) }

func head(b []byte) []byte { return bytes.Clone(b[:min(len(b), frameHead)]) }

// Write sends raw as one line.
func (l *Lines) Write(raw []byte) error { return l.w.write(oneLine(raw)) }

// Close calls the function given to NewLines.
func (l *Lines) Close() error {
	if l.close == nil {
		return nil
	}
	return l.close()
}
