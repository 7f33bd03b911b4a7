package mcp

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"
)

// This file writes lines from several goroutines to one pipe, and notices when the other side has stopped reading.

const (
	// holdTime is how long a caller waits for a reader that does not read, on systems where a write without
	// waiting is not possible.
	holdTime = 50 * time.Millisecond
	// maxPending bounds the bytes that wait for a reader that does not read.
	maxPending = 64 << 20
	// maxSpare bounds the buffer kept for the next write, in bytes.
	maxSpare = 256 << 10
)

// ErrNotReading says that the other side has stopped reading and too much is waiting for it.
var ErrNotReading = errors.New("the other side does not read its input")

// lineWriter writes lines from many goroutines. If nobody is writing, a caller writes its line itself, and
// after it the lines that have arrived meanwhile. So a single call needs no goroutine switch, and many calls
// at once share system calls. If the other side does not take everything at once, a separate goroutine writes
// the rest, so that no caller is blocked by a reader that does not read.
type lineWriter struct {
	w   io.Writer
	raw syscall.RawConn // of w, if it is a file; used only by the current writer

	mu      sync.Mutex
	writing bool
	pending []byte // waits to be written
	spare   []byte
	err     error // set when writing has failed
}

func (l *lineWriter) write(line []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return l.err
	}
	if l.writing {
		if len(l.pending)+len(line) > maxPending && len(l.pending) > 0 {
			return fmt.Errorf("%w: %d bytes wait", ErrNotReading, len(l.pending))
		}
		l.pending = append(append(l.pending, line...), '\n')
		return nil
	}
	l.writing = true
	buf := append(append(l.spare[:0], line...), '\n')
	l.spare = nil
	rest, err := l.put(buf, false)
	if err == nil && rest != nil {
		go l.flush(buf, rest) // ends when the other side reads or its end is closed
		return nil
	}
	l.drain(buf, err)
	return err
}

// flush writes the rest of what the other side did not take at once.
func (l *lineWriter) flush(buf, rest []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err := l.put(rest, true)
	l.drain(buf, err)
}

// drain writes what has arrived meanwhile until nothing is left.
func (l *lineWriter) drain(buf []byte, err error) {
	for err == nil && len(l.pending) > 0 {
		buf, l.pending = l.pending, buf[:0]
		var rest []byte
		if rest, err = l.put(buf, false); rest != nil {
			go l.flush(buf, rest)
			return
		}
	}
	if err != nil && l.err == nil {
		l.err = err
	}
	l.writing = false
	if cap(buf) <= maxSpare {
		l.spare = buf
	}
	if cap(l.pending) > maxSpare {
		l.pending = nil
	}
}

// put writes buf; it releases the lock meanwhile. It returns what the other side did not take at once. With
// wait set it waits until everything is written.
func (l *lineWriter) put(buf []byte, wait bool) ([]byte, error) {
	l.mu.Unlock()
	defer l.mu.Lock()
	if wait {
		_, err := l.w.Write(buf)
		return nil, err
	}
	n, err := l.tryWrite(buf)
	if err != nil || n == len(buf) {
		return nil, err
	}
	return buf[n:], nil
}

// deadlineWrite writes as much as the other side takes within holdTime.
func (l *lineWriter) deadlineWrite(buf []byte) (n int, err error) {
	if d, ok := l.w.(interface{ SetWriteDeadline(time.Time) error }); ok {
		_ = d.SetWriteDeadline(time.Now().Add(holdTime)) // a file without deadlines is written without one
		defer func() { _ = d.SetWriteDeadline(time.Time{}) }()
	}
	n, err = l.w.Write(buf)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = nil
	}
	return n, err
}
