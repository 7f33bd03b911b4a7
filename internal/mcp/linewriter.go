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

const (
	// holdTime is how long a caller is held by a reader that does not read, where writing
	// without waiting is not to be had.
	holdTime = 50 * time.Millisecond
	// maxPending bounds what waits for a reader that does not read.
	maxPending = 64 << 20
	// maxSpare bounds the buffer kept for the next write.
	maxSpare = 256 << 10
)

// ErrNotReading says that the other side has stopped reading and too much waits for it.
var ErrNotReading = errors.New("the other side does not read its input")

// lineWriter writes lines from many goroutines. The first one to come writes at once, in
// its own goroutine; lines that arrive meanwhile are sent together by it afterwards. So a
// single call pays no switch of goroutines, and many at once share system calls. What the
// other side does not take at once is written by a goroutine of its own, so that no caller
// is held by a reader that does not read.
type lineWriter struct {
	w   io.Writer
	raw syscall.RawConn // of w, if it is a file; used by whoever has the turn

	mu      sync.Mutex
	writing bool
	pending []byte // waits for the goroutine that writes
	spare   []byte
	err     error // the writer is broken
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

// flush goes on with a write that the other side did not take at once.
func (l *lineWriter) flush(buf, rest []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err := l.put(rest, true)
	l.drain(buf, err)
}

// drain writes what has come meanwhile until nothing is left, and hands the turn back.
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

// put writes buf with the lock released. It returns what is left of it if the other side
// does not take all at once; with wait it goes on until all is written.
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

// deadlineWrite writes what the other side takes before a caller has waited for holdTime.
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
