package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// This file splits an HTTP answer into frames: server-sent events or lines of JSON.

// Limits of what one frame may hold, in bytes.
const (
	lineLimit  = 8 << 20
	eventLimit = 16 << 20
)

// errTooLong is the cause of an error about a frame over a limit.
var errTooLong = errors.New("longer than any answer should be")

// Frame is one server-sent event, or one line of JSON lines.
type Frame struct {
	Event string // name of the event, if it has one
	Data  []byte
	last  bool // the stream ended right after it
}

// frameReader splits r into frames, however the bytes arrive, and looks at each byte once.
type frameReader struct {
	r     io.Reader
	lines bool // JSON lines

	buf    []byte // buf[lo:hi] has been read but not consumed
	lo, hi int
	skipLF bool // the last line ended with \r: a \n that follows belongs to it
	begun  bool
	cut    bool  // the stream ended within the last line
	err    error // of r
	data   []byte
}

// newFrames reads server-sent events from r, as the WHATWG HTML standard has them, or JSON lines.
func newFrames(r io.Reader, lines bool) *frameReader {
	return &frameReader{r: r, lines: lines, buf: make([]byte, 8<<10)}
}

// next returns the next frame that has data. The frame is valid until the following call. A last event without its
// blank line counts. The error is io.EOF at a clean end.
func (f *frameReader) next() (Frame, error) {
	f.data = f.data[:0]
	var name string
	has := false
	for {
		line, err := f.readLine()
		switch {
		case errors.Is(err, io.EOF) && has && !f.lines:
			return Frame{name, f.data, true}, nil
		case err != nil:
			return Frame{}, err
		case f.lines && len(bytes.TrimSpace(line)) > 0:
			return Frame{Data: line, last: f.cut}, nil
		case f.lines:
			continue
		case len(line) == 0 && has:
			return Frame{Event: name, Data: f.data}, nil
		case len(line) == 0:
			name = ""
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "event":
			name = string(value)
		case "data":
			if has {
				f.data = append(f.data, '\n')
			}
			has = true
			if f.data = append(f.data, value...); len(f.data) > eventLimit {
				return Frame{}, fmt.Errorf("an event of over %d MiB: %w", eventLimit>>20, errTooLong)
			}
		}
	}
}

// readLine returns the next line without its end. An unfinished last line counts if the stream ended cleanly.
func (f *frameReader) readLine() ([]byte, error) {
	scan := 0
	for {
		if f.skipLF && f.lo < f.hi {
			if f.skipLF = false; f.buf[f.lo] == '\n' {
				f.lo++
			}
		}
		rest := f.buf[f.lo:f.hi]
		if at := bytes.IndexAny(rest[scan:], "\r\n"); at >= 0 {
			line := rest[:scan+at]
			f.lo += scan + at + 1
			f.skipLF = rest[scan+at] == '\r'
			return f.trimBOM(line), nil
		}
		if scan = len(rest); scan > lineLimit {
			return nil, fmt.Errorf("a line of over %d MiB: %w", lineLimit>>20, errTooLong)
		}
		if f.err != nil {
			f.lo = f.hi
			if scan > 0 && errors.Is(f.err, io.EOF) {
				f.cut = true
				return f.trimBOM(rest), nil
			}
			return nil, f.err
		}
		f.fillBuffer()
	}
}

// trimBOM removes the byte order mark from the first line.
func (f *frameReader) trimBOM(line []byte) []byte {
	if !f.begun {
		f.begun = true
		line = bytes.TrimPrefix(line, []byte("\ufeff"))
	}
	return line
}

// fillBuffer reads once, after making room in the buffer.
func (f *frameReader) fillBuffer() {
	if f.lo > 0 {
		f.hi = copy(f.buf, f.buf[f.lo:f.hi])
		f.lo = 0
	}
	if f.hi == len(f.buf) {
		f.buf = append(f.buf, make([]byte, len(f.buf))...)
	}
	n, err := f.r.Read(f.buf[f.hi:])
	f.hi += n
	f.err = err
}
