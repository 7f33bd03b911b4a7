package mcp

import (
	"net/http"
	"slices"
	"sync"
	"time"
)

// This file bounds how long a client over HTTP may take to read.

// slowWriter writes an HTTP answer to a client that may read slowly, but has to read something within stall:
// a write that takes longer fails with [os.ErrDeadlineExceeded].
type slowWriter struct {
	w     http.ResponseWriter
	c     *http.ResponseController
	stall time.Duration
	err   error
}

func newSlowWriter(w http.ResponseWriter, stall time.Duration) *slowWriter {
	return &slowWriter{w: w, c: http.NewResponseController(w), stall: stall}
}

func (s *slowWriter) wait() {
	_ = s.c.SetWriteDeadline(time.Now().Add(s.stall)) // without deadlines, a write may wait without limit
}

func (s *slowWriter) write(b []byte) error {
	for part := range slices.Chunk(b, writeSize) {
		s.wait()
		if _, s.err = s.w.Write(part); s.err != nil {
			return s.err
		}
	}
	return nil
}

func (s *slowWriter) flush() error {
	s.wait()
	s.err = s.c.Flush()
	return s.err
}

// done resets the deadline so that the connection can be reused, unless a write has failed.
func (s *slowWriter) done() {
	if s.err == nil {
		_ = s.c.SetWriteDeadline(time.Time{})
	}
}

// slowExchanges calls [exchange.becomeStream] for exchanges that take longer than becomesStream. All wait equally long,
// so they form a queue with a single timer: a timer per exchange would wake the network poller with every request.
type slowExchanges struct {
	mu     sync.Mutex
	line   []waitingExchange
	timer  *time.Timer
	closed bool
}

type waitingExchange struct {
	ex *exchange
	at time.Time
}

// add queues an exchange. One that is over when its time comes is skipped.
func (s *slowExchanges) add(ex *exchange) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.line = append(s.line, waitingExchange{ex, time.Now().Add(becomesStream)})
	switch {
	case s.timer == nil:
		s.timer = time.AfterFunc(becomesStream, s.handleDue)
	case len(s.line) == 1:
		s.timer.Reset(becomesStream)
	}
}

// handleDue handles the exchanges whose time has come, and removes those behind them that are already answered. If
// the timer were set for those, it would fire once for each of a series of quick requests.
func (s *slowExchanges) handleDue() {
	now := time.Now()
	s.mu.Lock()
	n := 0
	for n < len(s.line) && !s.line[n].at.After(now) {
		n++
	}
	ripe := s.line[:n:n]
	s.line = s.line[n:]
	for len(s.line) > 0 && s.line[0].ex.isAnswered() {
		s.line = s.line[1:]
	}
	if len(s.line) > 0 && !s.closed {
		s.timer.Reset(s.line[0].at.Sub(now))
	} else {
		s.line = nil
	}
	s.mu.Unlock()
	for _, w := range ripe {
		w.ex.becomeStream()
	}
}

func (s *slowExchanges) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed, s.line = true, nil
	if s.timer != nil {
		s.timer.Stop()
	}
}
