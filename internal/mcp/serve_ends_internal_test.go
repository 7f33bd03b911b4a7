package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"collie/test/await"
)

// endingService is a Service. Its method wait waits until its context ends; its method end ends that context. Any
// other method is answered at once.
type endingService struct {
	ended chan error // receives the cause why a wait ended
}

var errEnding = errors.New("ended by the service")

func (*endingService) Hello(context.Context, *Peer) Hello {
	return Hello{Info: json.RawMessage("{}"), Capabilities: json.RawMessage("{}")}
}

func (e *endingService) Handle(ctx context.Context, in *Incoming) (json.RawMessage, error) {
	switch in.Method {
	case "wait":
		<-ctx.Done()
		e.ended <- context.Cause(ctx)
		return nil, context.Cause(ctx)
	case "end":
		in.Cancel(errEnding)
		return nil, context.Cause(ctx)
	}
	return json.RawMessage("{}"), nil
}
func (*endingService) Notified(*Peer, Message) {}
func (*endingService) Opened(*Peer)            {}
func (*endingService) Closed(*Peer)            {}

// localServer is an HTTPServer with an ending, used without a network.
type localServer struct {
	*HTTPServer
	svc     *endingService
	session string
}

// newLocalServer opens a session of the given version; the caller closes the front.
func newLocalServer(version string) *localServer {
	svc := &endingService{ended: make(chan error, 1)}
	f := &localServer{HTTPServer: NewHTTPServer(svc, nil), svc: svc}
	hello := `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"` + version + `"}}`
	f.session = f.post(context.Background(), hello).Header().Get(headerSession)
	return f
}

// post sends one message, in the opened session if there is one. A body with modern metadata gets the headers of its
// era, for the method end.
func (f *localServer) post(ctx context.Context, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/mcp", strings.NewReader(body))
	r.Header["Content-Type"], r.Header["Accept"] = []string{"application/json"}, []string{"application/json, text/event-stream"}
	if f.session != "" {
		r.Header[headerSession] = []string{f.session}
	}
	if strings.Contains(body, MetaVersion) {
		r.Header[headerVersion], r.Header[headerMethod] = []string{ModernVersions[0]}, []string{"end"}
	}
	w := httptest.NewRecorder()
	f.ServeHTTP(w, r)
	return w
}

// A request whose connection was closed ends soon, but late enough for the client's own cancellation to
// arrive first. If the client can come back for the answer, the request goes on.
func TestLegacyRequestEndsWithItsConnection(t *testing.T) {
	t.Parallel()
	const never = time.Hour
	for _, tt := range []struct {
		version       string
		closed, least time.Duration
		most          time.Duration // how long the request may go on; never if it must not end
	}{
		{version: version20250326, least: cancelGrace, most: becomesStream + cancelGrace},
		{version: version20250326, closed: 30 * time.Millisecond, least: cancelGrace, most: becomesStream + cancelGrace},
		{version: version20250326, closed: time.Second, least: cancelGrace, most: cancelGrace},
		{version: version20251125, least: cancelGrace, most: becomesStream + cancelGrace},
		{version: version20251125, closed: 49 * time.Millisecond, least: cancelGrace, most: becomesStream + cancelGrace},
		{version: version20251125, closed: time.Second, most: never},
	} {
		t.Run(fmt.Sprint(tt.version, " after ", tt.closed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newLocalServer(tt.version)
				connected, hangUp := context.WithCancel(t.Context())
				time.AfterFunc(tt.closed, hangUp)
				answered := make(chan struct{})
				go func() {
					defer close(answered)
					f.post(connected, `{"jsonrpc":"2.0","id":1,"method":"wait"}`)
				}()
				<-connected.Done()
				begun := time.Now()
				select {
				case err := <-f.svc.ended:
					if took := time.Since(begun); took < tt.least || took > tt.most || !errors.Is(err, context.Canceled) {
						t.Errorf("ended after %v with %v, want %v to %v", took, err, tt.least, tt.most)
					}
				case <-time.After(never):
					if tt.most != never {
						t.Errorf("it goes on")
					}
				}
				_ = f.Close()
				<-answered
			})
		})
	}
}

