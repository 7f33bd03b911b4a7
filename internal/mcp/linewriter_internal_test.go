package mcp

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"collie/test/await"
)

// Lines of many writers each arrive whole, once, and in the order of their writer.
func TestLineWriterKeepsLinesWhole(t *testing.T) {
	t.Parallel()
	const writers, each = 16, 100
	for _, slow := range []bool{false, true} {
		t.Run(fmt.Sprintf("slow_reader_%t", slow), func(t *testing.T) {
			t.Parallel()
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			l := &lineWriter{w: w}
			var wg sync.WaitGroup
			for n := range writers {
				wg.Go(func() {
					for i := range each {
						line := fmt.Sprintf("%d %d:%s", n, i, strings.Repeat("x", (n*each+i*37)%5000))
						if err := l.write([]byte(line)); err != nil {
							t.Errorf("line %d of %d: %v", i, n, err)
						}
					}
				})
			}
			next := make([]int, writers)
			lines := bufio.NewReader(r)
			for k := range writers * each {
				text, err := lines.ReadString('\n')
				if err != nil {
					t.Fatalf("after %d lines: %v", k, err)
				}
				var n, i int
				head, rest, _ := strings.Cut(strings.TrimSuffix(text, "\n"), ":")
				if _, err := fmt.Sscan(head, &n, &i); err != nil {
					t.Fatalf("no line of ours: %.40q", text)
				}
				if i != next[n] || len(rest) != (n*each+i*37)%5000 {
					t.Fatalf("line %d of writer %d with %d bytes, want line %d", i, n, len(rest), next[n])
				}
				next[n]++
				if slow && k%500 == 0 {
					await.Moment(2 * holdTime) // until the pipe is full and a write takes too long
				}
			}
			wg.Wait()
			if err := errors.Join(w.Close(), r.Close()); err != nil {
				t.Error(err)
			}
		})
	}
}

// blockedWriter is a writer whose reader does not read. It supports deadlines, as pipes do.
type blockedWriter struct {
	mu    sync.Mutex
	at    time.Time
	freed chan struct{}
	got   bytes.Buffer
}

func (s *blockedWriter) SetWriteDeadline(at time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at = at
	return nil
}

func (s *blockedWriter) Write(p []byte) (int, error) {
	s.mu.Lock()
	at := s.at
	s.mu.Unlock()
	var late <-chan time.Time
	if !at.IsZero() {
		late = time.After(time.Until(at))
	}
	select {
	case <-s.freed:
	case <-late:
		n := len(p) / 2 // a pipe takes as much as fits
		s.got.Write(p[:n])
		return n, os.ErrDeadlineExceeded
	}
	s.got.Write(p)
	return len(p), nil
}

func TestLineWriterHoldsCallersNoLongerThanHoldTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &blockedWriter{freed: make(chan struct{})}
		l := &lineWriter{w: s}
		for i := range 5 {
			begun := time.Now()
			if err := l.write(fmt.Appendf(nil, "line %d", i)); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(begun); took > holdTime || i > 0 && took > 0 {
				t.Errorf("line %d held its writer for %v", i, took)
			}
		}
		close(s.freed)
		synctest.Wait()
		if got, want := s.got.String(), "line 0\nline 1\nline 2\nline 3\nline 4\n"; got != want {
			t.Errorf("arrived %q, want %q", got, want)
		}
	})
}

func TestLineWriterRefusesWhenTooMuchWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &blockedWriter{freed: make(chan struct{})}
		l := &lineWriter{w: s}
		if err := l.write([]byte("first")); err != nil {
			t.Fatal(err)
		}
		l.pending = append(bytes.Repeat([]byte("x"), maxPending-10), '\n') // the state that as many earlier lines would leave
		if err := l.write([]byte("fits in")); err != nil {
			t.Errorf("a line that the limit allows: %v", err)
		}
		if err := l.write([]byte("too much")); !errors.Is(err, ErrNotReading) {
			t.Errorf("a line over the limit gives %v, want ErrNotReading", err)
		}
		close(s.freed)
		synctest.Wait()
		if err := l.write([]byte("last")); err != nil {
			t.Errorf("refused after the reader has caught up: %v", err)
		}
		if got := s.got.String(); !strings.HasPrefix(got, "first\nx") || !strings.HasSuffix(got, "x\nfits in\nlast\n") {
			t.Errorf("arrived %.20q … %.20q", got, got[max(0, len(got)-20):])
		}
	})
}

func TestLineWriterBrokenPipe(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	l := &lineWriter{w: w}
	if err := r.CloseWithError(io.ErrClosedPipe); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := l.write([]byte("x")); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("write to a closed pipe: %v", err)
		}
	}
}

// A write error that hits one goroutine is reported to later callers too.
func TestLineWriterBreaksWhileOthersWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		l := &lineWriter{w: w}
		first := make(chan error, 1)
		go func() { first <- l.write([]byte("first")) }()
		synctest.Wait() // it is writing, and nobody reads
		if err := l.write([]byte("second")); err != nil {
			t.Fatalf("a line that waits for its turn: %v", err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if err := <-first; err == nil {
			t.Error("the write that broke reports no error")
		}
		if err := l.write([]byte("third")); err == nil {
			t.Error("a write after the break reports no error")
		}
	})
}
