package httpstore

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/tmaxmax/go-sse"

	"collie/internal/tool"
)

// Pauses between two attempts to reach a peer that has gone away.
const (
	firstPause = 250 * time.Millisecond
	lastPause  = 5 * time.Second
)

// answerLag is how long an event waits for the answer of a commit that may have caused it.
const answerLag = time.Second

// Watch listens to the events of the peer and is silent about commits of this Store. It
// returns an error if the peer cannot be reached at first or refuses; one that goes away later
// is waited for, and what it did meanwhile is told.
func (s *Store) Watch(ctx context.Context, f func()) error {
	const op = "watch shared tool cache"
	ctx, leave, err := s.enter(ctx, op)
	if err != nil {
		return err
	}
	defer leave()
	told, before, pause := s.seen.Load(), false, firstPause
	for {
		start := time.Now()
		heard, err := s.listen(ctx, op, func(generation uint64) {
			if generation != told && !s.own.Covers(ctx, told, generation, answerLag) {
				f()
			}
			told = generation
		})
		switch cause := context.Cause(ctx); {
		case errors.Is(cause, os.ErrClosed):
			return closedError(op)
		case cause != nil:
			return cause
		case !before && !heard, tool.KindOf(err) == tool.Denied:
			return err
		case heard && time.Since(start) > lastPause:
			pause = firstPause
		case before:
			pause = min(2*pause, lastPause)
		}
		before = true
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// listen reads one event stream to its end and says why it ended; heard means that there was
// at least one event.
func (s *Store) listen(ctx context.Context, op string, tell func(generation uint64)) (heard bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	silence := time.AfterFunc(s.idle, cancel)
	defer silence.Stop()
	req, err := s.request(ctx, request{op: op, method: http.MethodGet, below: "/events", header: http.Header{"Accept": {"text/event-stream"}}})
	if err != nil {
		return false, s.unreachable(ctx, op, err)
	}
	req.Header.Set("Accept-Encoding", "identity")
	resp, err := s.client.Do(req)
	if err != nil {
		return false, s.unreachable(ctx, op, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return false, s.refused(op, resp)
	}
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind != "text/event-stream" {
		return false, s.nonsense(op, "no events but "+strconv.Quote(plain(kind)), nil)
	}
	for event, err := range sse.Read(alive{resp.Body, silence, s.idle}, nil) {
		if err != nil {
			return heard, s.unreachable(ctx, op, err)
		}
		if event.Type != "generation" {
			continue
		}
		generation, err := strconv.ParseUint(event.Data, 10, 64)
		if err != nil {
			return heard, s.nonsense(op, "an event that is no generation", nil)
		}
		heard = true
		tell(generation)
		silence.Reset(s.idle) // f may have taken its time
	}
	return heard, s.unreachable(ctx, op, io.ErrUnexpectedEOF)
}

// alive puts off a timer with every byte that comes in.
type alive struct {
	io.Reader
	timer *time.Timer
	after time.Duration
}

func (a alive) Read(p []byte) (int, error) {
	n, err := a.Reader.Read(p)
	if n > 0 {
		a.timer.Reset(a.after)
	}
	return n, err
}
