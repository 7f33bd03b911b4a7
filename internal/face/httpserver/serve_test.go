package httpserver_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"collie/internal/face/httpserver"
	"collie/internal/tool"
	"collie/test/await"
)

// soon is an upper bound for steps that normally take milliseconds.
const soon = await.Limit

// receiveInTime returns the next value of c, and fails the test if none comes soon.
func receiveInTime[T any](t *testing.T, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(soon):
		t.Fatalf("%s did not happen", what)
		panic("unreachable")
	}
}

// stage is a server that a test starts and stops step by step.
type stage struct {
	*httpserver.Server
	client *http.Client
	done   chan error
	cancel context.CancelFunc
}

// newStage starts a server whose requests h answers, and which waits for them for grace when it stops.
func newStage(t *testing.T, grace time.Duration, h http.HandlerFunc) *stage {
	t.Helper()
	d, err := httpserver.Open(t.Context(), httpserver.Options{Addr: "127.0.0.1:0", NoAuth: true, Grace: grace})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	transport := &http.Transport{}
	s := &stage{Server: d, client: &http.Client{Transport: transport}, done: make(chan error, 1), cancel: cancel}
	go func() { s.done <- d.Serve(ctx, h) }()
	t.Cleanup(func() {
		cancel()
		d.Close()
		transport.CloseIdleConnections()
	})
	return s
}

// send starts a request. The channel delivers the body of the answer, or the text of the error.
func (s *stage) send(t *testing.T, method, path, accept string) <-chan string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.URL()+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", accept)
	c := make(chan string, 1)
	go func() {
		resp, err := s.client.Do(r)
		if err != nil {
			c <- "error: " + err.Error()
			return
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			body = append(body, (" error: " + err.Error())...)
		}
		c <- string(body)
	}()
	return c
}

func TestGracefulStop(t *testing.T) {
	t.Parallel()
	arrived, release := make(chan string, 3), make(chan struct{})
	var stopping <-chan struct{}
	ready := make(chan struct{})
	s := newStage(t, soon, func(w http.ResponseWriter, r *http.Request) {
		<-ready
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		arrived <- r.URL.Path
		switch r.URL.Path {
		case "/slow":
			select {
			case <-release:
				_, _ = io.WriteString(w, "finished")
			case <-r.Context().Done():
				_, _ = io.WriteString(w, "cut")
			}
		case "/stream":
			<-r.Context().Done()
			_, _ = io.WriteString(w, "told by context")
		case "/listen":
			<-stopping
			_, _ = io.WriteString(w, "told by channel")
		}
	})
	stopping = s.Stopping()
	close(ready)
	slow := s.send(t, "POST", "/slow", "application/json, text/event-stream")
	stream := s.send(t, "GET", "/stream", "text/event-stream")
	listen := s.send(t, "POST", "/listen", "application/json, text/event-stream")
	for range 3 {
		receiveInTime(t, "arrival", arrived)
	}
	idle, err := net.Dial("tcp", s.Addr().String()) // browsers open such a connection in advance
	if err != nil {
		t.Fatal(err)
	}
	defer idle.Close()

	s.cancel()
	if got := receiveInTime(t, "the end of the stream", stream); got != "told by context" {
		t.Errorf("stream: %q", got)
	}
	if got := receiveInTime(t, "the end of the POST stream", listen); got != "told by channel" {
		t.Errorf("listen: %q", got)
	}
	select {
	case err := <-s.done:
		t.Fatalf("Serve returned %v while a request was in flight", err)
	default:
	}
	if c, err := net.DialTimeout("tcp", s.Addr().String(), soon); err == nil {
		c.Close()
		t.Error("a new connection was accepted after the stop")
	}
	// net/http alone would keep it for five seconds.
	_ = idle.SetReadDeadline(time.Now().Add(4 * time.Second))
	if _, err := idle.Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("a connection that said nothing was kept")
	}
	close(release)
	if got := receiveInTime(t, "the slow answer", slow); got != "finished" {
		t.Errorf("slow: %q", got)
	}
	if err := receiveInTime(t, "the return of Serve", s.done); err != nil {
		t.Errorf("Serve: %v", err)
	}
}

func TestStopCutsWhatDoesNotEnd(t *testing.T) {
	t.Parallel()
	arrived := make(chan struct{})
	ended := make(chan struct{})
	s := newStage(t, time.Millisecond, func(_ http.ResponseWriter, r *http.Request) {
		close(arrived)
		<-r.Context().Done()
		close(ended)
	})
	s.send(t, "POST", "/", "")
	receiveInTime(t, "arrival", arrived)
	s.cancel()
	if err := receiveInTime(t, "the return of Serve", s.done); tool.KindOf(err) != tool.Timeout {
		t.Errorf("Serve: %v", err)
	}
	receiveInTime(t, "the end of the handler", ended)
}

func TestCloseHurriesAStop(t *testing.T) {
	t.Parallel()
	arrived := make(chan struct{})
	s := newStage(t, time.Hour, func(_ http.ResponseWriter, r *http.Request) {
		close(arrived)
		<-r.Context().Done()
	})
	s.send(t, "POST", "/", "")
	receiveInTime(t, "arrival", arrived)
	s.cancel() // with a grace time of an hour
	receiveInTime(t, "the stop", s.Stopping())
	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if err := receiveInTime(t, "the return of Serve", s.done); tool.KindOf(err) != tool.Timeout {
		t.Errorf("Serve: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
}

func TestCloseWithoutServe(t *testing.T) {
	t.Parallel()
	d, err := httpserver.Open(t.Context(), httpserver.Options{Addr: "127.0.0.1:0", NoAuth: true})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := d.Serve(t.Context(), http.NotFoundHandler()); err == nil {
		t.Error("a closed server serves")
	}
	if c, err := net.Dial("tcp", d.Addr().String()); err == nil {
		c.Close()
		t.Error("a closed server accepts")
	}
}

func TestPanicEndsOneConnection(t *testing.T) {
	t.Parallel()
	s := startServer(t, httpserver.Options{}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/bad" {
			_, _ = io.WriteString(w, "half an ans")
			panic("boom")
		}
	}))
	r, err := http.NewRequestWithContext(t.Context(), "GET", s.URL()+"/bad", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+secret)
	if resp, err := s.client.Do(r); err == nil {
		resp.Body.Close()
		t.Error("a panicking handler answered")
	}
	if log := s.log.String(); !strings.Contains(log, "boom") || !strings.Contains(log, "level=ERROR") {
		t.Errorf("log: %s", log)
	}
	if a := s.do(t, "GET", "/good", nil); a.status != 200 {
		t.Errorf("after it: status %d", a.status)
	}
}
