package mcp

import (
	"net/http"
	"slices"
	"time"
)

// slowWriter writes an HTTP answer to a client that may read slowly, but has to read something
// within a time: a write that takes longer fails with [os.ErrDeadlineExceeded].
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
	_ = s.c.SetWriteDeadline(time.Now().Add(s.stall)) // a connection without deadlines is waited for
}

func (s *slowWriter) write(b []byte) error {
	for part := range slices.Chunk(b, piece) {
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

// done lets the connection serve again, unless a write has failed.
func (s *slowWriter) done() {
	if s.err == nil {
		_ = s.c.SetWriteDeadline(time.Time{})
	}
}