// The timer for slow requests does not fire for requests that are already answered.
func TestQuickRequestsWaitInNoLine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newLocalServer(version20251125)
		defer f.Close()
		begun := time.Now()
		for n := range 40 {
			f.post(t.Context(), fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"quick"}`, n+1))
			await.Sleep(time.Millisecond)
		}
		await.Sleep(becomesStream - time.Since(begun))
		synctest.Wait()
		f.slowExchanges.mu.Lock()
		defer f.slowExchanges.mu.Unlock()
		if n := len(f.slowExchanges.line); n != 0 {
			t.Errorf("%d answered requests wait once the first has been looked at", n)
		}
	})
}

// A Service can end the context of each single request with its own reason, without affecting others.
func TestServiceEndsARequest(t *testing.T) {
	t.Parallel()
	const caps, asks = `"` + MetaCapabilities + `":{}}}`, `"` + MetaCapabilities + `":{"roots":{}}}}`
	const modern = `{"_meta":{"` + MetaVersion + `":"2026-07-28",`
	for name, params := range map[string]string{"legacy": "{}", "modern": modern + caps, "modern, can be asked": modern + asks} {
		body := `{"jsonrpc":"2.0","id":1,"method":"end","params":` + params + `}`
		t.Run(name+", HTTP", func(t *testing.T) {
			t.Parallel()
			f := newLocalServer(version20251125)
			defer f.Close()
			ctx := t.Context()
			if got := f.post(ctx, body).Body.String(); !strings.Contains(got, errEnding.Error()) || ctx.Err() != nil {
				t.Errorf("answered %s; the connection's context: %v", got, ctx.Err())
			}
		})
		t.Run(name+", stream", func(t *testing.T) {
			t.Parallel()
			in, client := io.Pipe()
			answers, out := io.Pipe()
			ended := make(chan error, 1)
			go func() {
				ended <- ServeStream(t.Context(), NewLines(in, out, 0, in.Close), &endingService{}, nil)
				_ = out.Close()
			}()
			lines := bufio.NewReader(answers)
			for _, say := range []string{`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`, body} {
				if _, err := io.WriteString(client, say+"\n"); err != nil {
					t.Fatal(err)
				}
				got, err := lines.ReadString('\n')
				if err != nil || say == body && !strings.Contains(got, errEnding.Error()) {
					t.Errorf("answered %s, %v", got, err)
				}
			}
			_ = client.Close()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
}

// discardingWriter is a ResponseWriter that discards everything.
type discardingWriter struct{ header http.Header }

func (q discardingWriter) Header() http.Header       { return q.header }
func (discardingWriter) Write(p []byte) (int, error) { return len(p), nil }
func (discardingWriter) WriteHeader(int)             {}

// repeatableBody is a body that can be read any number of times.
type repeatableBody struct {
	bytes.Reader
	text []byte
}

func (r *repeatableBody) Read(p []byte) (int, error) {
	if r.Len() == 0 {
		r.Reset(r.text)
	}
	return r.Reader.Read(p)
}
func (*repeatableBody) Close() error { return nil }

// TestRequestAllocatesLittle limits the allocations of a request besides those of its Service: for the body, the context and the
// bookkeeping. Each additional context or watch costs five to ten allocations, which is much of the time of a local call.
//
// Not parallel: it counts allocations.
func TestRequestAllocatesLittle(t *testing.T) {
	f := newLocalServer(version20251125)
	defer f.Close()
	body := []byte(`{"jsonrpc":"2.0","id":1,"method":"quick","params":{}}`)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/mcp", &repeatableBody{text: body})
	r.ContentLength = int64(len(body))
	r.Header["Content-Type"], r.Header[headerSession] = []string{"application/json"}, []string{f.session}
	w := discardingWriter{http.Header{}}
	if n := testing.AllocsPerRun(200, func() { f.ServeHTTP(w, r) }); n > 11 {
		t.Errorf("a request allocates %v times, want at most 11", n)
	}
}
