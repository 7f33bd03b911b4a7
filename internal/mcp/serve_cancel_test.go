package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"collie/internal/mcp"
)

// holdingService is a Service whose method hold ends only after it was cancelled and the test allows it.
type holdingService struct {
	sizedService
	running atomic.Int32
	held    chan struct{} // gets a value for each hold that has begun
	release chan struct{} // closed when the calls of hold may end
}

func (h *holdingService) Handle(ctx context.Context, in *mcp.Incoming) (json.RawMessage, error) {
	if in.Method != "hold" {
		return json.RawMessage(`{"quick":true}`), nil
	}
	h.running.Add(1)
	defer h.running.Add(-1)
	h.held <- struct{}{}
	<-ctx.Done()
	<-h.release
	return nil, context.Cause(ctx)
}

// A cancellation sent right after its request takes effect: on a stream, messages are handled in order.
func TestServeStreamCancelRightAway(t *testing.T) {
	t.Parallel()
	for era, params := range map[string]string{"legacy": "{}", "modern": "{" + modernMeta("{}") + "}"} {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				const count = 500
				in, client := io.Pipe()
				answers := &lockedBuffer{}
				svc := &holdingService{held: make(chan struct{}, count), release: make(chan struct{})}
				close(svc.release)
				ended := make(chan error, 1)
				go func() { ended <- mcp.ServeStream(t.Context(), mcp.NewLines(in, answers, 0, in.Close), svc, nil) }()
				var text strings.Builder
				if era == "legacy" {
					text.WriteString(initializeMessage + "\n")
				}
				for n := range count {
					fmt.Fprintf(&text, `{"jsonrpc":"2.0","id":%d,"method":"hold","params":%s}`+"\n", n+1, params)
					fmt.Fprintf(&text, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`+"\n", n+1)
				}
				if _, err := io.WriteString(client, text.String()); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				if n := svc.running.Load(); n != 0 {
					t.Errorf("%d of %d requests run on though they were taken back", n, count)
				}
				_ = client.Close()
				if err := <-ended; err != nil {
					t.Error(err)
				}
				if strings.Contains(answers.String(), `"error"`) {
					t.Errorf("a request taken back was answered: %.300s", answers.String())
				}
			})
		})
	}
}

// After a cancellation the client may use the id again, even while the old request is still ending.
func TestServeCancelFreesTheID(t *testing.T) {
	t.Parallel()
	const quick = `{"jsonrpc":"2.0","id":7,"result":{"quick":true}}`
	service := func() *holdingService {
		return &holdingService{held: make(chan struct{}, 1), release: make(chan struct{})}
	}
	t.Run("stream", func(t *testing.T) {
		t.Parallel()
		svc := service()
		in, client := io.Pipe()
		answers, out := io.Pipe()
		ended := make(chan error, 1)
		go func() { ended <- mcp.ServeStream(t.Context(), mcp.NewLines(in, out, 0, in.Close), svc, nil) }()
		far := mcp.NewLines(answers, client, 0, client.Close)
		say := func(line string) {
			if err := far.Write([]byte(line)); err != nil {
				t.Error(err)
			}
		}
		next := func() string {
			m, err := far.Read()
			if err != nil {
				t.Error(err)
			}
			return string(m.Raw)
		}
		say(initializeMessage)
		next()
		say(rpcRequest(7, "hold", "{}"))
		<-svc.held
		say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
		for range 2 { // in the second round the id is free because the first request was answered
			say(rpcRequest(7, "quick", "{}"))
			if got := next(); got != quick {
				t.Errorf("answered with %s", got)
			}
		}
		close(svc.release)
		_ = client.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	t.Run("http", func(t *testing.T) {
		t.Parallel()
		svc := service()
		h := mcp.NewHTTPServer(svc, nil)
		web := httptest.NewServer(h)
		s := &httpFixture{t: t, server: h, url: web.URL, client: &http.Client{Transport: &http.Transport{}}}
		t.Cleanup(func() {
			s.client.CloseIdleConnections()
			web.Close()
			_ = h.Close()
		})
		id := s.openSession("2025-11-25")
		over := make(chan struct{})
		go func() {
			defer close(over)
			_, _ = io.Copy(io.Discard, s.send(t.Context(), "POST", rpcRequest(7, "hold", "{}"), "Mcp-Session-Id", id).Body)
		}()
		<-svc.held
		s.exchange("POST", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`, "Mcp-Session-Id", id)
		for range 2 {
			if r := s.exchange("POST", rpcRequest(7, "quick", "{}"), "Mcp-Session-Id", id); r.body != quick {
				t.Errorf("answered with %d %s", r.status, r.body)
			}
		}
		close(svc.release)
		<-over
	})
}

// A request that is cancelled in its own batch is neither executed nor answered.
func TestServeHTTPBatchCancelsItself(t *testing.T) {
	t.Parallel()
	svc := &holdingService{held: make(chan struct{}, 100), release: make(chan struct{})}
	close(svc.release)
	h := mcp.NewHTTPServer(svc, nil)
	web := httptest.NewServer(h)
	s := &httpFixture{t: t, server: h, url: web.URL, client: &http.Client{Transport: &http.Transport{}}}
	t.Cleanup(func() {
		s.client.CloseIdleConnections()
		web.Close()
		_ = h.Close()
	})
	id := s.openSession("2025-03-26")
	batch := make([]string, 0, 201)
	for n := range 100 {
		batch = append(batch, rpcRequest(n+1, "hold", "{}"), fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, n+1))
	}
	batch = append(batch, rpcRequest(101, "quick", "{}"))
	r := s.exchange("POST", "["+strings.Join(batch, ",")+"]", "Mcp-Session-Id", id)
	if r.body != `[{"jsonrpc":"2.0","id":101,"result":{"quick":true}}]` {
		t.Errorf("answered with %d %s", r.status, r.body)
	}
}
