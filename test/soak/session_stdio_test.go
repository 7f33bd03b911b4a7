//go:build unix

package soak_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"

	"github.com/tidwall/gjson"

	"collie/test/gateway"
)

// stdioSession is a session over the pipes of a `collie stdio`, which is a bridge to the gateway.
type stdioSession struct {
	run *gateway.Process
	era string

	mu      sync.Mutex
	last    int64 // id of the last request
	waiting map[int64]chan []byte
	heard   func(string, gjson.Result)
	ended   error         // set before gone is closed
	gone    chan struct{} // closed when the process has ended
}

// startStdio starts `collie stdio` and initializes a session.
func startStdio(t *testing.T, p gateway.Programs, home, settings, era string) *stdioSession {
	t.Helper()
	s := &stdioSession{
		run: p.StartStdio(t, home, settings), era: era, waiting: map[int64]chan []byte{},
		heard: func(string, gjson.Result) {}, gone: make(chan struct{}),
	}
	go s.read() // ends with the process
	if era == modern {
		return s
	}
	ctx, cancel := context.WithTimeout(t.Context(), callLimit)
	defer cancel()
	if a, err := s.do(ctx, "initialize", initializeParams); err != nil || a.failed() {
		t.Fatalf("initialize over stdio: %v %v", a, err)
	}
	if err := s.write(frame(era, 0, "notifications/initialized", "")); err != nil {
		t.Fatal(err)
	}
	return s
}

// read passes answers to the requests that wait for them, and notifications to heard.
func (s *stdioSession) read() {
	r := bufio.NewReader(s.run.Stdout)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			s.mu.Lock()
			s.ended = err
			s.mu.Unlock()
			close(s.gone)
			return
		}
		m := gjson.ParseBytes(line)
		s.mu.Lock()
		if m.Get("method").Exists() {
			s.heard(m.Get("method").Str, m.Get("params"))
		} else if waits := s.waiting[m.Get("id").Int()]; waits != nil {
			waits <- line
			delete(s.waiting, m.Get("id").Int())
		}
		s.mu.Unlock()
	}
}

// do implements [session].
func (s *stdioSession) do(ctx context.Context, method, params string) (answer, error) {
	waits := make(chan []byte, 1)
	s.mu.Lock()
	s.last++
	id := s.last
	s.waiting[id] = waits
	s.mu.Unlock()
	if err := s.write(frame(s.era, id, method, params)); err != nil {
		return answer{}, err
	}
	select {
	case msg := <-waits:
		return parseAnswer(msg, id)
	case <-s.gone:
		return answer{}, fmt.Errorf("collie stdio ended: %w", s.ended)
	case <-ctx.Done():
		s.mu.Lock()
		delete(s.waiting, id)
		s.mu.Unlock()
		return answer{}, errors.Join(ctx.Err(), s.write(frame(s.era, 0, "notifications/cancelled", fmt.Sprintf(`"requestId":%d`, id))))
	}
}

func (s *stdioSession) write(msg string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := io.WriteString(s.run.Stdin, msg+"\n")
	return err
}

// listen implements [session].
func (s *stdioSession) listen(ctx context.Context, uris []string, heard func(string, gjson.Result)) error {
	s.mu.Lock()
	s.heard = heard
	s.mu.Unlock()
	failed := make(chan error, 1)
	if s.era == modern {
		go func() { // ends with ctx
			a, err := s.do(ctx, "subscriptions/listen", listenParams(uris))
			failed <- fmt.Errorf("the gateway ended the subscription: %v %w", a, err)
		}()
	} else if err := subscribe(ctx, s, uris); err != nil {
		return err
	}
	heard("", gjson.Result{})
	select {
	case err := <-failed:
		return err
	case <-s.gone:
		return fmt.Errorf("collie stdio ended: %w", s.ended)
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *stdioSession) close() { _ = s.run.Stdin.Close() }
