package mcp

import (
	"sync"
	"time"
)

// slowly makes streams of answers that take longer than becomesStream. All exchanges wait
// the same time, so they stand in line and one timer serves them: a timer for each would
// wake the network poller with every request.
type slowly struct {
	mu     sync.Mutex
	line   []waiting
	timer  *time.Timer
	closed bool
}

type waiting struct {
	ex *exchange
	at time.Time
}

// add lets ex become a stream when its time has come. An exchange that is over by then is
// left alone.
func (s *slowly) add(ex *exchange) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.line = append(s.line, waiting{ex, time.Now().Add(becomesStream)})
	switch {
	case s.timer == nil:
		s.timer = time.AfterFunc(becomesStream, s.due)
	case len(s.line) == 1:
		s.timer.Reset(becomesStream)
	}
}

// due begins the streams whose time has come.
func (s *slowly) due() {
	now := time.Now()
	s.mu.Lock()
	n := 0
	for n < len(s.line) && !s.line[n].at.After(now) {
		n++
	}
	ripe := s.line[:n:n]
	s.line = s.line[n:]
	if len(s.line) > 0 && !s.closed {
		s.timer.Reset(s.line[0].at.Sub(now))
	} else {
		s.line = nil
	}
	s.mu.Unlock()
	for _, w := range ripe {
		w.ex.begin()
	}
}

func (s *slowly) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed, s.line = true, nil
	if s.timer != nil {
		s.timer.Stop()
	}
}
